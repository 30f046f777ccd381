"""What "elsewhere" means: every kernel is told, whatever the shell had said before."""

import os

import pytest

from claimbook.checker import elsewhere
from claimbook.runs.processor import ARITHMETIC, THREADS


@pytest.mark.parametrize("before", [None, "avx512", "1"])
def test_instructions_and_threads_are_others_whatever_they_were(monkeypatch, before):
    names = (ARITHMETIC, *THREADS)
    shell = {} if before is None else dict.fromkeys(names, before)
    monkeypatch.setattr(os, "environ", shell)  # not the one that later tests hand on
    elsewhere.prepare()
    assert shell == {ARITHMETIC: "default"} | dict.fromkeys(THREADS, "2")
