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
    place: str
    distance: float
    expected: Any
    found: Any

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        if self.found is None:
            return f"{place}expected, but not found: {self.expected}"
        if self.expected is None:
            return f"{place}found, but not in tests/expected: {self.found}"
        far = f"moved {self.distance:.3g} times as far as it may"
        how = far if math.isfinite(self.distance) else "is another"
        return f"{place}{how}\n  expected  {self.expected}\n  found     {self.found}"


def differences(expected: Snapshot, found: Snapshot) -> dict[str, list[str]]:
    """Say by claim, and for the rest of the page, what moved further than it may."""
    said: dict[str, list[str]] = {}
    for move in compare(expected, found):
        if move.distance > 1:
            said.setdefault(move.owner, []).append(str(move))
    return said


def compare(expected: Snapshot, found: Snapshot) -> Iterator[Move]:
    """Go through all that two snapshots show; what only one of them has is infinitely far."""
    before, now = expected.contents, found.contents
    for name in before | now:
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            yield Move(*name, math.inf, old, new)
        elif isinstance(old, str):
            yield Move(*name, text_distance(old, new), old, new)
        else:
            yield Move(*name, old.distance(new), old, new)
