"""Make refuses what it cannot run before it sets anything up; the set-up says what is missing."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from claimbook import install

ROOT = Path(__file__).resolve().parents[2]
DEBIAN = Path("/usr/bin/python3")
NETWORK = ("PIP_", "UV_", "SSL_")  # variables that say where packages come from
STAMP = ".venv/.installed"
ASKED = 'case "$*" in *stale) ;; *) echo "asked: $*" ;; esac'


def program(path, script):
    """Write a program, and return the PATH with it in front."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"{path.parent}:{os.environ['PATH']}"


@pytest.fixture
def book(tmp_path):
    """Make a book with two chapters whose pytest says what it was asked; its set-up is a file."""
    folder = tmp_path / "a böok"
    (folder / "book" / "chapters").mkdir(parents=True)
    for name in ("01_one", "02_two"):
        (folder / "book" / "chapters" / f"{name}.md").touch()
    for name in ("Makefile", "pyproject.toml", "requirements.in", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
        os.utime(folder / name, (0, 0))
    program(folder / ".venv" / "bin" / "python", ASKED)
    (folder / STAMP).write_text(str(folder / ".venv"))
    return folder


@pytest.fixture
def fresh(book):
    """Write the files that a set-up needs, and nothing that is set up."""
    shutil.rmtree(book / ".venv")
    for package in ("claimbook", "iclutils"):
        (book / package).mkdir()
        (book / package / "__init__.py").touch()
    shutil.copy(ROOT / "claimbook" / "install.py", book / "claimbook")
    return book


@pytest.fixture
def few_tools(tmp_path):
    """Make a PATH with nothing but what make itself needs."""
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("bash", "sh", "make", "cat", "grep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return str(folder)


def make(where, *arguments, env=os.environ, **more):
    done = subprocess.run(
        ["/usr/bin/env", "make", "--no-print-directory", *arguments],
        cwd=where,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env | {"MAKEFLAGS": "", "MAKELEVEL": ""} | more,
    )
    return done.returncode, done.stdout.strip().splitlines()


def assert_refused(said, where, *arguments, **more):
    """All that make says, but for its own last line, is what it lacks: nothing is set up or run."""
    code, lines = make(where, *arguments, **more)
    assert code != 0
    assert re.fullmatch(f"{said}\nmake: .*", "\n".join(lines))


# ------------------------------------------------------------------ what is asked for

RUNNING = ("chapter", "expected", "seeds", "portability")
MISSPELT = {"03_three": "03_three", "../intro": "intro", "01 one": "01"}
PAGES = "NAME must be a page of book/chapters.*; got '{}'. They are:\n01_one\n02_two"
WORDS = {"x": "'x'", "-1": "'-1'", "2.5": "'2.5'", "": "none"}
REFUSED = [
    *((target, "NAME=", f".*make {target} NAME=0.*") for target in ("chapter", "page")),
    ("new-chapter", "NAME=", ".*make new-chapter NAME=0.*"),
    *(("seeds", f"SEEDS={word}", f"SEEDS must be .*got {said}") for word, said in WORDS.items()),
]
for target in (*RUNNING, "page"):
    REFUSED += [(target, f"NAME={name}", PAGES.format(got)) for name, got in MISSPELT.items()]


@pytest.mark.parametrize(("target", "setting", "said"), REFUSED)
def test_what_cannot_be_run_is_refused_at_once_and_what_would_do_is_said(
    book, target, setting, said
):
    (book / STAMP).unlink()
    assert_refused(said, book, target, setting)


def test_without_chromium_make_test_stops_at_once_and_names_the_package(book, few_tools):
    (book / STAMP).unlink()
    assert_refused(".*install the package chromium.*", book, "test", PATH=few_tools)


@pytest.mark.parametrize("name", ["02_two", "02_two.md", "01_one ./book/chapters/02_two", ""])
@pytest.mark.parametrize("target", RUNNING)
def test_chapters_are_named_with_or_without_folder_and_without_a_name_all_run(book, target, name):
    code, lines = make(book, target, f"NAME={name}")
    if target == "chapter" and not name:
        assert code != 0
        return
    run = next(line for line in lines if "--nbval" in line).split()
    asked = [f"book/chapters/{one}.md" for one in ("01_one", "02_two") if one in name]
    assert [w for w in run if w.startswith("book/chapters")] == (asked or ["book/chapters"])


def test_knobs_are_handed_to_the_run_and_a_page_may_be_any_of_the_book(book):
    _, lines = make(book, "chapter", "NAME=01_one", "SET=n=100 sigma=0.3")
    assert lines[-1].endswith("--set n=100 sigma=0.3")
    (book / "book" / "notation.md").touch()
    assert make(book, "page", "NAME=no")[1][1:4] == ["01_one", "02_two", "notation"]
    _, lines = make(book, "--dry-run", "page", "NAME=notation 01_one")
    assert any('-k "notation or 01_one"' in line for line in lines)


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
    listed = {" ".join(line.split()[:2]) for line in lines}
    assert {"make book", "make test", "make chapter"} <= listed


# ------------------------------------------------------------------ a set-up from nothing


def python(path: Path, code: str) -> str:
    command = ["/usr/bin/env", "-i", path, "-c", code]
    return subprocess.run(command, cwd="/", capture_output=True, text=True).stdout.strip()


def test_debians_python_alone_sets_the_book_up_and_the_folder_may_move(fresh):
    code = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])"
    version = python(DEBIAN, code)
    if not version or version not in SpecifierSet(install.PYTHON):
        pytest.skip(f"{DEBIAN} is no {install.PYTHON} with venv")
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(fresh), "UV_CACHE_DIR": cache}
    network = {name: said for name, said in os.environ.items() if name.startswith(NETWORK)}
    code, said = make(fresh, STAMP, env=network | bare)
    assert code == 0, said
    moved = fresh.rename(fresh.with_name("moved"))
    code, said = make(moved, STAMP, env=bare, UV_OFFLINE="1")
    assert code == 0, said
    assert make(moved, "-q", STAMP, env=bare)[0] == 0
    tools = moved / ".venv" / "bin"
    found = python(tools / "python", "import claimbook; print(claimbook.__file__)")
    assert Path(found).parent == moved / "claimbook"
    assert subprocess.run([tools / "pytest", "--version"], env=bare).returncode == 0


def test_the_cause_that_uv_names_is_shown(fresh, tmp_path):
    words = [
        "  × No solution found when resolving dependencies:",
        "  ╰─▶ Because the current Python version (3.11.2) does not satisfy Python>=3.11.5",
        "      and soupsieve==4.1.1 depends on Python>=3.11.5, we can conclude",
    ]
    lines = "\n".join(f'echo "{line}" >&2' for line in words)
    script = f'[ "$1" = venv ] && mkdir .venv && exit\n{lines}\nexit 1'
    code, said = make(fresh, STAMP, PATH=program(tmp_path / "bin" / "uv", script))
    assert code != 0
    cause = "Because the current Python version (3.11.2) does not satisfy Python>=3.11.5 and soup"
    assert f"The packages could not be installed. {cause}" in "\n".join(said)
    assert len(said) == 4  # a step, the cause, what to do, make's own last line


def test_a_set_up_that_was_broken_off_begins_again_with_the_python_asked_for(fresh, tmp_path):
    script = 'printf "[%s]" "$@" >> calls; [ "$1" = venv ] && mkdir -p .venv && exit; exit 1'
    path = program(tmp_path / "bin" / "uv", script)
    for _ in range(2):
        assert make(fresh, "book", "PY=/a place/python3.11", PATH=path)[0] != 0
    calls = (fresh / "calls").read_text()
    assert re.findall(r"\[(venv|pip)\]", calls) == ["venv", "pip", "venv", "pip"]
    assert calls.count("[--clear][--relocatable][--python][/a place/python3.11]") == 2


def test_an_old_python_and_none_at_all_are_one_line(fresh, tmp_path, few_tools):
    script = '[ "$1" = --version ] && echo "Python 3.7.16"; exit 1'
    old = program(tmp_path / "old" / "python3", script)
    for path, words in ((old, "is Python 3.7.16"), (few_tools, "python3 is missing")):
        said = f"The set-up needs Python 3.8 or newer; .*{words}.*"
        assert_refused(said, fresh, "book", PATH=path)
