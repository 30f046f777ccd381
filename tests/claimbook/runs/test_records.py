"""Records are read as they were written: sweeps, and what authors published with its source."""

import pytest

from claimbook import read_record
from claimbook.runs import records

PUBLISHED = sorted(path.stem for path in (records.RECORDED / "authors").glob("*.json"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_number_says_where_it_comes_from(name):
    record = read_record(f"authors/{name}")
    assert record["repository"].startswith("https://github.com/")
    assert len(record["commit"]) == 40
    assert record["licence"].startswith("MIT")
    assert record["settings"]
    assert all(row["path"] and (row.get("icl") or row["idg"]) for row in record["rows"])


def test_a_record_is_read_and_noted_for_the_page_key(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "opened", set())
    (tmp_path / "squares.json").write_text('{"jobs": [{"x": 2, "y": 4}]}')
    assert read_record("squares", tmp_path)["jobs"] == [{"x": 2, "y": 4}]
    assert records.opened == {tmp_path / "squares.json"}


def test_a_missing_record_names_those_that_there_are(tmp_path):
    (tmp_path / "authors").mkdir()
    (tmp_path / "authors" / "layer.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match=r"circles\.json is missing; .* are authors/layer"):
        read_record("circles", tmp_path)


def test_a_broken_record_is_named(tmp_path):
    (tmp_path / "squares.json").write_text("{")
    with pytest.raises(ValueError, match=r"squares\.json is no JSON"):
        read_record("squares", tmp_path)
