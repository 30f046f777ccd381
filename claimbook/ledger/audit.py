"""The audit: could a row's check have come out otherwise?

Two numbers are taken for the same one where they agree to :data:`SAME`. Two independent
measurements never do; two counts, two exponents or two shares that are 1 may, so that numbers with
few digits are not compared.
"""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from claimbook.ledger.comparison import CONTRADICTED, EQUAL, LESS, Comparison
from claimbook.ledger.record import Record
from claimbook.ledger.schema import NULL, WRONG, Row
from claimbook.ledger.text import format_value

SAME = 1e-9  # relative
DIGITS = 1e-6  # relative: a number so near to one with three digits has no more
ROOM = 0.8  # of an equality's margin: the largest half-width with which it may be tested
NOTHING = 1e-12  # a computed number below it is zero


class Named(NamedTuple):
    """A part, or a control of some kind, with its name."""

    name: str
    test: Comparison
    kind: str = ""

    def __str__(self) -> str:
        shown = f"{format_value(self.test.value, self.test.half_width)} {self.test.against}"
        what = f"{self.kind} control" if self.kind else "part"
        return f"the {what} '{self.name}' ({shown})" if self.name else f"the only part ({shown})"


def complaints(record: Record, row: Row) -> list[str]:
    """List what is wrong with a row's check, unless its field ``audit`` excuses it.

    An excuse for nothing is complained of as well.
    """
    faults = [f"{row.id}: {fault}" for fault in audit(record, row)]
    if row.audit is None:
        return faults
    return [] if faults else [f"{row.id}: its field 'audit' excuses nothing any more; remove it"]


def audit(record: Record, row: Row) -> Iterator[str]:
    """Say what is wrong with a row's check, one sentence each."""
    parts = [Named(name, one) for name, one in record.parts.items()]
    controls = [Named(name, one, row.controls[name].kind) for name, one in record.controls.items()]
    for part in parts:
        yield from _is_its_own_target(part)
    for control in controls:
        yield from _compares_nothing(control, parts)
    for named in [*parts, *controls]:
        yield from _too_wide(named)
    for first, second in combinations([*parts, *controls], 2):
        yield from _says_nothing_new(first, second)
    yield from _headline_of_no_part(record)


def _too_wide(named: Named) -> Iterator[str]:
    """Name an equality whose interval leaves no room in its margin: it has too few trials.

    Where the statement is exactly true, a half-width of :data:`ROOM` margins leaves the value a
    quarter of a half-width, about a standard error, to err before the check is undecided. A part
    that is contradicted in spite of its noise is spared, and a control that has to be.
    """
    test = named.test
    spared = named.kind == WRONG or (not named.kind and test.outcome == CONTRADICTED)
    if test.test == EQUAL and not spared and test.half_width > ROOM * test.margin:
        size = f"±{test.half_width:.2g} is more than {ROOM} of the margin {test.margin:.2g}"
        yield f"{named} could hardly be supported: its interval {size}; take more trials"


def _is_its_own_target(part: Named) -> Iterator[str]:
    """Name a part that is its theory to the last bit: that was made of the same draws."""
    test = part.test
    if test.test == EQUAL and test.value == test.bound and not _round(test.value):
        yield f"{part} is its target to the last bit: it is held against itself"


def _compares_nothing(control: Named, parts: list[Named]) -> Iterator[str]:
    """Name a control that has no number of its own, and a null one that can find no effect."""
    test, is_null = control.test, control.kind == NULL
    nothing = abs(test.value) <= NOTHING and _exact(test)
    if (is_null and test.value == 0) or (nothing and (is_null or abs(test.bound) <= NOTHING)):
        yield f"{control} is zero by construction: it compares a thing with itself"
    elif is_null and test.test != EQUAL:
        largest = max(abs(part.test.value - part.test.bound) for part in parts)
        if test.half_width > largest:
            yield f"{control} could never be supported by an effect as large as those of the parts"


def _says_nothing_new(first: Named, second: Named) -> Iterator[str]:
    """Name a second test of a number that is the first, its opposite, or follows from it."""
    one, other = _upright(first.test), _upright(second.test)
    if one.test != other.test:
        return
    accidental = _round(one.value) or _round(other.value)
    same_bound = _near(one.margin, other.margin) and _near(one.bound, other.bound)
    if not accidental and same_bound and _same_number(one, other):
        yield f"{second} is the same comparison as {first}"
    elif not first.kind and one.test != EQUAL and _same_number(one, other.mirrored):
        beyond = one.bound + other.bound  # how far the other side's bound lies on the first's side
        if _near(one.bound, -other.bound):
            yield f"{second} only negates {first}" + ("" if second.kind else ": not both can hold")
        elif second.kind == WRONG and beyond > 0 and not accidental:
            yield f"{second} can only be contradicted where {first} is supported"


def _headline_of_no_part(record: Record) -> Iterator[str]:
    """Name a number shown that has no interval where all parts have one, but for a count."""
    if record.half_width or float(record.value).is_integer():
        return
    parts = record.parts.values()
    if parts and not any(_exact(part) or part.value == record.value for part in parts):
        yield f"the number shown, {record.value:g}, is no part's and has no half-width"


def _upright(test: Comparison) -> Comparison:
    """Turn the sign of the number and of the condition: an inequality asks for more than it."""
    is_low = test.test == LESS or (test.test == EQUAL and test.value < 0)
    return test.mirrored if is_low else test


def _same_number(one: Comparison, other: Comparison) -> bool:
    return _near(one.value, other.value) and _near(one.half_width, other.half_width)


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=NOTHING)


def _exact(test: Comparison) -> bool:
    return test.half_width <= NOTHING


def _round(value: float) -> bool:
    """Tell a count, or a number with few digits but for the error of a computation."""
    return math.isclose(value, float(f"{value:.3g}"), rel_tol=DIGITS) or value.is_integer()
