"""What is said while chapters run: a line at both ends of each, few between, failures in words."""

from types import SimpleNamespace

import pytest

from claimbook.checker import findings
from claimbook.checker.findings import CELLS, EVERY, Progress

CHAPTER = "book/chapters/06_stages.md"


@pytest.fixture
def session(monkeypatch):
    """What ``cell`` makes the terminal show, each after so many seconds."""
    shown = []
    now = SimpleNamespace(seconds=0.0)
    terminal = SimpleNamespace(ensure_newline=lambda: None, write_line=shown.append)
    monkeypatch.setattr(findings.time, "monotonic", lambda: now.seconds)
    monkeypatch.setattr(findings.notebooks, "by_length", lambda name, root: (False, -70.0))
    told = Progress(terminal)

    def cell(number, seconds, chapter=CHAPTER, **other):
        node = f"{chapter}::cell{number}"
        told.pytest_runtest_logstart(node)
        now.seconds += seconds
        report = {"nodeid": node, "when": "call", "failed": False, "user_properties": [(CELLS, 9)]}
        told.pytest_runtest_logreport(SimpleNamespace(**(report | other)))

    return SimpleNamespace(cell=cell, shown=shown)


def test_a_chapter_begins_and_ends_with_a_line_and_not_too_many_stand_between(session):
    for number in range(1, 10):
        session.cell(number, EVERY / 2)
    assert session.shown == [
        "06_stages begins, about 70 s left",
        *(f"06_stages: {n} of 9 cells ran, {6 * n} s so far, about {70 - 6 * n} s left"
          for n in (2, 4, 6, 8)),
        "06_stages: all 9 cells ran, in 54 s",
    ]


def test_a_chapter_that_takes_longer_than_it_did_is_not_said_to_end_at_once(session):
    session.cell(1, 80)
    assert session.shown[-1] == "06_stages: 1 of 9 cells ran, 80 s so far"


def test_a_failure_is_said_at_once_and_what_follows_from_it_is_not(session):
    session.cell(1, 1, chapter=f"{CHAPTER}@seed=1")
    session.cell(2, 1, f"{CHAPTER}@seed=1", failed=True, **{findings.AT_ONCE: "cell 2 failed"})
    session.cell(3, 1, f"{CHAPTER}@seed=1", failed=True, **{findings.FOLLOWS: True})
    assert session.shown[1:] == [
        "06_stages, seed=1: broken off at cell 2 of 9, after 2 s",
        "cell 2 failed",
    ]


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_a_cell_that_ran_is_counted_and_has_no_dot_unless_pytest_is_to_say_more(verbosity):
    config = SimpleNamespace(get_verbosity=lambda: verbosity)
    said = {"when": "call", "skipped": False, "outcome": "passed"}
    status = Progress(SimpleNamespace()).pytest_report_teststatus
    cell = status(SimpleNamespace(nodeid=f"{CHAPTER}::cell1", **said), config)
    assert cell == (None if verbosity > 0 else ("passed", "", "PASSED"))
    assert status(SimpleNamespace(nodeid="tests/test_x.py::test_y", **said), config) is None
