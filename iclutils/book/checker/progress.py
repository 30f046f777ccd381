"""How far each chapter is: a small file a chapter, which the process that runs it writes.

Under pytest-xdist the chapters run in workers, and the process that owns the terminal reads the
files. Trouble with them never breaks a run.
"""

import contextlib
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from iclutils.book.checker.run import ChapterRun
from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT, write_atomically

RUNNING, DONE, FAILED = "running", "done", "failed"


@dataclass(frozen=True)
class State:
    """Where a chapter stands.

    ``cell`` counts from 1. ``since`` and ``now`` are seconds since the epoch: of the chapter's
    start and of this state. ``last_seconds`` is the last run's processor time, None where there was
    no run.
    """

    label: str
    state: str
    cell: int
    cells: int
    since: float
    now: float
    last_seconds: float | None

    def sentence(self, now: float) -> str:
        """The state in words, at the time ``now``."""
        if self.state == DONE:
            return f"{self.label}: all {self.cells} cells ran, in {self.now - self.since:.0f} s"
        cell = f"cell {self.cell} of {self.cells}"
        if self.state == FAILED:
            return f"{self.label}: broken off at {cell}, after {self.now - self.since:.0f} s"
        elapsed = now - self.since
        return f"{self.label}: {cell}, {elapsed:.0f} s so far{self._left(elapsed)}"

    def _left(self, elapsed: float) -> str:
        if self.last_seconds is None:
            return ""
        left = self.last_seconds - elapsed
        if left <= 0:
            return f" (the last run took {self.last_seconds:.0f} s)"
        return f", about {left:.0f} s left"


class Progress:
    """Writes the states of the chapters that this process runs into ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._states: dict[str, State] = {}

    def cell(self, run: ChapterRun, number: int) -> None:
        """The cell ``number``, counted from 0, starts."""
        now = time.time()
        started = State(
            label=run.label,
            state=RUNNING,
            cell=1,
            cells=len(run.cells),
            since=now,
            now=now,
            last_seconds=cache.known_seconds(run.chapter, ROOT),
        )
        state = self._states.get(run.label, started)
        self._write(replace(state, cell=number + 1, now=now))

    def done(self, run: ChapterRun) -> None:
        """The last cell ran."""
        self._write(replace(self._states[run.label], state=DONE, now=time.time()))

    def failed(self, run: ChapterRun, number: int) -> None:
        """The cell ``number`` failed, and with it the chapter."""
        state = replace(self._states[run.label], state=FAILED, cell=number + 1, now=time.time())
        self._write(state)

    def _write(self, state: State) -> None:
        self._states[state.label] = state
        with contextlib.suppress(OSError):
            write_atomically(self.folder / f"{state.label}.json", json.dumps(asdict(state)))


def read(folder: Path) -> list[State]:
    """The states in ``folder``, in the order of the chapters' names."""
    states = []
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError):
            states.append(State(**json.loads(path.read_text(encoding="utf8"))))
    return states


PROGRESS = pytest.StashKey[Progress]()


def of(config: pytest.Config) -> Progress:
    """The writer of this process."""
    return config.stash[PROGRESS]
