"""Numbers and outcomes in words: written, rounded, counted."""

import pytest

from claimbook.ledger.comparison import Measured, greater
from claimbook.ledger.text import format_value, rounded, typeset, what_came_out

YES = greater(1.0)
NO = greater(-1.0)
MAYBE = greater(Measured(0.1, 6.6))


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (-2.0, 0.5, "-2.00 ± 0.50"),
        (1234567.0, 0, "1234567"),
        (123456789.0, 0, "1.2346e+08"),
        (2 / 3, 1e-9, "0.66667"),  # no digit of it would show the half-width
        (-3.2e-11, 0, "-3.2e-11"),
        (4.5e6, 1e5, "(4.50 ± 0.10)e+06"),
        (98765.0, 432.0, "98765 ± 432"),
        (0.0, 2e-12, "(0.0 ± 2.0)e-12"),
        (-0.0001, 0.5, "-0.00 ± 0.50"),
    ],
)
def test_a_value_is_shown_to_two_digits_of_its_error_and_rounded_to_the_same(
    value, half_width, text
):
    assert format_value(value, half_width) == text
    assert format_value(*rounded(value, half_width)) == text.replace("-0.00 ", "0.00 ")


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"alone": NO}, "The statement does not hold."),
        ({"a": YES, "b": YES, "c": YES}, "All 3 parts hold."),
        ({"a": NO, "b": NO}, "Neither part holds: both are contradicted."),
        ({"a": MAYBE, "b": MAYBE}, "All 2 parts are undecided."),
        ({"a": NO, "b": MAYBE}, "0 of 2 parts hold. Contradicted: a. Undecided: b."),
        (
            {"a": YES} | {f"n{i}": NO for i in range(6)} | {"m": MAYBE},
            "1 of 8 parts hold. Contradicted: n0; n1; n2; n3; and 2 more. Undecided: m.",
        ),
    ],
)
def test_it_says_what_holds_what_does_not_and_where(parts, sentence):
    assert what_came_out(parts) == sentence


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("-0.50", "−0.50"),
        ("7.2e-05", "7.2\xa0· 10⁻⁵"),
        ("-1e+10", "−10¹⁰"),
        ("(-4.8 ± 1.8)e-04", "(−4.8\xa0±\xa01.8)\xa0· 10⁻⁴"),
        ("from 20 000 to 100 000 steps", "from 20\xa0000 to 100\xa0000 steps"),
        ("in 2000 1000000", "in 2000 1000000"),
        ("-0.00 ± 0.02", "0.00\xa0±\xa00.02"),
        ("+0.00 ± 0.01", "0.00\xa0±\xa00.01"),
        ("+0.05", "+0.05"),
        ("w^(d/2-1)", "w<sup>d/2−1</sup>"),
        ("Σ^½, e_ICL", "Σ<sup>½</sup>, e<sub>ICL</sub>"),
        ("r^−(d+0)/2", "r^−(d+0)/2"),  # where an exponent without brackets ends is not known
        ("N = K^1.5. Longer: K^a", "N = K<sup>1.5</sup>. Longer: K<sup>a</sup>"),
        ("regression/training_jobs.py", "regression/training_jobs.py"),
        ("F^aff, w^*", "F^aff, w^*"),
        ("2024-05-01", "2024-05-01"),
    ],
)
def test_numbers_and_symbols_of_a_page(text, html):
    assert typeset(text) == html
