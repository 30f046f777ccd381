"""When two runs agree, on a number and on the numbers in words."""

import math

import pytest

from claimbook.check.agreement import distance, number_distance, text_distance
from claimbook.ledger.comparison import Measured


@pytest.mark.parametrize(
    ("expected", "now", "times"),
    [
        ((1.0, 0.1), (1.09, 0.14), 0.9),
        ((1.0, 0.1), (1.2, 0.1), 2),  # in units of the smaller half-width
        ((1.0, 0.1), (1.09, 0.08), 1.125),
        ((1.0, 0.1), (1.0, 0.16), 1.07),  # the half-width itself
        ((1.0, 0.1), (1.0, 0.06), 1.07),
        ((7, 0), (8, 0), 142.9),
        ((7, 0), (7.006, 0), 0.86),
        ((7, 0), (7.008, 0), 1.14),
        ((0, 0), (-3e-11, 0), 0.3),
        ((0, 0), (3e-10, 0), 3),
        ((7, 0), (7, 1), math.inf),  # one is computed and the other sampled
    ],
)
def test_a_number_moves_in_units_of_how_far_it_may(expected, now, times):
    assert distance(Measured(*expected), Measured(*now)) == pytest.approx(times, rel=0.01)


@pytest.mark.parametrize(
    ("expected", "now", "same"),
    [
        *((1.0, now, same) for now, same in ((1.1, True), (1.2, False), (math.nan, False))),
        *((math.nan, now, same) for now, same in ((1.0, False), (math.nan, True))),
        *((math.inf, now, same) for now, same in ((math.inf, True), (-math.inf, False))),
    ],
)
def test_what_is_no_number_is_compared_as_it_is(expected, now, same):
    assert (number_distance([expected, 2.0], [now, 2.0], 0.11) <= 1) is same


@pytest.mark.parametrize(
    ("expected", "now", "same"),
    [
        ("14 prompts", "14 prompts", True),
        ("14 prompts", "15 prompts", False),  # a count has no last place
        ("14 prompts", "14 tasks", False),
        ("0.0 of log10", "-0.0 of log10", True),  # a sign belongs to its number
        ("0.33 of log10", "−0.33 of log10", False),
        ("0.33 of log10", "0.33 of log2", False),  # a number within a word is a word
        ("0.331", "0.333", True),
        ("0.331", "0.34", False),
        ("1.0e-05", "1.2e-05", True),
        ("1.0e-05", "1.5e-05", False),
        ("< 1e-12", "< 3e-12", False),  # a bound as it was typed
        ("−0.25 of 20", "0.25 of 20", False),
        ("25.5 ± 4.4 | 6.72", "25.8 ± 3.1 | 6.72", True),
        ("25.5 ± 4.4 | 6.72", "25.8 ± 3.1 | 6.92", False),
        ("25.5 ± 4.4", "25.8 ± 1.1", False),
        ("25.5 ± 4.4", "30.5 ± 4.4", False),
        ("+0.01 ± 0.03", "-0.01 ± 0.03", True),  # within its half-width it may change its sign
        ("1.000 ± 0.001", "1.002 ± 0.001", True),
        ("1 ± 2 and 3 ± 4", "1 ± 2 and 3", False),
    ],
)
def test_numbers_in_words_are_compared(expected, now, same):
    assert (text_distance(expected, now) <= 1) is same
