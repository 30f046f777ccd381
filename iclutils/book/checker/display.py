"""What is said while chapters run: on a terminal lines that are updated, in a log plain lines.

pytest's own reporter writes its dots between these lines, so that the display always leaves the
cursor where the reporter believes it to be.
"""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from iclutils.book.checker import progress
from iclutils.book.checker.progress import RUNNING, State

LOG_EVERY = 12.0  # seconds between two lines about a chapter in a log
LOOK_EVERY = 1.0  # seconds between two looks at the chapters' states

_ERASE_LINE = "\r\x1b[2K"
_UP = "\x1b[1A"


class Display:
    """Shows how far the chapters are whose states appear in ``folder``.

    ``width`` is how much pytest's reporter has written on its present line, in characters.
    """

    def __init__(self, stream: TextIO, folder: Path, width: Callable[[], int]) -> None:
        self._stream = stream
        self._folder = folder
        self._width = width
        self._interactive = stream.isatty()
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="progress", daemon=True)
        self._said: dict[str, float] = {}  # when a chapter's last line was written
        self._ended: set[str] = set()
        self._drawn = 0  # status lines on the terminal
        self._drawn_at = 0  # the reporter's column when they were drawn
        self._width_at_line = 0  # the reporter's width when a line was last written

    def start(self) -> None:
        """Look every second from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Say what ended last, and be silent."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        self.tick(time.time())
        with self._lock:
            self._erase()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to pytest's reporter."""
        with self._lock:
            self._erase()
            yield

    def line(self, text: str) -> None:
        """Write a line that stays."""
        with self._lock:
            self._erase()
            start = "\n" if self._column() else ""
            self._write(f"{start}{text}\n")
            self._width_at_line = self._width()

    def tick(self, now: float) -> None:
        """Show the states of the chapters at the time ``now``, in seconds since the epoch."""
        with self._lock:
            states = progress.read(self._folder)
            for state in states:
                if self._is_due(state, now):
                    self.line(state.sentence(now))
                    self._said[state.label] = now
                    if state.state != RUNNING:
                        self._ended.add(state.label)
            if self._interactive:
                self._draw([state.sentence(now) for state in states if state.state == RUNNING])

    def _is_due(self, state: State, now: float) -> bool:
        """Whether a chapter deserves a line that stays."""
        if state.label in self._ended:
            return False
        if state.state != RUNNING:
            return True
        due = now - self._said.get(state.label, -LOG_EVERY) >= LOG_EVERY
        return due and not self._interactive

    def _loop(self) -> None:
        while not self._stopped.wait(LOOK_EVERY):
            with contextlib.suppress(OSError, ValueError):
                self.tick(time.time())

    def _column(self) -> int:
        """Where the reporter's line really ends: the lines written here broke it."""
        width = self._width()
        return width - self._width_at_line if width >= self._width_at_line else width

    def _draw(self, lines: list[str]) -> None:
        self._erase()
        if not lines:
            return
        columns = shutil.get_terminal_size().columns - 1
        self._drawn_at = self._column()
        self._drawn = len(lines)
        start = "\n" if self._drawn_at else ""
        self._write(start + "\n".join(line[:columns] for line in lines))

    def _erase(self) -> None:
        """Take the status lines away and put the cursor back where the reporter left it."""
        if not self._drawn:
            return
        self._write(_ERASE_LINE + (_UP + _ERASE_LINE) * (self._drawn - 1))
        if self._drawn_at:
            self._write(f"{_UP}\x1b[{self._drawn_at}C")
        self._drawn = 0

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


def real_stdout() -> TextIO | None:
    """A stream of its own to where stdout goes now, before pytest captures what tests write."""
    try:
        return os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8", errors="replace")
    except (AttributeError, OSError, ValueError):  # stdout is no file
        return None
