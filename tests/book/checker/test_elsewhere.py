"""What "elsewhere" means: every kernel is told, whatever the shell had said before."""

import os

import pytest

from iclutils.book.checker import elsewhere
from iclutils.book.runs.processor import ARITHMETIC, THREADS


@pytest.mark.parametrize("before", [None, "avx512", "1"])
def test_instructions_and_threads_are_others_whatever_they_were(monkeypatch, before):
    for name in (ARITHMETIC, *THREADS):
        if before is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, before)
    elsewhere.prepare()
    assert os.environ[ARITHMETIC] == "default"
    assert {os.environ[name] for name in THREADS} == {"2"}
    for name in (ARITHMETIC, *THREADS):
        monkeypatch.setenv(name, os.environ[name])  # taken back at the end
