"""Comparisons: three outcomes, what noise may do to them, and which numbers are refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimbook.ledger.comparison import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    Measured,
    equal,
    greater,
    less,
    within,
)

VALUES = st.floats(-10, 10)
FOUND = st.builds(Measured, VALUES, st.floats(0.01, 5), st.sampled_from([1, 9, math.inf]))
MARGINS = st.floats(0.1, 5)


@given(found=FOUND, bound=VALUES)
def test_inequalities_mirror_each_other(found, bound):
    opposite = {SUPPORTED: CONTRADICTED, CONTRADICTED: SUPPORTED, UNDECIDED: UNDECIDED}
    assert less(found, bound).outcome == opposite[greater(found, bound).outcome]
    assert less(-found.value, -bound).outcome == greater(found.value, bound).outcome


@given(found=FOUND, target=VALUES, tol=MARGINS, louder=st.floats(1, 50))
def test_noise_never_helps(found, target, tol, louder):
    """With the same value and more noise an outcome stays or becomes undecided."""
    quiet = equal(found, target, tol=tol)
    loud = equal(found._replace(half_width=louder * found.half_width), target, tol=tol)
    assert loud.outcome in (quiet.outcome, UNDECIDED)


@given(found=FOUND, target=VALUES, tol=MARGINS)
def test_an_equality_is_supported_where_both_ends_of_its_interval_are_within(found, target, tol):
    ends = [found.value - found.half_width, found.value + found.half_width]
    if equal(found, target, tol=tol).outcome == SUPPORTED:
        # the rounding of numbers of size 10
        assert all(abs(end - target) <= tol + 1e-12 for end in ends)
    else:
        assert any(abs(end - target) > tol - 1e-12 for end in ends)


@given(found=FOUND, low=VALUES, length=MARGINS)
def test_an_interval_is_an_equality_with_half_its_length(found, low, length):
    margin = (low + length - low) / 2
    inside = within(found, low, low + length)
    assert inside.outcome == equal(found, low + margin, tol=margin).outcome


@pytest.mark.parametrize(
    ("outcome", "found"),
    [
        # the edge belongs to the margin; all of an interval lies in it, or out of it
        (SUPPORTED, [(1.5, 0.0), (1.25, 0.25)]),
        (CONTRADICTED, [(1.6, 0.0), (2.2, 0.6), (0.2, 0.2)]),
        # it reaches out of the margin, or into it, or is wider than it
        (UNDECIDED, [(1.3, 0.25), (1.6, 0.2), (1.0, 0.6)]),
    ],
)
def test_an_equality_has_three_outcomes(outcome, found):
    assert {equal(Measured(*one, 9), 1.0, tol=0.5).outcome for one in found} == {outcome}


def test_an_inequality_has_three_outcomes():
    for value, outcome in ((1.0, SUPPORTED), (-1.0, CONTRADICTED), (0.5, UNDECIDED)):
        assert greater(Measured(value, 0.6, 9)).outcome == outcome
    assert greater(0.0).outcome == UNDECIDED
    assert greater(1e-300)  # computed, not sampled


def test_degrees_of_freedom_are_kept_where_they_matter():
    found = [Measured(1.0, 0.1, 9), Measured(1.0, 0.1, math.inf), Measured(1.0, 0.0, 9), 1.0]
    assert [greater(one).dof for one in found] == [9, None, None, None]


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda: equal(1.0, 1.0, tol=0.0)),
        (ValueError, lambda: equal(math.nan, 1.0, tol=1)),
        (ValueError, lambda: equal(1.0, math.inf, tol=1)),
        (ValueError, lambda: greater(1.0, -math.inf)),
        *(
            (ValueError, lambda bad=bad: greater(Measured(1.0, *bad)))
            for bad in ((-0.1, 9), (math.nan, 9), (math.inf, 9), (0.1, 0), (0.1, -3))
        ),
        (ValueError, lambda: within(0, 2, 1)),
        (TypeError, lambda: greater("1")),
        (TypeError, lambda: greater(True)),
        (TypeError, lambda: greater(None)),
    ],
)
def test_bad_numbers_are_refused(error, call):
    with pytest.raises(error, match="must be"):
        call()
