"""The wheel that the site offers: whole, and enough to run a chapter's code without a checkout."""

import io
import os
import subprocess
import sys
import zipfile

import pytest

from claimbook.site.downloads import wheel

PROGRAM = """
from claimbook import cached, read_record
from claimbook.ledger import Ledger, load, plain
from claimbook.files import packages
from iclutils.validation import positive

import iclutils

assert iclutils.__file__.startswith({here!r}), iclutils.__file__
settings = plain(load())["chapters"]["03_linear_attention"]["settings"]
assert packages() == ("iclutils",)
assert Ledger("03_linear_attention", **settings).rows
assert read_record("05_double_descent")["jobs"]
assert cached(positive, "x", 2.0) == 2.0
"""


@pytest.fixture(scope="module")
def built():
    return zipfile.ZipFile(io.BytesIO(wheel()))


def test_the_same_book_gives_the_same_bytes():
    assert wheel() == wheel()


def test_it_runs_without_a_checkout_and_writes_nothing(built, tmp_path):
    built.extractall(tmp_path / "installed")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    here = str(tmp_path / "installed")
    environment = {**os.environ, "PYTHONPATH": here, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM.format(here=here)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
