"""The numbers of a verdict's line: written, rounded, and compared with another run's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimbook.ledger import format_value
from claimbook.ledger.lines import ROUNDING, Number, is_exact, moved, rounded


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (0.3312, 0.012, "0.331 ± 0.012"),
        (-2.0, 0.5, "-2.00 ± 0.50"),
        (12, 0, "12"),
        (1234567.0, 0, "1234567"),
        (123456789.0, 0, "1.2346e+08"),
        (1.004472134567, 0, "1.0045"),
        (2 / 3, 1e-9, "0.66667"),  # no digit of it would show the half-width
        (1e-17, 0, "0"),
        (-3.2e-11, 0, "-3.2e-11"),
        (3.21e-7, 1.2e-8, "(3.21 ± 0.12)e-07"),
        (4.5e6, 1e5, "(4.50 ± 0.10)e+06"),
        (123456.0, 789.0, "(1.2346 ± 0.0079)e+05"),
        (98765.0, 432.0, "98765 ± 432"),
        (0.0, 2e-12, "(0.0 ± 2.0)e-12"),
        (150.0, 40.0, "150 ± 40"),
        (-0.0001, 0.5, "-0.00 ± 0.50"),
    ],
)
def test_a_value_is_shown_to_two_digits_of_its_error_and_rounded_to_the_same(
    value, half_width, text
):
    assert format_value(value, half_width) == text
    assert str(rounded(value, half_width)) == text.replace("-0.00 ", "0.00 ")


@given(value=st.floats(-1e12, 1e12), half_width=st.floats(0, 1e12))
def test_rounded_numbers_are_those_that_are_written(value, half_width):
    """The last digit is a tenth of the half-width at most, and half of it is lost; 1e-9: float.

    Of a number without a half-width five digits are kept, and none at the level of rounding.
    """
    number = rounded(value, half_width)
    if is_exact(value, half_width):
        assert number.half_width == 0
        assert number.value == pytest.approx(value, rel=5e-5, abs=ROUNDING)
        assert "±" not in format_value(value, half_width)
        assert len(format_value(value, half_width)) <= len("-1.2345e-100")
    else:
        assert abs(number.value - value) <= 0.051 * half_width + 1e-9 * abs(value)
        assert number.half_width == pytest.approx(half_width, rel=0.051)
    assert moved(number, number) == ""


@given(count=st.integers(-(10**6), 10**6))
def test_a_count_is_kept_exactly(count):
    assert rounded(float(count), 0.0) == (count, 0.0)


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
        (None, sampled(1, 1), "one of the two has no value"),
        (sampled(1, 1), None, "one of the two has no value"),
        (None, None, ""),
    ],
)
def test_numbers_are_compared(expected, found, message):
    said = moved(expected, found)
    assert message in said
    assert bool(message) == bool(said)
