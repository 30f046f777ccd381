"""A missing prerequisite is one clear line that says what to do, and a broken installation is not taken for a whole one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def checkout(tmp_path):
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(where, *arguments, **environment):
    done = subprocess.run(["make", "--no-print-directory", *arguments], cwd=where, capture_output=True, text=True, timeout=120,
                          env=os.environ | {"MAKEFLAGS": "", "MAKELEVEL": ""} | environment)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()


def base_python():
    return Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"


def test_another_python_is_refused_in_one_line(checkout):
    other = checkout / "other-python"
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; sys.version_info = (3, 12, 1, \'final\', 0); $2"\n')
    other.chmod(0o755)
    code, lines = make(checkout, "book", f"PY={other}")
    assert code != 0
    assert f"This book needs Python 3.11; {other} is 3.12." in lines[0]
    assert len(lines) == 2  # make's own closing line is the other
    assert not (checkout / ".venv").exists()


def test_no_python_is_one_line(checkout):
    code, lines = make(checkout, "book", "PY=no-such-python")
    assert code != 0
    assert lines[0].startswith("This book needs Python 3.11, and there is no no-such-python here")
    assert len(lines) == 2


def test_without_an_index_the_installation_stops_in_one_line_and_is_not_taken_for_whole(checkout):
    code, lines = make(checkout, "book", f"PY={base_python()}", PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/",
                       PIP_RETRIES="0", PIP_FIND_LINKS="", PIP_EXTRA_INDEX_URL="")
    assert code != 0
    assert "The packages could not be installed: is the package index within reach?" in lines[-2]
    assert (checkout / ".venv" / "install.log").stat().st_size > 0
    assert not (checkout / ".venv" / ".installed").exists()
    assert (checkout / ".venv" / ".installing").exists()  # the next run starts over


@pytest.mark.parametrize("target", ["test", "pdf"])
def test_without_chromium_make_stops_at_once_and_names_the_package(checkout, target):
    tools = checkout / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "make"):
        (tools / name).symlink_to(shutil.which(name) or name)
    code, lines = make(checkout, target, PATH=str(tools))
    assert code != 0
    assert "install the package chromium; 'make check' is all but the browser" in lines[0]
    assert len(lines) == 2
    assert not (checkout / ".venv").exists()


def test_a_chapter_has_to_be_named(checkout):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / ".installed").touch()
    code, lines = make(checkout, "chapter")
    assert code != 0
    assert "make chapter NAME=01_attention_window" in lines[0]
