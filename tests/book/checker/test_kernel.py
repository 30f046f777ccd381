"""How a cell is run and waited for: with its semicolon, for so long, by a living kernel."""

import queue
import time
from types import SimpleNamespace

import psutil
import pytest

from iclutils.book.checker import kernel


class Fake:
    """A kernel whose replies are given; one that is not there yet is ``None``."""

    def __init__(self, replies, alive=True):
        self.replies = list(replies)
        self.alive = alive
        self.asked = []
        self.kc = SimpleNamespace(execute=self.execute)

    def execute(self, source, **how):
        self.asked.append((source, how))
        return "m1"

    def is_alive(self):
        return self.alive

    def get_message(self, stream, timeout):
        assert stream == "shell"
        reply = self.replies.pop(0) if self.replies else None
        if reply is None:
            time.sleep(min(timeout, 0.01))
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


@pytest.mark.parametrize("timeout", [0.05, 0.2])
def test_nobody_waits_longer_than_was_said(timeout):
    begun = time.monotonic()
    with pytest.raises(queue.Empty):
        kernel.await_reply(Fake([]), "m1", timeout)
    assert timeout <= time.monotonic() - begun < timeout + 1


def test_a_reply_that_comes_in_time_is_waited_for():
    kernel.await_reply(Fake([None] * 3 + ["m1"]), "m1", 5)


def test_a_dead_kernel_is_named():
    with pytest.raises(RuntimeError, match="the kernel died"):
        kernel.await_reply(Fake([], alive=False), "m1", 5)


def test_what_a_kernel_computed_is_what_its_process_used(monkeypatch):
    times = SimpleNamespace(user=3.0, system=1.5)
    monkeypatch.setattr(psutil.Process, "cpu_times", lambda self: times)
    process = SimpleNamespace(pid=psutil.Process().pid)
    made = SimpleNamespace(km=SimpleNamespace(provisioner=SimpleNamespace(process=process)))
    assert kernel.processor_seconds(made) == times.user + times.system
