"""What authors published is kept with its source, and read without fetching anything."""

import json
import os
import subprocess
from pathlib import Path

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
    assert all(row["path"] and (row.get("icl") or row["idg"]) for row in found["rows"])


def test_an_unknown_name_is_refused():
    with pytest.raises(KeyError, match="name must be one of"):
        published.published("nobody")


CLONES = {  # of each repository whose numbers are kept
    "https://github.com/Pehlevan-Group/icl-asymptotic": "ICL_ASYMPTOTIC",
}


@pytest.mark.parametrize("path", sorted(published.PUBLISHED.glob("*.json")), ids=lambda p: p.stem)
def test_every_number_stands_in_the_authors_repository(path):
    found = published.published(path.stem)
    variable = CLONES[found["repository"]]
    if variable not in os.environ:
        pytest.skip(f"{variable} names no clone of {found['repository']}")
    assert published.missing(found, Path(os.environ[variable])) == []


def test_a_number_that_is_not_there_is_found(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    git("init", "-q")
    (tmp_path / "error.txt").write_text("1.2345678\n2.5\n3e-2\n")
    git("add", ".")
    git("commit", "-qm", "numbers")
    right = [
        {"path": "error.txt", "icl": [1.23457, 2.5]},
        {"path": "error.txt", "icl": 0.03, "icl_sd": 2.5},
    ]
    wrong = [
        {"path": "error.txt", "icl": [2.5, 1.23457]},
        {"path": "error.txt", "icl": [1.23457, 2.5], "idg": [2.51]},
    ]
    found = {"commit": git("rev-parse", "HEAD"), "rows": right + wrong}
    assert published.missing(found, tmp_path) == [json.dumps(row) for row in wrong]
    with pytest.raises(subprocess.CalledProcessError):
        published.missing({**found, "rows": [{"path": "none.txt", "icl": 1}]}, tmp_path)
