"""The strict build: when there is nothing to do, when it is done, why it failed."""

import re
import sys

import pytest

from claimbook import build


@pytest.fixture
def root(tmp_path):
    for name in ("_config.yml", "_toc.yml", "CITATION.cff", "LICENSE", "book/intro.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a: 1\n")
    return tmp_path


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Make a jupyter-book that writes what a test says and ends with the status it says."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    def write(text, status=0):
        path = tmp_path / "jupyter-book"
        path.write_text(f"#!/bin/sh\nmkdir -p _build/html\nprintf '{text}'\nexit {status}\n")
        path.chmod(0o755)

    return write


def test_a_build_says_that_it_is_done_or_its_warnings_and_leaves_no_site(program, root, capsys):
    program("done\n")
    assert build.main([], root) == 0
    lines = r"build started; log: _build/reports/build\.log\nbuild done in \d+ s\n"
    assert re.fullmatch(lines, capsys.readouterr().out)
    (root / "book/intro.md").write_text("b: 1\n")
    program("reading\\nintro.md:3: WARNING: no such page\\n", status=1)
    assert build.main([], root) == 1
    out = capsys.readouterr().out
    assert "log\nintro.md:3: WARNING: no such page\nbuild failed; full log: _build/reports" in out
    assert build.main(["--current"], root) == 1


@pytest.mark.parametrize("name", ["book/intro.md", "_toc.yml", "_build/runs/a.ipynb"])
def test_a_site_is_current_until_something_that_it_is_made_of_changes(program, root, name):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a: 1\n")
    program("done\n")
    assert build.main(["--current"], root) == 1  # nothing was built yet
    assert build.main([], root) == 0
    assert build.main(["--current"], root) == 0
    program("not run again", status=1)
    assert build.main([], root) == 0
    path.write_text("a: 22\n")
    assert build.main(["--current"], root) == 1
