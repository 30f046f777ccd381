"""What failed, and how far the chapters are: lines for whoever waits.

The process that owns the terminal says them when a report comes in, its own or one of a worker of
pytest-xdist.
"""

import re
import time
from collections.abc import Generator

import pytest

from claimbook.files import ROOT
from claimbook.pages import CHAPTERS
from claimbook.runs import notebooks

AT_ONCE = "at_once"  # the attribute of a report that carries the words to the terminal
EVERY = 12.0  # seconds between two lines about a chapter
CELLS = "cells"  # of a report's properties: how many cells the chapter has
FOLLOWS = "follows"  # the attribute of a report that says that it is a consequence alone

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Finding(Exception):
    """A failed check, shown by its message alone."""


class Consequence(Finding):
    """A check that fails only because an earlier one did; that one has been shown already."""


def words(where: str, error: BaseException) -> str:
    """A failure in words: where it happened and what it was; empty for a consequence.

    Of an error in a cell these are the last words of its traceback.

    >>> words("06_stages, cell 3 of 9", ZeroDivisionError("division by zero"))
    '06_stages, cell 3 of 9 failed\\n  ZeroDivisionError: division by zero'
    """
    if isinstance(error, Consequence):
        return ""
    if isinstance(error, Finding):
        return f"{where} failed\n  {error}"
    traceback = getattr(error, "inner_traceback", None) or ""
    lines = [line for line in _COLOURS.sub("", traceback).splitlines() if line.strip()]
    if not lines:
        return f"{where} failed\n  {type(error).__name__}: {error}"
    return f"{where} failed\n  {error}\n  {lines[-1].strip()}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a failed check its words."""
    report = yield
    name = getattr(item, "where", None)
    if name and report.failed and call.excinfo is not None:
        setattr(report, AT_ONCE, words(name, call.excinfo.value))
        setattr(report, FOLLOWS, isinstance(call.excinfo.value, Consequence))
    return report


class Progress:
    """The hooks that know a report but not the session."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal
        self._since: dict[str, float] = {}  # when a chapter began
        self._said: dict[str, float] = {}  # when its last line was written

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport, config: pytest.Config
    ) -> tuple[str, str, str] | None:
        """No dots for cells: lines tell how far a chapter is, and its failures in words."""
        if getattr(report, FOLLOWS, False):
            return "not reached", "", "NOT REACHED"  # red all the same, but only its cause is told
        is_chapter = report.nodeid.startswith(f"{CHAPTERS.as_posix()}/")
        if config.get_verbosity() > 0 or not is_chapter or report.when != "call":
            return None
        if report.skipped:
            return None
        return report.outcome, "", report.outcome.upper()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A chapter begins with its first cell."""
        chapter, _, test = nodeid.partition("::")
        if test == "cell1":
            self._since[chapter] = time.monotonic()
            self._say(f"{label(chapter)} begins{left(chapter, 0)}")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say a failure at once, in words; pytest shows the whole of it at the end."""
        chapter, _, test = report.nodeid.partition("::cell")
        cells = dict(report.user_properties).get(CELLS)
        follows = getattr(report, FOLLOWS, False)
        if cells and report.when == "call" and not follows:
            self._tell(chapter, int(test), int(str(cells)), report.failed)
        said = getattr(report, AT_ONCE, "")
        if said:
            self._say(said)

    def _tell(self, chapter: str, cell: int, cells: int, failed: bool) -> None:
        """A cell has ended."""
        now = time.monotonic()
        elapsed = now - self._since[chapter]
        if failed:
            what = f"broken off at cell {cell} of {cells}, after {elapsed:.0f} s"
        elif cell == cells:
            what = f"all {cells} cells ran, in {elapsed:.0f} s"
        elif now - self._said.get(chapter, self._since[chapter]) >= EVERY:
            self._said[chapter] = now
            what = f"{cell} of {cells} cells ran, {elapsed:.0f} s so far{left(chapter, elapsed)}"
        else:
            return
        self._say(f"{label(chapter)}: {what}")

    def _say(self, words: str) -> None:
        self._terminal.ensure_newline()
        self._terminal.write_line(words)


def label(chapter: str) -> str:
    """The name of a run in what is said: its chapter, and the knob that is turned.

    >>> label("book/chapters/06_stages.md@seed=1")
    '06_stages, seed=1'
    """
    name, _, turn = chapter.rpartition("/")[2].partition("@")
    return ", ".join([name.removesuffix(".md"), *filter(None, [turn])])


def left(chapter: str, elapsed: float) -> str:
    """How long a chapter will take yet, by its last run; empty where nobody knows."""
    known = -notebooks.by_length(label(chapter).partition(",")[0], ROOT)[1]
    unknown = known == notebooks.UNKNOWN_SECONDS
    return "" if unknown or known < elapsed else f", about {known - elapsed:.0f} s left"
