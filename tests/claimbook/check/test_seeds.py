"""The master seed: what another one leaves alone is named, and what moves without an interval."""

import pytest

from claimbook.check.seeds import odd_numbers
from claimbook.ledger import Record
from claimbook.ledger.comparison import Comparison

STAYED, MOVED = "did not move", "moved, but has no half-width"
PART, HEADLINE = "a, part 'd = 5': ", "a, the headline: "


def record(value, half_width, part, part_half_width):
    """Make a row with a headline, one part and nothing else."""
    parts = {"d = 5": Comparison(part, part_half_width, "> 0", "supported")}
    return {"a": Record("00_mini", "a", "holds", value, half_width, parts, {}, {}, True)}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ((1.2, 0.1, 2.1, 0.1), (1.5, 0.1, 2.0, 0.1), []),
        ((1.2, 0.1, 2.0, 0.1), (1.5, 0.1, 2.0, 0.1), [f"{PART}2 ± 0.1 {STAYED}"]),
        ((1.5, 0.1, 2.1, 0.1), (1.5, 0.1, 2.0, 0.1), [f"{HEADLINE}1.5 ± 0.1 {STAYED}"]),
        # a difference, rounded as its terms are
        ((1.2, 0.1, 0.002, 0.1), (1.5, 0.1, 0.002 + 1e-14, 0.1), [f"{PART}0.002 ± 0.1 {STAYED}"]),
        ((0.0, 0.1, 1.0, 0.1), (0.0, 0.1, 1.0, 0.1), []),  # shares of none, and of all
        ((1.0, 0.0, 2.0, 0.0), (1.0, 0.0, 2.0, 0.0), []),  # computed
        ((1.0, 0.0, 2.0, 0.0), (1.1, 0.0, 2.1, 0.0), [f"{PART}{MOVED}: it was sampled"]),
    ],
)
def test_what_does_not_hang_on_the_seed_as_it_should_is_named(before, after, found):
    assert list(odd_numbers(record(*before), record(*after))) == found


@pytest.mark.parametrize("entry", ["a", "a, part 'd = 5'", "a, part 'd = *"])
def test_what_is_listed_may_do_so(entry):
    stayed = record(1.5, 0.1, 2.0, 0.1)
    left = [] if entry == "a" else [f"{HEADLINE}1.5 ± 0.1 {STAYED}"]
    assert list(odd_numbers(stayed, stayed, fixed=[entry])) == left
    before, after = record(1.0, 0.0, 2.0, 0.0), record(1.0, 0.0, 2.1, 0.0)
    assert list(odd_numbers(before, after, sampled=[entry])) == []
    assert list(odd_numbers(before, after, fixed=[entry])) != []
