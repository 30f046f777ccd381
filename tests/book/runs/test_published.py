"""What authors published is kept with its source, and read without fetching anything."""

import json

import pytest

from iclutils.book.runs import published


@pytest.mark.parametrize("path", sorted(published.PUBLISHED.glob("*.json")), ids=lambda p: p.stem)
def test_every_number_says_where_it_comes_from(path):
    found = published.published(path.stem)
    assert found == json.loads(path.read_text(encoding="utf8"))
    assert found["repository"].startswith("https://github.com/")
    assert len(found["commit"]) == 40
    assert found["licence"].startswith("MIT")
    assert found["settings"]
    assert all(row["path"] and row["icl"] for row in found["rows"])


def test_an_unknown_name_is_refused():
    with pytest.raises(KeyError, match="name must be one of"):
        published.published("nobody")
