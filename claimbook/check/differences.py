"""How far what a page shows has moved from its reference, in units of how far it may.

Words may not move. Numbers may, as another machine's rounding moves them: those of a claim as
:func:`claimbook.check.agreement.distance` says, those in prose, output and tables as
:mod:`claimbook.check.rounding` does, those of figures as :mod:`claimbook.check.figure_snapshot`.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from claimbook.check import figure_snapshot, rounding
from claimbook.check.agreement import USUAL_DOF, distance, moved
from claimbook.check.snapshot import Claim, Part, Snapshot

PAGE = "page"  # the owner of what belongs to no claim


class Move(NamedTuple):
    """How far one thing that a page shows has moved, in units of how far it may: above 1 is red.

    ``owner`` is a claim's id, or :data:`PAGE`.
    """

    owner: str
    place: str
    distance: float
    message: str = ""


def differences(expected: Snapshot, found: Snapshot) -> dict[str, list[str]]:
    """Say by claim, and for the rest of the page, what moved further than it may."""
    said: dict[str, list[str]] = {}
    for move in compare(expected, found):
        if move.distance > 1:
            words = ": ".join(filter(None, (move.place, move.message)))
            said.setdefault(move.owner, []).append(words.replace(": \n", "\n"))
    return said


def compare(expected: Snapshot, found: Snapshot) -> Iterator[Move]:
    """Go through all that two snapshots show; what only one of them has is infinitely far."""
    for id in found.claims:
        if id not in expected.claims:
            yield Move(id, "", math.inf, "checked, but has no entry in tests/expected")
    for id, claim in expected.claims.items():
        if id in found.claims:
            yield from _compare_claims(id, claim, found.claims[id])
        else:
            said = f"not checked by the page\n  expected  {claim.claim}"
            yield Move(id, "", math.inf, said)
    before, now = expected.texts, found.texts
    yield from _only_one(PAGE, "texts", list(before), list(now))
    for place in [one for one in before if one in now]:
        said = f"\n  expected  {before[place]}\n  found     {now[place]}"
        yield Move(PAGE, place, rounding.distance(before[place], now[place]), said)
    yield from _only_one(PAGE, "figures", list(expected.figures), list(found.figures))
    for name in [one for one in expected.figures if one in found.figures]:
        for one in figure_snapshot.compare(expected.figures[name], found.figures[name]):
            yield Move(PAGE, ", ".join(filter(None, (name, one[0]))), *one[1:])


def _only_one(owner: str, what: str, expected: list[str], found: list[str]) -> Iterator[Move]:
    """Name what only one of two lists has, or that their order is another."""
    if expected != found:
        gone = [one for one in expected if one not in found]
        new = [one for one in found if one not in expected]
        said = f"only expected {gone}, only found {new}" if gone or new else "in another order"
        yield Move(owner, what, math.inf, said)


def _compare_claims(id: str, expected: Claim, found: Claim) -> Iterator[Move]:
    before, now = expected.claim, found.claim
    values = f"\n  expected  {before}\n  found     {now}"
    if before.verdict != now.verdict:
        said = f"the verdict changed from '{before.verdict}' to '{now.verdict}'"
        yield Move(id, "", math.inf, said + values)
    else:
        numbers = (before.number, now.number, expected.dof)
        yield Move(id, "", distance(*numbers), moved(*numbers) + values)
    for what, old, new in (
        ("part", expected.parts, found.parts),
        ("control", expected.controls, found.controls),
    ):
        yield from _only_one(id, f"{what}s", list(old), list(new))
        for name in [one for one in old if one in new]:
            apart, said = part_distance(old[name], new[name])
            values = f"\n  expected  {old[name]}\n  found     {new[name]}"
            yield Move(id, f"{what} '{name}'", apart, said + values)


def part_distance(expected: Part, found: Part) -> tuple[float, str]:
    """Tell how far a comparison is from what it was, and in words what is another."""
    if expected.outcome != found.outcome:
        said = f"the outcome changed from {expected.outcome} to {found.outcome}"
        return math.inf, said
    if not rounding.alike(expected.against, found.against):
        said = f"it is held against '{found.against}', and was against '{expected.against}'"
        return math.inf, said
    numbers = (expected.number, found.number, expected.dof or USUAL_DOF)
    return distance(*numbers), moved(*numbers)
