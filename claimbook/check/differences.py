"""How far what a page shows has moved from its reference, in units of how far it may."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from claimbook.check.agreement import text_distance
from claimbook.check.snapshot import Snapshot


class Move(NamedTuple):
    """How far one thing that a page shows has moved, in units of how far it may: above 1 is red.

    ``owner`` is a claim's id, or ``PAGE`` for what belongs to none.
    """

    owner: str
    where: str
    distance: float
    expected: Any
    actual: Any

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        if self.actual is None:
            return f"{where}expected, but not found: {self.expected}"
        if self.expected is None:
            return f"{where}found, but not in tests/expected: {self.actual}"
        far = f"moved {self.distance:.3g} times as far as it may"
        how = far if math.isfinite(self.distance) else "is another"
        return f"{where}{how}\n  expected  {self.expected}\n  found     {self.actual}"


def differences(expected: Snapshot, actual: Snapshot) -> dict[str, list[str]]:
    """Say by claim, and for the rest of the page, what moved further than it may."""
    faults: dict[str, list[str]] = {}
    for move in compare(expected, actual):
        if move.distance > 1:
            faults.setdefault(move.owner, []).append(str(move))
    return faults


def compare(expected: Snapshot, actual: Snapshot) -> Iterator[Move]:
    """Go through all that two snapshots show; what only one of them has is infinitely far."""
    before, now = expected.contents, actual.contents
    for name in before | now:
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            far = math.inf
        else:
            far = text_distance(old, new) if isinstance(old, str) else old.distance(new)
        yield Move(*name, far, old, new)
