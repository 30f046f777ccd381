"""Make refuses what it cannot run before it sets anything up, and says what would do."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def book(tmp_path):
    """A book with two chapters whose pytest says what it was asked; its set-up is a file."""
    folder = tmp_path / "a book"
    for name in ("01_one", "02_two"):
        (folder / "book" / "chapters").mkdir(parents=True, exist_ok=True)
        (folder / "book" / "chapters" / f"{name}.md").touch()
    for name in ("Makefile", "pyproject.toml", "requirements.in", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
        os.utime(folder / name, (0, 0))
    program(
        folder / ".venv" / "bin" / "python", 'case "$*" in *stale) ;; *) echo "asked: $*" ;; esac'
    )
    (folder / ".venv" / ".installed").write_text(str(folder / ".venv"))
    return folder


def program(path, script):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def make(where, *arguments, **environment):
    done = subprocess.run(
        ["/usr/bin/env", "make", "--no-print-directory", *arguments],
        cwd=where,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"MAKEFLAGS": "", "MAKELEVEL": ""} | environment,
    )
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()


RUNNING = ["chapter", "expected", "seeds", "portability"]


@pytest.mark.parametrize("name", ["03_three", "../intro", "01 one"])
@pytest.mark.parametrize("target", [*RUNNING, "page"])
def test_a_misspelt_chapter_is_named_at_once_and_the_right_names_are_listed(book, target, name):
    (book / ".venv" / ".installed").unlink()
    code, lines = make(book, target, f"NAME={name}")
    assert code != 0
    assert lines[0].startswith("NAME must be a page of book/chapters")
    assert f"; got '{name.split()[0].removeprefix('../')}'" in lines[0]
    assert lines[1:3] == ["01_one", "02_two"]
    assert len(lines) == 4  # nothing was set up or run


@pytest.mark.parametrize("name", ["02_two", "02_two.md", "01_one ./book/chapters/02_two", ""])
@pytest.mark.parametrize("target", RUNNING)
def test_chapters_are_named_with_or_without_their_folder_and_without_a_name_all_are_run(
    book, target, name
):
    code, lines = make(book, target, f"NAME={name}")
    if target == "chapter" and not name:
        assert code != 0
        return
    run = next(line for line in lines if "--nbval" in line).split()
    assert ("book/chapters/02_two.md" in run) == ("two" in name)
    assert ("book/chapters/01_one.md" in run) == ("one" in name)
    assert ("book/chapters" in run) == (not name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *((target, f"make {target} NAME=0") for target in ("chapter", "page", "new-chapter")),
        *(
            (f"seeds SEEDS={seeds}", f"SEEDS must be whole numbers.*{word}$")
            for seeds, word in (("x", "'x'"), ("-1", "'-1'"), ("2.5", "'2.5'"), ("", "none"))
        ),
    ],
)
def test_what_is_missing_or_no_number_is_said_at_once(book, arguments, said):
    (book / ".venv" / ".installed").unlink()
    code, lines = make(book, *arguments.split())
    assert code != 0
    assert re.search(said, lines[0])


def test_knobs_are_handed_to_the_run_and_a_page_may_be_any_of_the_book(book):
    _, lines = make(book, "chapter", "NAME=01_one", "SET=n=100 sigma=0.3")
    assert lines[-1].endswith("--set n=100 sigma=0.3")
    (book / "book" / "notation.md").touch()
    assert make(book, "page", "NAME=no")[1][1:4] == ["01_one", "02_two", "notation"]
    _, lines = make(book, "--dry-run", "page", "NAME=notation 01_one")
    assert any('-k "notation or 01_one"' in line for line in lines)


def test_without_chromium_make_test_stops_at_once_and_names_the_package(book, tmp_path):
    for name in ("bash", "sh", "make"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    code, lines = make(book, "test", PATH=str(tmp_path / "bin"))
    assert code != 0
    assert "install the package chromium" in lines[0]
    assert len(lines) == 2


def test_lint_says_what_every_tool_found_before_it_fails(book):
    tools = {"ruff", "mypy", "check-jsonschema"}
    for name in (*tools, "jupytext"):
        program(book / ".venv" / "bin" / name, f"echo {name} was here\nexit 1")
    code, lines = make(book, "lint")
    assert code != 0
    assert {f"{name} was here" for name in tools} <= set(lines)
    [last] = [line for line in lines if line.startswith("Not clean:")]
    assert all(name in last for name in tools)


def test_make_alone_lists_what_it_can_do(book):
    code, lines = make(book)
    assert code == 0
    assert {"make book", "make test", "make chapter"} <= {
        " ".join(one.split()[:2]) for one in lines
    }
