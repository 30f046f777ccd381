"""How far a run is: never silent, never a flood."""

import io

from iclutils.book.runs.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _told(out, times, total):
    clock = iter(times)
    progress = Progress("jobs", total, out=out, interval=5, clock=lambda: next(clock))
    for _ in times[1:]:
        progress.advance()
    return out.getvalue()


def test_a_log_gets_whole_lines_at_most_one_every_few_seconds():
    told = _told(io.StringIO(), [100, 101, 102, 106, 107, 108], total=10)
    assert told.splitlines() == [
        "jobs: 0 of 10 jobs done",
        "jobs: 3 of 10 jobs done in 6 s, about 14 s left",
    ]


def test_the_last_job_is_always_said():
    told = _told(io.StringIO(), [0, 1, 2], total=2)
    assert told.splitlines() == ["jobs: 0 of 2 jobs done", "jobs: 2 of 2 jobs done in 2 s"]


def test_a_terminal_gets_one_line_that_is_renewed():
    told = _told(Terminal(), [0, 1, 2], total=2)
    assert told.count("\n") == 1
    assert told.endswith("\n")
    lines = told.removesuffix("\n").split("\r\x1b[K")
    assert lines[1:] == [
        "jobs: 0 of 2 jobs done",
        "jobs: 1 of 2 jobs done in 1 s, about 1 s left",
        "jobs: 2 of 2 jobs done in 2 s",
    ]
