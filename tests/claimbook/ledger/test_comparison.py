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
NUMBERS = st.builds(Measured, VALUES, st.floats(0.01, 5), st.sampled_from([1, 9, math.inf]))
MARGINS = st.floats(0.1, 5)


@given(number=NUMBERS, bound=VALUES)
def test_inequalities_mirror_each_other(number, bound):
    opposite = {SUPPORTED: CONTRADICTED, CONTRADICTED: SUPPORTED, UNDECIDED: UNDECIDED}
    assert less(number, bound).outcome == opposite[greater(number, bound).outcome]
    assert less(-number.value, -bound).outcome == greater(number.value, bound).outcome


@given(number=NUMBERS, target=VALUES, tol=MARGINS, louder=st.floats(1, 50))
def test_noise_never_helps(number, target, tol, louder):
    """With the same value and more noise an outcome stays or becomes undecided."""
    quiet = equal(number, target, tol=tol)
    loud = equal(number._replace(half_width=louder * number.half_width), target, tol=tol)
    assert loud.outcome in (quiet.outcome, UNDECIDED)


@given(number=NUMBERS, low=VALUES, length=MARGINS)
def test_an_interval_is_an_equality_with_half_its_length(number, low, length):
    margin = (low + length - low) / 2
    inside = within(number, low, low + length)
    assert inside.outcome == equal(number, low + margin, tol=margin).outcome


@pytest.mark.parametrize(
    ("outcome", "numbers"),
    [
        # the edge belongs to the margin; all of an interval lies in it, or out of it
        (SUPPORTED, [(1.5, 0.0), (1.25, 0.25), (0.75, 0.25)]),
        (CONTRADICTED, [(1.6, 0.0), (2.2, 0.6), (0.2, 0.2)]),
        # it reaches out of the margin, or into it, or is wider than it
        (UNDECIDED, [(1.3, 0.25), (1.6, 0.2), (0.3, 0.3), (1.0, 0.6)]),
    ],
)
def test_an_equality_has_three_outcomes(outcome, numbers):
    assert {equal(Measured(*one, 9), 1.0, tol=0.5).outcome for one in numbers} == {outcome}


def test_an_inequality_has_three_outcomes_and_degrees_of_freedom_where_they_matter():
    for value, outcome in ((1.0, SUPPORTED), (-1.0, CONTRADICTED), (0.5, UNDECIDED)):
        assert greater(Measured(value, 0.6, 9)).outcome == outcome
    assert greater(0.0).outcome == UNDECIDED
    assert greater(1e-300).outcome == SUPPORTED  # computed, not sampled
    numbers = [Measured(1.0, 0.1, 9), Measured(1.0, 0.1, math.inf), Measured(1.0, 0.0, 9), 1.0]
    assert [greater(one).dof for one in numbers] == [9, None, None, None]


BAD = [(-0.1, 9), (math.nan, 9), (math.inf, 9), (0.1, 0), (0.1, -3)]


@pytest.mark.parametrize(
    ("test", "arguments"),
    [
        *((equal, numbers) for numbers in ((1, 1, 0), (math.nan, 1, 1), (1, math.inf, 1))),
        (within, (0, 2, 1)),
        *((one, (1.0, -math.inf)) for one in (greater, less)),
        (greater, (math.inf,)),
        *((greater, [Measured(1.0, *bad)]) for bad in BAD),
        *((greater, [bad]) for bad in ("1", True, None)),
    ],
)
def test_bad_numbers_are_refused(test, arguments):
    names = "target|tol|low|bound|value|half_width|dof"
    with pytest.raises((TypeError, ValueError), match=f"^({names}) must be"):
        test(*arguments)
