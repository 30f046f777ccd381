"""The strict build's words: how far it is, why it failed, and when a chapter was run again."""

import re
import sys

import pytest

from iclutils.book import build


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A jupyter-book that writes what a test says and ends with the status it says."""
    monkeypatch.setattr(build, "LOG", tmp_path / "build.log")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    def write(text, status=0):
        path = tmp_path / "jupyter-book"
        path.write_text(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n")
        path.chmod(0o755)

    return write


def test_a_build_says_that_it_is_done(program, capsys):
    program("reading sources... [ 50%%] intro\\n")
    assert build.main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("build: the site …\n")
    assert re.search(r"build: done in \d+ s", out)


def test_a_failed_build_shows_its_warnings_and_where_the_rest_is(program, capsys):
    program("reading\\nintro.md:3: WARNING: no such page\\n", status=1)
    assert build.main([]) == 1
    out = capsys.readouterr().out
    assert "intro.md:3: WARNING: no such page" in out
    assert "reading\n" not in out
    assert "The whole story is in build.log." in out


def test_a_checked_build_may_not_run_a_chapter(program, capsys):
    program("Executing notebook using cache\\n")
    assert build.main([]) == 0
    assert build.main(["--checked"]) == 1
    assert "The build ran a chapter again" in capsys.readouterr().out


def test_the_phase_is_read_through_colours():
    line = "\x1b[01mreading sources... \x1b[39;49;00m[ 35%] \x1b[35mbook/intro\x1b[39;49;00m"
    assert build.PHASE.findall(build.COLOURS.sub("", line)) == [("reading sources", "35")]


def test_an_unknown_option_is_refused():
    with pytest.raises(SystemExit):
        build.main(["--everything"])
