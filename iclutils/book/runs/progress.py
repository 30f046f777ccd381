"""How far a long run is: jobs done of all, seconds, and about how many are left."""

import sys
import time
from collections.abc import Callable
from typing import TextIO


class Progress:
    """One line that is renewed on a terminal; elsewhere plain lines, one an ``interval`` at most.

    ``interval`` is in seconds; ``out`` is standard error where it is not given.

    >>> ticks = iter([0, 4, 6, 12])
    >>> progress = Progress("squares", 3, out=sys.stdout, interval=5, clock=lambda: next(ticks))
    squares: 0 of 3 jobs done
    >>> for _ in range(3):  # the first job ends too soon after the line above
    ...     progress.advance()
    squares: 2 of 3 jobs done in 6 s, about 3 s left
    squares: 3 of 3 jobs done in 12 s
    """

    def __init__(
        self,
        name: str,
        total: int,
        *,
        out: TextIO | None = None,
        interval: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.total = total
        self.done = 0
        self._out = sys.stderr if out is None else out
        self._interval = interval
        self._clock = clock
        self._start = clock()
        self._said = self._start
        self._say(f"{name}: 0 of {total} jobs done")

    def advance(self) -> None:
        """One more job is done."""
        self.done += 1
        now = self._clock()
        due = now - self._said >= self._interval
        if due or self.done == self.total or self._out.isatty():
            self._said = now
            self._say(self.line(now - self._start))

    def line(self, seconds: float) -> str:
        """What is done after some ``seconds``, and what is left if jobs go on to take as long."""
        words = f"{self.name}: {self.done} of {self.total} jobs done in {seconds:.0f} s"
        if 0 < self.done < self.total:
            left = seconds / self.done * (self.total - self.done)
            words += f", about {left:.0f} s left"
        return words

    def _say(self, words: str) -> None:
        if self._out.isatty():
            end = "\n" if self.done == self.total else ""
            self._out.write(f"\r\x1b[K{words}{end}")
        else:
            self._out.write(f"{words}\n")
        self._out.flush()
