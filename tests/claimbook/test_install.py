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


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


def pins() -> dict[str, Requirement]:
    """The lines of the lock by name."""
    lines = read("requirements.lock").replace("\\\n", "").splitlines()
    found = [Requirement(line.partition(" --hash")[0]) for line in lines]
    return {canonicalize_name(one.name): one for one in found}


def asked() -> list[Requirement]:
    lines = [line.partition("#")[0].strip() for line in read("requirements.in").splitlines()]
    return [Requirement(line) for line in lines if line]


def floor() -> str:
    return re.findall(r">=([\d.]+),", install.PYTHON)[0]


# ------------------------------------------------------------------ the pins


def test_what_is_installed_is_the_lock_and_allows_the_oldest_python():
    here = {name: pin for name, pin in pins().items() if not pin.marker or pin.marker.evaluate()}
    found = {name: metadata.distribution(name) for name in here}
    assert {name: f"=={one.version}" for name, one in found.items()} == {
        name: str(pin.specifier) for name, pin in here.items()
    }
    allowed = {name: one.metadata.get("Requires-Python") or "" for name, one in found.items()}
    assert [name for name, said in allowed.items() if floor() not in SpecifierSet(said)] == []


def test_the_lock_holds_each_direct_requirement_and_none_of_pytorchs_builds():
    locked = pins()
    for requirement in asked():
        if requirement.name != "torch":
            assert str(locked[requirement.name.lower()].specifier)[2:] in requirement.specifier
    assert not [name for name in locked if re.match(r"torch$|triton$|nvidia|cuda", name)]
    assert not [pin for pin in locked.values() if not str(pin.specifier).startswith("==")]


def test_the_builds_of_pytorch_are_cut_out_of_a_lock():
    lock = "tornado==6 \\\n    --hash=sha256:a\n"
    left_out = (
        "torch==2 \\\n    --hash=sha256:b \\\n    --hash=sha256:c\ncuda-x==1 ; sys == 'a' \\\n  d\n"
    )
    assert install.BUILDS.sub("", left_out + lock + left_out) == lock


def test_conda_brings_the_tools_and_a_python_for_the_lock():
    tools = yaml.safe_load(read("environment.yml"))["dependencies"]
    assert f"python{install.PYTHON}" in tools
    assert f"uv={install.UV_VERSION}" in tools
    assert {re.split("[>=]", tool)[0] for tool in tools} == {"python", "uv", "make", "git"}


@pytest.mark.parametrize("name", ["README.md", "claimbook/site/downloads.py"])
def test_the_oldest_python_is_said(name):
    assert floor() in read(name)


# ------------------------------------------------------------------ a set-up from nothing


def copy(folder: Path) -> Path:
    """The files that a set-up needs, in a folder whose path has a space."""
    book = folder / "a böok"
    for name in NEEDED:
        book.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, book)
    for package in ("claimbook", "iclutils"):
        (book / package).mkdir()
        (book / package / "__init__.py").touch()
    shutil.copy(ROOT / "claimbook" / "install.py", book / "claimbook")
    return book


@pytest.fixture
def book(tmp_path):
    return copy(tmp_path)


def make(book: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        ["/usr/bin/env", "make", "--no-print-directory", *arguments],
        cwd=book,
        env={"HOME": str(book), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def is_usable(python: Path) -> bool:
    command = [
        str(python),
        "-c",
        "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])",
    ]
    done = subprocess.run(command, capture_output=True, text=True) if python.exists() else None
    return done is not None and done.stdout.strip() in SpecifierSet(install.PYTHON)


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
    command = [
        moved / ".venv" / "bin" / "python",
        "-c",
        "import claimbook; print(claimbook.__file__)",
    ]
    found = subprocess.run(command, cwd="/", env=path, capture_output=True, text=True).stdout
    assert Path(found.strip()).parent == moved / "claimbook"
    version = subprocess.run([moved / ".venv" / "bin" / "pytest", "--version"], env=path)
    assert version.returncode == 0


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
    path = program(
        tmp_path / "bin", "uv", f'[ "$1" = venv ] && mkdir .venv && exit\n{lines}\nexit 1'
    )
    code, said = make(book, ".venv/.installed", PATH=path)
    assert code != 0
    cause = (
        "Because the current Python version (3.11.2) does not satisfy Python>=3.11.5 and soupsieve"
    )
    assert f"The packages could not be installed. {cause}" in said
    assert len(said.splitlines()) == 4  # a step, the cause, what to do, make's own last line


def test_a_set_up_that_was_broken_off_is_begun_again(book, tmp_path):
    script = 'echo "$*" >> calls; [ "$1" = venv ] && mkdir -p .venv && exit; exit 1'
    path = program(tmp_path / "bin", "uv", script)
    for _ in range(2):
        assert make(book, ".venv/.installed", PATH=path)[0] != 0
    calls = (book / "calls").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["venv", "pip", "venv", "pip"]
    assert "--clear --relocatable" in calls[2]


def test_another_python_is_asked_for_as_it_is_written(book, tmp_path):
    path = program(tmp_path / "bin", "uv", 'printf "[%s]" "$@" > calls; exit 2')
    make(book, "book", "PY=/a place/python3.11", PATH=path)
    assert "[--python][/a place/python3.11]" in (book / "calls").read_text()


def test_an_old_python_and_none_at_all_are_one_line(book, tmp_path):
    script = '[ "$1" = --version ] && echo "Python 3.7.16"; exit 1'
    old = program(tmp_path / "old", "python3", script)
    code, said = make(book, "book", PATH=old)
    assert code != 0
    assert said.startswith("The set-up needs Python 3.8 or newer;")
    assert "Python 3.7.16" in said.splitlines()[0]
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("bash", "sh", "make", "cat", "grep"):
        (bare / name).symlink_to(shutil.which(name) or name)
    code, said = make(book, "book", PATH=str(bare))
    assert code != 0
    assert said.startswith("The set-up needs Python 3.8 or newer; python3 is missing")


def test_what_pip_is_told_uv_is_told_unless_it_was_told_itself(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(install, "OWN_UV", Path("none"))
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    monkeypatch.setattr(install.sys, "executable", str(base))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "https://one.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://two.example/a https://three.example/b")
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://own.example/simple")
    found = install.environment()
    assert found["UV_DEFAULT_INDEX"] == "https://own.example/simple"
    assert found["UV_INDEX"] == "https://two.example/a https://three.example/b"
    assert found["UV_FIND_LINKS"] == "/one,/two"
