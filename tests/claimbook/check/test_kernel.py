"""How a cell is run, with its semicolon, and which reply is its own.

That nobody waits too long, and that a dead kernel is named, is seen in a session of the checker.
"""

import os
import queue
from types import SimpleNamespace

import pytest

from claimbook.check import kernel
from claimbook.runs.processor import THREADS


class Fake:
    """A kernel whose replies are given; one that is not there yet is ``None``."""

    def __init__(self, replies):
        self.replies = list(replies)
        self.asked = []
        self.kc = SimpleNamespace(execute=self.execute)

    def execute(self, source, **how):
        self.asked.append((source, how))
        return "m1"

    def is_alive(self):
        return True

    def get_message(self, stream, timeout):
        assert stream == "shell"
        reply = self.replies.pop(0)
        if reply is None:
            raise queue.Empty
        return {"parent_header": {"msg_id": reply}, "content": {}}


def test_a_cell_is_run_as_a_notebook_runs_it():
    """With its history, without which IPython does not see a trailing semicolon."""
    fake = Fake(["m1"])
    kernel.adapt(fake)
    assert fake.execute_cell_input("1;", allow_stdin=False) == "m1"
    ((source, how),) = fake.asked
    assert source == "1;"
    assert how["store_history"] is True
    assert how["allow_stdin"] is False


def test_the_reply_that_is_awaited_is_the_cell_s_own():
    fake = Fake(["m0", None, "m1", "m2"])
    kernel.adapt(fake)
    fake.await_reply("m1", timeout=5)
    assert fake.replies == ["m2"]


@pytest.mark.parametrize("given", ["/elsewhere", "", "{root}:/elsewhere"])
def test_the_kernels_get_this_checkouts_package_first_and_one_thread(monkeypatch, tmp_path, given):
    for name in THREADS:
        monkeypatch.setenv(name, "8")
    monkeypatch.setenv("PYTHONPATH", given.format(root=tmp_path))
    kernel.prepare_environment(tmp_path)
    rest = ":/elsewhere" if "elsewhere" in given else ""
    assert os.environ["PYTHONPATH"] == f"{tmp_path}{rest}"
    assert {os.environ[name] for name in THREADS} == {"1"}
