"""The audit: could a row's check have come out otherwise?

Named are an equality whose interval is too wide to come out supported (and a null control of that
kind, which could never be caught), parts and controls that say nothing of their own (a control that
is a part's negation or the same call, one that compares nothing with nothing), and a margin that is
the deviation itself. That the verdict follows from the outcomes needs no audit: it is one function
for all rows, and tested as such.

Two numbers are taken for the same one where they agree to :data:`SAME`. Two independent
measurements never do; two counts, two exponents or two shares that are 1 may, so that numbers with
few digits are not compared.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from claimbook.ledger.comparison import CONTRADICTED, EQUAL, GREATER, LESS, Comparison
from claimbook.ledger.lines import comparison_text
from claimbook.ledger.record import Record
from claimbook.ledger.schema import NULL, WRONG, Row

SAME = 1e-9  # relative
EDGE = 1e-6  # of the margin: a value that lies so near to its edge was put there
ROOM = 0.8  # of an equality's margin: the largest half-width with which it may be tested
LISTED = 5  # findings of one row that are said before the rest is counted
NOTHING = 1e-12  # a computed number below it is zero

MIRRORED = {GREATER: LESS, LESS: GREATER, EQUAL: EQUAL}


class Named(NamedTuple):
    """A part or a control with its name."""

    name: str
    found: Comparison
    kind: str = ""  # of a control

    def __str__(self) -> str:
        shown = comparison_text(self.found)
        what = f"{self.kind} control" if self.kind else "part"
        return f"the {what} '{self.name}' ({shown})" if self.name else f"the only part ({shown})"


def audit(record: Record, row: Row) -> list[str]:
    """What is wrong with a row's check, one sentence each; empty where nothing is.

    >>> from types import SimpleNamespace
    >>> from claimbook.ledger.comparison import Measured, greater, less
    >>> slope = {"slope": greater(Measured(0.3, 0.049))}
    >>> controls = {"wrong": less(Measured(0.3, 0.049))}
    >>> record = Record("c", "r", "holds", 0.3, 0.05, slope, controls, {}, True)
    >>> row = SimpleNamespace(controls={"wrong": SimpleNamespace(kind="wrong")})
    >>> for finding in audit(record, row):
    ...     print(finding)
    the wrong control 'wrong' (0.300 ± 0.049 < 0) only negates the part 'slope' (0.300 ± 0.049 > 0)
    """
    parts = [Named(name, found) for name, found in record.parts.items()]
    controls = [
        Named(name, found, row.controls[name].kind) for name, found in record.controls.items()
    ]
    return [*_alone(parts, controls), *_together(parts, controls)]


def complaints(found: list[str], row: Row) -> list[str]:
    """What of the findings is not excused: a row's field ``audit`` says why they may stand.

    An excuse for nothing is complained of as well.
    """
    if row.audit is None:
        listed = [f"{row.id}: {finding}" for finding in found[:LISTED]]
        left = len(found) - LISTED
        return [*listed, f"{row.id}: and {left} more findings of this row"] if left > 0 else listed
    if found:
        return []
    return [f"{row.id}: its field 'audit' excuses nothing any more; remove it"]


# -------------------------------------------------------------- each comparison by itself


def _alone(parts: list[Named], controls: list[Named]) -> Iterator[str]:
    for named in [*parts, *controls]:
        if named.kind != WRONG:
            yield from _is_narrow_enough(named)
        if named.kind:
            yield from _compares_something(named)
        else:
            yield from _not_at_its_edge(named)


def _is_narrow_enough(named: Named) -> Iterator[str]:
    """An equality's interval must leave room in the margin, or trials enough were not taken.

    Where the statement is exactly true, a half-width of :data:`ROOM` margins leaves the value a
    quarter of a half-width, about a standard error, to err before the check is undecided. A part
    that is contradicted in spite of its noise is spared: it lies far outside.
    """
    found = named.found
    if not found.two_sided or (found.outcome == CONTRADICTED and not named.kind):
        return
    if found.half_width > ROOM * found.margin:
        size = f"±{found.half_width:.2g} is more than {ROOM} of the margin {found.margin:.2g}"
        yield f"{named} could hardly be supported: its interval {size}; take more trials"


def _compares_something(named: Named) -> Iterator[str]:
    """A control that computes to zero and is held against zero has measured nothing.

    Neither has a null control whose draws differ by exactly zero, whatever half-width they have.
    """
    found = named.found
    is_nothing = abs(found.value) <= NOTHING and found.half_width <= NOTHING
    is_itself = named.kind == NULL and found.value == 0
    if is_itself or (is_nothing and (named.kind == NULL or abs(found.bound) <= NOTHING)):
        yield f"{named} is zero by construction: it compares a thing with itself"


def _not_at_its_edge(named: Named) -> Iterator[str]:
    """A tolerance that was made from the deviation puts the value on its edge."""
    found = named.found
    deviation = abs(found.value - found.bound)
    edges = [found.margin, found.half_width, abs(found.margin - found.half_width)]
    edges.append(found.margin + found.half_width)
    for edge in edges:
        if edge > 0 and abs(deviation - edge) <= EDGE * edge and not _whole(found.value, edge):
            yield f"{named} lies on the edge of its own tolerance: was that made from the value?"
            return
    if found.two_sided and found.value == found.bound and not _round(found.value):
        yield f"{named} is its target to the last bit: it is held against itself"


# -------------------------------------------------------------- two comparisons of one row


def _together(parts: list[Named], controls: list[Named]) -> Iterator[str]:
    for first, second in combinations([*parts, *controls], 2):
        if same_call(first.found, second.found):
            yield f"{second} is the same comparison as {first}"
        elif first.kind:  # two controls may negate each other
            continue
        elif negates(first.found, second.found):
            both = "" if second.kind else ": they cannot both hold"
            yield f"{second} only negates {first}{both}"
        elif second.kind == WRONG and follows(first.found, second.found):
            yield f"{second} can only be contradicted where {first} is supported"


def same_call(first: Comparison, second: Comparison) -> bool:
    """Whether two comparisons hold the same number against the same condition.

    The sign of the number, turned together with the condition's, makes no difference.
    """
    if _accidental(first, second):
        return False
    return _agree(first, second) or _agree(first, mirrored(second))


def negates(first: Comparison, second: Comparison) -> bool:
    """Whether one of two inequalities is supported exactly where the other is contradicted."""
    if first.two_sided or second.two_sided:
        return False
    turned = replace(second, test=MIRRORED[second.test])
    return _agree(first, turned) or _agree(first, mirrored(turned))


def follows(part: Comparison, control: Comparison) -> bool:
    """Whether a control is contradicted as a matter of course where the part is supported.

    That is so where the same number is held against a bound on the other side: of x > 0 supported,
    x < −1 says nothing more.
    """
    if part.two_sided or control.two_sided or _accidental(part, control):
        return False
    for other in (control, mirrored(control)):
        if _same_number(part, other) and part.test == MIRRORED[other.test]:
            beyond = other.bound - part.bound
            return beyond <= 0 if part.test == GREATER else beyond >= 0
    return False


def mirrored(found: Comparison) -> Comparison:
    """The same comparison of the number with the other sign."""
    turned = MIRRORED[found.test]
    return replace(found, value=-found.value, test=turned, bound=-found.bound)


def _agree(first: Comparison, second: Comparison) -> bool:
    return (
        first.test == second.test
        and _same_number(first, second)
        and _close(first.bound, second.bound)
        and _close(first.margin, second.margin)
    )


def _same_number(first: Comparison, second: Comparison) -> bool:
    return _close(first.value, second.value) and _close(first.half_width, second.half_width)


def _accidental(first: Comparison, second: Comparison) -> bool:
    """Whether two numbers may be equal by accident: counts, exponents, shares of 0 or 1."""
    return any(_round(found.value) for found in (first, second))


def _close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=SAME, abs_tol=NOTHING)


def _round(value: float) -> bool:
    """Whether a number is a count, or one with few digits but for the error of a computation."""
    return math.isclose(value, float(f"{value:.3g}"), rel_tol=EDGE) or value.is_integer()


def _whole(value: float, edge: float) -> bool:
    return _round(value) and _round(edge)
