"""The set-up: Debian's own Python is enough, a folder may move, and what is missing is said."""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from claimbook import install

ROOT = Path(__file__).resolve().parents[2]
DEBIAN = Path("/usr/bin/python3")
NEEDED = ("Makefile", "pyproject.toml", "requirements.in", "requirements.lock")
NETWORK = ("PIP_", "UV_", "SSL_")  # variables that say where packages come from
FLOOR = re.findall(r">=([\d.]+),", install.PYTHON)[0]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


def pins() -> dict[str, Requirement]:
    """The lines of the lock by name."""
    lines = read("requirements.lock").replace("\\\n", "").splitlines()
    found = [Requirement(line.partition(" --hash")[0]) for line in lines]
    return {canonicalize_name(one.name): one for one in found}


# ------------------------------------------------------------------ the pins


def test_what_is_installed_is_the_lock_and_allows_the_oldest_python():
    here = {name: pin for name, pin in pins().items() if not pin.marker or pin.marker.evaluate()}
    found = {name: metadata.distribution(name) for name in here}
    assert {name: f"=={one.version}" for name, one in found.items()} == {
        name: str(pin.specifier) for name, pin in here.items()
    }
    allowed = {name: one.metadata.get("Requires-Python") or "" for name, one in found.items()}
    assert [name for name, said in allowed.items() if FLOOR not in SpecifierSet(said)] == []


def test_the_lock_holds_each_direct_requirement_and_none_of_pytorchs_builds():
    locked = pins()
    lines = [line.partition("#")[0].strip() for line in read("requirements.in").splitlines()]
    for requirement in (Requirement(line) for line in lines if line):
        if requirement.name != "torch":
            assert str(locked[requirement.name.lower()].specifier)[2:] in requirement.specifier
    assert not [name for name in locked if re.match(r"torch$|triton$|nvidia|cuda", name)]
    assert not [pin for pin in locked.values() if not str(pin.specifier).startswith("==")]


def test_the_builds_of_pytorch_are_cut_out_of_a_lock():
    lock = "tornado==6 \\\n    --hash=sha256:a\n"
    builds = "torch==2 \\\n    --hash=sha256:b \\\n    --hash=sha256:c\ncuda-x==1 ; a \\\n  d\n"
    assert install.BUILDS.sub("", builds + lock + builds) == lock


def test_conda_brings_the_tools_and_a_python_for_the_lock_and_the_oldest_is_said():
    tools = yaml.safe_load(read("environment.yml"))["dependencies"]
    assert {f"python{install.PYTHON}", f"uv={install.UV_VERSION}"} <= set(tools)
    assert {re.split("[>=]", tool)[0] for tool in tools} == {"python", "uv", "make", "git"}
    for name in ("README.md", "claimbook/site/templates/README.txt"):
        assert FLOOR in read(name)


# ------------------------------------------------------------------ a set-up from nothing


@pytest.fixture
def book(tmp_path):
    """The files that a set-up needs, in a folder whose path has a space."""
    book = tmp_path / "a böok"
    book.mkdir()
    for name in NEEDED:
        shutil.copy(ROOT / name, book)
    for package in ("claimbook", "iclutils"):
        (book / package).mkdir()
        (book / package / "__init__.py").touch()
    shutil.copy(ROOT / "claimbook" / "install.py", book / "claimbook")
    return book


def make(book: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    command = ["/usr/bin/env", "make", "--no-print-directory", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=book, env={"HOME": str(book), **environment}, **streams)
    return done.returncode, done.stdout


def python(path: Path, code: str) -> str:
    done = subprocess.run([path, "-c", code], cwd="/", env={}, capture_output=True, text=True)
    return done.stdout.strip()


def is_usable(path: Path) -> bool:
    code = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])"
    version = python(path, code) if path.exists() else ""
    return bool(version) and version in SpecifierSet(install.PYTHON)


@pytest.mark.skipif(not is_usable(DEBIAN), reason=f"{DEBIAN} is no {install.PYTHON} with venv")
def test_debians_python_alone_sets_the_book_up_and_the_folder_may_move(book):
    path = {"PATH": "/usr/bin:/bin"}
    settings = {name: said for name, said in os.environ.items() if name.startswith(NETWORK)}
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    code, said = make(book, ".venv/.installed", **path, **settings, UV_CACHE_DIR=cache)
    assert code == 0, said
    moved = book.rename(book.with_name("moved"))
    code, said = make(moved, ".venv/.installed", **path, UV_OFFLINE="1", UV_CACHE_DIR=cache)
    assert code == 0, said
    assert make(moved, "-q", ".venv/.installed", **path)[0] == 0
    tools = moved / ".venv" / "bin"
    found = python(tools / "python", "import claimbook; print(claimbook.__file__)")
    assert Path(found).parent == moved / "claimbook"
    assert subprocess.run([tools / "pytest", "--version"], env=path).returncode == 0


# ------------------------------------------------------------------ what is missing


def program(folder: Path, name: str, script: str) -> str:
    """A PATH with a program of this name, and with make, a shell and Python."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_the_cause_that_uv_names_is_shown(book, tmp_path):
    words = [
        "  × No solution found when resolving dependencies:",
        "  ╰─▶ Because the current Python version (3.11.2) does not satisfy Python>=3.11.5",
        "      and soupsieve==4.1.1 depends on Python>=3.11.5, we can conclude",
    ]
    lines = "\n".join(f'echo "{line}" >&2' for line in words)
    script = f'[ "$1" = venv ] && mkdir .venv && exit\n{lines}\nexit 1'
    code, said = make(book, ".venv/.installed", PATH=program(tmp_path / "bin", "uv", script))
    assert code != 0
    cause = "Because the current Python version (3.11.2) does not satisfy Python>=3.11.5 and soup"
    assert f"The packages could not be installed. {cause}" in said
    assert len(said.splitlines()) == 4  # a step, the cause, what to do, make's own last line


def test_a_set_up_that_was_broken_off_is_begun_again_with_the_python_that_is_asked_for(
    book, tmp_path
):
    script = 'printf "[%s]" "$@" >> calls; [ "$1" = venv ] && mkdir -p .venv && exit; exit 1'
    path = program(tmp_path / "bin", "uv", script)
    for _ in range(2):
        assert make(book, "book", "PY=/a place/python3.11", PATH=path)[0] != 0
    calls = (book / "calls").read_text()
    assert re.findall(r"\[(venv|pip)\]", calls) == ["venv", "pip", "venv", "pip"]
    assert calls.count("[--clear][--relocatable][--python][/a place/python3.11]") == 2


def test_an_old_python_and_none_at_all_are_one_line(book, tmp_path):
    script = '[ "$1" = --version ] && echo "Python 3.7.16"; exit 1'
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("bash", "sh", "make", "cat", "grep"):
        (bare / name).symlink_to(shutil.which(name) or name)
    old = program(tmp_path / "old", "python3", script)
    for path, words in ((old, "is Python 3.7.16"), (str(bare), "python3 is missing")):
        code, said = make(book, "book", PATH=path)
        assert code != 0
        assert said.startswith("The set-up needs Python 3.8 or newer;")
        assert words in said.splitlines()[0]


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
