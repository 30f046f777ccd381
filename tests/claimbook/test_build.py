"""The strict build's words: when it is done, why it failed, and when a chapter was run again."""

import re
import sys

import pytest

from claimbook import build


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A jupyter-book that writes what a test says and ends with the status it says."""
    monkeypatch.setattr(build, "LOG", tmp_path / "build.log")
    monkeypatch.setattr(build, "BUILT", tmp_path / "_build" / "built")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    def write(text, status=0):
        path = tmp_path / "jupyter-book"
        path.write_text(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n")
        path.chmod(0o755)

    return write


def test_a_build_says_that_it_is_done(program, capsys):
    program("reading sources...")
    assert build.main([]) == 0
    out = capsys.readouterr().out
    said = r"build: begun; its story goes to build\.log …\nbuild: done in \d+ s\n"
    assert re.fullmatch(said, out), out
    assert build.LOG.read_text() == "reading sources..."


def test_a_failed_build_shows_its_warnings_and_where_the_rest_is(program, capsys):
    program("reading\\nintro.md:3: WARNING: no such page\\n", status=1)
    assert build.main([]) == 1
    out = capsys.readouterr().out
    assert "intro.md:3: WARNING: no such page" in out
    assert "reading\n" not in out
    assert "The whole story is in build.log." in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@article{one, title = {A}\n@article{two, title = {B}}\n", "syntax error in line 2"),
        (
            "@article{one, title={A}}\n@article{one, title={B}}\n",
            "repeated bibliography entry: one",
        ),
    ],
)
def test_a_broken_bibliography_is_named_before_anything_is_built(
    program, capsys, tmp_path, text, words
):
    program("reading\n")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "references.bib").write_text(text)
    assert build.main([]) == 1
    assert capsys.readouterr().out.startswith(f"book/references.bib: {words}")
    assert not (tmp_path / "build.log").exists()


@pytest.mark.parametrize("name", ["_config.yml", "_toc.yml"])
def test_a_broken_file_of_settings_is_named_before_anything_is_built(
    program, capsys, tmp_path, name
):
    program("reading\n")
    (tmp_path / name).write_text("format: 'jb-book\n")
    assert build.main([]) == 1
    assert capsys.readouterr().out.startswith(f"{name}, line 2: found unexpected end of stream")
    assert not (tmp_path / "build.log").exists()


def test_a_checked_build_may_not_run_a_chapter(program, capsys):
    program("Executing notebook using cache\\n")
    assert build.main([]) == 0
    assert build.main(["--checked"]) == 1
    assert "The build ran a chapter again" in capsys.readouterr().out


def test_an_unknown_option_is_refused():
    with pytest.raises(SystemExit):
        build.main(["--everything"])


@pytest.mark.parametrize("place", ["book/intro.md", "_toc.yml", "_build/html/index.html"])
def test_a_site_is_current_until_something_that_it_is_made_of_changes(program, tmp_path, place):
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("before")
    program("done\n")
    assert build.main(["--current"]) == 1  # nothing was built yet
    assert build.main([]) == 0
    assert build.main(["--current"]) == 0
    path.write_text("after, longer")
    assert build.main(["--current"]) == 1
    path.unlink()
    assert build.main(["--current"]) == 1


def test_a_build_that_fails_leaves_no_site_that_is_current(program):
    program("done\n")
    assert build.main([]) == 0
    program("WARNING: broken\n", status=1)
    assert build.main([]) == 1
    assert build.main(["--current"]) == 1
