"""When two runs agree on a number."""

import pytest

from claimbook.check.agreement import moved
from claimbook.ledger.text import Number


def sampled(value, half_width=0.0):
    return Number(value, half_width)


@pytest.mark.parametrize(
    ("expected", "found", "message"),
    [
        (sampled(1.0, 0.1), sampled(1.09, 0.14), ""),
        (sampled(1.0, 0.1), sampled(1.2, 0.1), "moved by 0.2, which is 2 times the smaller ±"),
        (sampled(1.0, 0.1), sampled(1.09, 0.08), "1.13 times the smaller ±"),
        (sampled(1.0, 0.1), sampled(1.0, 0.16), "the half-width changed by the factor 1.6"),
        (sampled(1.0, 0.1), sampled(1.0, 0.06), "the half-width changed by the factor 0.6"),
        (sampled(7), sampled(8), "the computed value changed by +1"),
        (sampled(7), sampled(7.006), ""),
        (sampled(7), sampled(7.008), "the computed value changed by +0.008"),
        (sampled(0), sampled(-3e-11), ""),
        (sampled(0), sampled(3e-10), "the computed value changed by +3e-10"),
        (sampled(4e-12), sampled(0), ""),
        (sampled(7), sampled(7, 1), "one of the two values is computed"),
    ],
)
def test_numbers_are_compared(expected, found, message):
    said = moved(expected, found)
    assert message in said
    assert bool(message) == bool(said)
