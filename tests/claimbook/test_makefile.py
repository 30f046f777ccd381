"""What is missing is one clear line that says what to do; no broken set-up is taken for whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from claimbook import install

ROOT = Path(__file__).resolve().parents[2]


NEEDED = (
    "Makefile",
    "pyproject.toml",
    "requirements.in",
    "requirements.lock",
    "claimbook/install.py",
)


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "a book"  # a path with a space
    for name in NEEDED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def make(where, *arguments, **environment):
    done = subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=where,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"MAKEFLAGS": "", "MAKELEVEL": ""} | environment,
    )
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()


def tools(folder, *names):
    """A folder for PATH that holds these programs and no other."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name) or name)
    return str(folder)


NO_INDEX = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": "http://127.0.0.1:9/",
    "PIP_RETRIES": "0",
    "PIP_FIND_LINKS": "",
    "PIP_EXTRA_INDEX_URL": "",
    "UV_HTTP_RETRIES": "0",
    "UV_NO_CACHE": "1",
}


def uv_on_the_path(folder, script):
    """A PATH with a uv of ours first."""
    folder.mkdir()
    program = folder / "uv"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_no_python_to_be_had_is_one_line_and_nothing_is_left(checkout, tmp_path):
    script = 'echo "asked: $*"; echo "no Python 3.11 to be had" >&2; exit 2'
    code, lines = make(checkout, "book", PATH=uv_on_the_path(tmp_path / "bin", script))
    assert code != 0
    assert lines[0] == "set-up: Python 3.11"
    assert lines[1].startswith("This book needs Python 3.11. no Python 3.11 to be had")
    assert len(lines) == 3  # make's own closing line is the last
    assert not (checkout / ".venv" / ".installed").exists()


def test_a_python_whose_path_has_a_space_is_asked_for_as_it_is(checkout, tmp_path):
    path = uv_on_the_path(tmp_path / "bin", 'printf "[%s]" "$@"; exit 2')
    python = str(tmp_path / "a place" / "python3.11")
    code, lines = make(checkout, "book", f"PY={python}", PATH=path)
    assert code != 0
    assert f"[{python}]" in "\n".join(lines)


def test_neither_python_nor_uv_is_one_line(checkout, tmp_path):
    path = tools(tmp_path / "bin", "bash", "sh", "make")
    code, lines = make(checkout, "book", PATH=path)
    assert code != 0
    assert lines[0].startswith("Nothing here can set the book up: install Python 3")
    assert len(lines) == 2


def test_without_an_index_uv_cannot_be_brought_and_nothing_is_half_there(checkout, tmp_path):
    path = tools(tmp_path / "bin", "bash", "sh", "make")
    (Path(path) / "python3").symlink_to(base_python())
    code, lines = make(checkout, "book", PATH=path, **NO_INDEX)
    assert code != 0
    assert "uv could not be brought. Is the package index within reach?" in lines[-2]
    assert not (checkout / ".uv").exists()
    assert not (checkout / ".venv").exists()


def without_uv(monkeypatch, folder, run, *, own_pip):
    """A machine that has no uv, and pip or not, on which ``run`` runs what is to bring it."""
    pip = subprocess.CompletedProcess([], 0 if own_pip else 1)
    monkeypatch.setattr(install, "OWN_UV", folder / ".uv")
    monkeypatch.setattr(install, "run", run)
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install.subprocess, "run", lambda *command, **how: pip)


@pytest.mark.parametrize("own_pip", [True, False])
def test_uv_is_brought_by_this_pythons_pip_or_that_of_an_environment(
    tmp_path, monkeypatch, own_pip
):
    asked = []

    def bring(command, what):
        asked.append([str(part) for part in command])
        (tmp_path / ".uv.part").mkdir(exist_ok=True)

    without_uv(monkeypatch, tmp_path, bring, own_pip=own_pip)
    assert install.find_uv() == str(tmp_path / ".uv" / "bin" / "uv")
    there = tmp_path / ".uv.part" / "venv"
    python = sys.executable if own_pip else str(there / "bin" / "python")
    assert asked[-1][:4] == [python, "-m", "pip", "install"]
    assert asked[:-1] == ([] if own_pip else [[sys.executable, "-m", "venv", str(there)]])
    assert (tmp_path / ".uv").is_dir()


def test_the_pin_of_torch_is_read_without_its_reason(tmp_path, monkeypatch):
    (tmp_path / "requirements.in").write_text("numpy\ntorch==2.13.0  # why\n")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    assert install.torch_pin() == "torch==2.13.0"


def test_an_environment_that_cannot_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(command, what):
        (tmp_path / ".uv.part" / "venv").mkdir(parents=True)
        raise install.Trouble(what)

    without_uv(monkeypatch, tmp_path, fail, own_pip=False)
    with pytest.raises(install.Trouble, match="python3-venv"):
        install.find_uv()
    assert not list(tmp_path.iterdir())


def test_an_installation_that_stops_is_begun_again(checkout, tmp_path):
    """The first uv makes the environment and fails then; the next run starts from nothing."""
    folder = tmp_path / "bin"
    script = (
        'if [ "$1" = venv ]; then\nfor v; do :; done\n'
        'mkdir -p "$v/bin"; touch "$v/bin/python"; exit 0; fi\n'
        "echo could not fetch; exit 1"
    )
    path = uv_on_the_path(folder, script)
    code, lines = make(checkout, "book", PATH=path)
    assert code != 0
    assert "The packages could not be installed. Is the package index within reach?" in lines[-2]
    assert "could not fetch" in (checkout / ".venv" / "install.log").read_text()
    assert (checkout / ".venv" / ".installing").exists()
    assert not (checkout / ".venv" / ".installed").exists()
    (folder / "uv").write_text('#!/bin/sh\necho "$*" >> "$0.asked"\nexit 1\n')
    make(checkout, "book", PATH=path)
    assert "venv --quiet --clear" in (folder / "uv.asked").read_text()


def base_python():
    return Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"


def pip_says(monkeypatch, **settings):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX"):
        monkeypatch.delenv(f"PIP_{name}", raising=False)
        monkeypatch.delenv(f"UV_{name}", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(install.sys, "executable", str(base_python()))
    return install.pip_settings()


def test_what_pip_is_told_is_handed_on(monkeypatch):
    found = pip_says(
        monkeypatch,
        PIP_INDEX_URL="https://one.example/simple",
        PIP_EXTRA_INDEX_URL="https://two.example/simple https://three.example/simple",
        PIP_FIND_LINKS="/wheels",
    )
    assert found["UV_DEFAULT_INDEX"] == "https://one.example/simple"
    assert found["UV_INDEX"] == "https://two.example/simple https://three.example/simple"
    assert found["UV_FIND_LINKS"] == "/wheels"


def test_what_uv_is_told_already_stays(monkeypatch):
    found = pip_says(monkeypatch, PIP_FIND_LINKS="/wheels", UV_FIND_LINKS="/others")
    assert found["UV_FIND_LINKS"] == "/others"


def test_a_folder_that_cannot_be_written_is_one_line(monkeypatch):
    monkeypatch.setattr(install.os, "access", lambda place, mode: False)
    with pytest.raises(SystemExit, match="cannot be written to"):
        install.main([])


def test_without_chromium_make_stops_at_once_and_names_the_package(checkout):
    code, lines = make(checkout, "test", PATH=tools(checkout / "tools", "bash", "sh", "make"))
    assert code != 0
    assert "install the package chromium; 'make check' is all but the browser" in lines[0]
    assert len(lines) == 2
    assert not (checkout / ".venv").exists()


@pytest.fixture
def installed(checkout):
    """A checkout with two chapters whose pytest says what it was asked and finds nothing to do."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    python = checkout / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\ncase "$*" in *stale) exit 0 ;; esac\necho "asked: $*"; exit 5\n')
    python.chmod(0o755)
    (checkout / ".venv" / ".installed").touch()
    (checkout / "book" / "chapters").mkdir(parents=True)
    for name in ("01_one", "02_two"):
        (checkout / "book" / "chapters" / f"{name}.md").touch()
    return checkout


@pytest.mark.parametrize("target", ["chapter", "expected", "seeds", "knobs", "portability", "page"])
@pytest.mark.parametrize("name", ["03_three", "../intro", "01_one.md", "01 one"])
def test_a_misspelt_chapter_is_named_at_once_and_the_right_names_are_listed(
    installed, target, name
):
    code, lines = make(installed, target, f"NAME={name}")
    assert code != 0
    assert lines[0].startswith("NAME must be a page of book/chapters")
    assert f"; got '{name.split()[0]}'" in lines[0]
    assert lines[1:3] == ["01_one", "02_two"]
    assert not any("asked:" in line for line in lines)


@pytest.mark.parametrize("target", ["knobs", "seeds", "expected", "portability"])
@pytest.mark.parametrize("names", ["", "02_two", "01_one 02_two"])
def test_right_names_and_none_at_all_are_run(installed, target, names):
    _, lines = make(installed, target, f"NAME={names}")
    asked = [line for line in lines if line.startswith("asked: -m pytest")]
    for name in names.split():
        assert f"book/chapters/{name}.md" in asked[-1]
    assert len(asked) >= 1


def test_a_page_is_a_chapter_or_any_other_of_the_book(installed):
    (installed / "book" / "notation.md").touch()
    (installed / "book" / "reference").mkdir()
    (installed / "book" / "reference" / "ground.md").touch()
    _, lines = make(installed, "page", "NAME=no")
    assert lines[1:5] == ["01_one", "02_two", "notation", "ground"]
    _, lines = make(installed, "--dry-run", "page", "NAME=notation ground 01_one")
    assert any('-k "notation or ground or 01_one"' in line for line in lines)


def test_what_is_no_bench_is_named():
    code, lines = make(ROOT, "bench", "NAME=stages nonsense")
    [said] = [line for line in lines if "nonsense'" in line]
    assert "NAME must be " in said
    assert code != 0


@pytest.mark.parametrize(
    ("seeds", "word"), [("x", "'x'"), ("-1", "'-1'"), ("1 2.5", "'2.5'"), ("", "none")]
)
def test_master_seeds_that_are_none_are_refused_at_once(installed, seeds, word):
    code, lines = make(installed, "seeds", f"SEEDS={seeds}")
    assert code != 0
    assert lines[0].startswith("SEEDS must be whole numbers")
    assert lines[0].endswith(word)
    assert not any("asked:" in line for line in lines)


def test_a_chapter_has_to_be_named(installed):
    code, lines = make(installed, "chapter")
    assert code != 0
    assert "make chapter NAME=01_attention_window" in lines[0]


def test_lint_says_what_every_tool_found_before_it_fails(checkout):
    """Each tool is a program that fails; the last line names all of them."""
    folder = checkout / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("ruff", "mypy", "check-jsonschema", "jupytext"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} was here\nexit 1\n")
        (folder / name).chmod(0o755)
    (checkout / ".venv" / ".installed").touch()
    code, lines = make(checkout, "lint")
    assert code != 0
    assert {f"{name} was here" for name in ("ruff", "mypy", "check-jsonschema")} <= set(lines)
    named = next(line for line in lines if line.startswith("Not clean:"))
    assert all(name in named for name in ("ruff", "mypy", "check-jsonschema"))
