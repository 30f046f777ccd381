"""Make refuses what it cannot run before it sets anything up; the set-up says what is missing.

What ``make lint`` finds is a test like the others; the environment is there, since this runs in it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from claimbook import install
from claimbook.files import ROOT

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


def test_style_and_types_are_clean():
    """All tools report."""
    code, lines = make(ROOT, "-o", STAMP, "lint")
    assert code == 0, "\n".join(lines)


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


def test_a_set_up_of_a_folder_that_was_moved_is_made_again(book):
    assert make(book, "-q", STAMP)[0] == 0
    assert make(book.rename(book.with_name("moved")), "-q", STAMP)[0] != 0


UV = """\
printf "[%s]" "$@" >> calls
[ "$1" = venv ] && mkdir -p .venv && exit
echo "  × No solution found when resolving dependencies:" >&2
echo "  ╰─▶ Because the current Python version (3.11.2) does not satisfy Python>=3.11.5" >&2
echo "      and soupsieve==4.1.1 depends on Python>=3.11.5, we can conclude" >&2
exit 1"""
CAUSE = "Because the current Python version (3.11.2) does not satisfy Python>=3.11.5 and soup"


def test_a_set_up_that_is_broken_off_names_the_cause_and_begins_again(fresh, tmp_path):
    path = program(tmp_path / "bin" / "uv", UV)
    for _ in range(2):
        code, said = make(fresh, "book", "PY=/a place/python3.11", PATH=path)
        assert code != 0
        assert f"The packages could not be installed. {CAUSE}" in "\n".join(said)
        assert len(said) == 4  # a step, the cause, what to do, make's own last line
    calls = (fresh / "calls").read_text()
    assert re.findall(r"\[(venv|pip)\]", calls) == ["venv", "pip", "venv", "pip"]
    assert calls.count("[--clear][--relocatable][--python][/a place/python3.11]") == 2


def test_an_old_python_and_none_at_all_are_one_line(fresh, tmp_path, few_tools):
    script = '[ "$1" = --version ] && echo "Python 3.7.16"; exit 1'
    old = program(tmp_path / "old" / "python3", script)
    for path, words in ((old, "is Python 3.7.16"), (few_tools, "python3 is missing")):
        said = f"The set-up needs Python 3.8 or newer; .*{words}.*"
        assert_refused(said, fresh, "book", PATH=path)


FLOOR = re.findall(r">=([\d.]+),", install.PYTHON)[0]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


def test_the_lock_holds_each_direct_requirement_and_none_of_pytorchs_builds():
    lines = read("requirements.lock").replace("\\\n", "").splitlines()
    found = [Requirement(line.partition(" --hash")[0]) for line in lines]
    locked = {canonicalize_name(one.name): one for one in found}
    lines = [line.partition("#")[0].strip() for line in read("requirements.in").splitlines()]
    for requirement in (Requirement(line) for line in lines if line):
        if requirement.name != "torch":
            assert str(locked[requirement.name.lower()].specifier)[2:] in requirement.specifier
    assert not [name for name in locked if re.match(r"torch$|triton$|nvidia|cuda", name)]
    assert not [pin for pin in locked.values() if not str(pin.specifier).startswith("==")]


def test_conda_brings_the_tools_and_a_python_for_the_lock_and_the_oldest_is_said():
    tools = yaml.safe_load(read("environment.yml"))["dependencies"]
    assert {f"python{install.PYTHON}", f"uv={install.UV_VERSION}"} <= set(tools)
    assert {re.split("[>=]", tool)[0] for tool in tools} == {"python", "uv", "make", "git"}
    for name in ("README.md", "claimbook/site/templates/README.txt"):
        assert FLOOR in read(name)


def test_what_pip_is_told_uv_is_told_unless_it_was_told_itself(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(install, "OWN_UV", Path("none"))
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    monkeypatch.setattr(install.sys, "executable", str(base))
    for name, said in {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://one.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://two.example/a https://three.example/b",
        "PIP_FIND_LINKS": "/one /two",
        "UV_DEFAULT_INDEX": "https://own.example/simple",
    }.items():
        monkeypatch.setenv(name, said)
    found = install.environment()
    assert found["UV_DEFAULT_INDEX"] == "https://own.example/simple"
    assert found["UV_INDEX"] == "https://two.example/a https://three.example/b"
    assert found["UV_FIND_LINKS"] == "/one,/two"
