"""The printed line: written, read back, and compared with another run's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iclutils.book.ledger import AT_YOUR_SETTINGS, HOLDS, VERDICTS, Record, format_value
from iclutils.book.ledger.lines import (
    ROUNDING,
    disagreement,
    is_exact,
    parse_line,
    parse_printed,
)


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
        (0.0, 2e-12, "(0.0 ± 2.0)e-12"),
        (150.0, 40.0, "150 ± 40"),
    ],
)
def test_a_value_is_shown_to_two_digits_of_its_error(value, half_width, text):
    assert format_value(value, half_width) == text


@given(
    value=st.floats(-1e12, 1e12),
    half_width=st.floats(0, 1e12),
    verdict=st.sampled_from(VERDICTS),
)
def test_a_line_is_read_back(value, half_width, verdict):
    """The last digit is a tenth of the half-width at most, and half of it is lost; 1e-9: float.

    Of a number without a half-width five digits are kept, and none at the level of rounding.
    """
    record = Record("c", "ch1-some.id", verdict, value, half_width, {}, {}, {}, True)
    line = parse_line(record.line() + "  (a reason (or two))")
    assert (line.id, line.verdict, line.text) == ("ch1-some.id", verdict, record.line())
    assert line.value is not None
    assert line.half_width is not None
    if is_exact(value, half_width):
        assert line.half_width == 0
        assert line.value == pytest.approx(value, rel=5e-5, abs=ROUNDING)
        assert "±" not in line.text
        assert len(format_value(value, half_width)) <= len("-1.2345e-100")
    else:
        assert abs(line.value - value) <= 0.051 * half_width + 1e-9 * abs(value)
        assert line.half_width == pytest.approx(half_width, rel=0.051)
    assert disagreement(line, line) == ""
    assert str(parse_line(str(line))) == str(line)


@given(count=st.integers(-(10**6), 10**6))
def test_a_count_is_read_back_exactly(count):
    line = parse_line(Record("c", "a", HOLDS, float(count), 0.0, {}, {}, {}, True).line())
    assert (line.value, line.half_width) == (count, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a table",
        "a · maybe · 1 ± 1",
        "a · holds · 1 ±",
        "a · holds · 1 ± 1 ± 1",
        "a · holds · nan ± 1",
        None,
        "at your settings: a · holds · 1 ± 1",
    ],
)
def test_other_text_is_not_a_line(text):
    with pytest.raises(ValueError, match="text must read"):
        parse_line(text)


@pytest.mark.parametrize(
    ("expected", "found", "message"),
    [
        ("a · holds · 1.00 ± 0.10", "a · holds · 1.09 ± 0.14", ""),
        (
            "a · holds · 1.00 ± 0.10",
            "a · holds · 1.20 ± 0.10",
            "moved by 0.2, which is 2 times the expected ±",
        ),
        (
            "a · holds · 1.00 ± 0.10",
            "a · holds · 1.00 ± 0.16",
            "the half-width changed by the factor 1.6",
        ),
        (
            "a · holds · 1.00 ± 0.10",
            "a · holds · 1.000 ± 0.060",
            "the half-width changed by the factor 0.6",
        ),
        (
            "a · holds · 1.00 ± 0.10",
            "a · fails · 1.00 ± 0.10",
            "the verdict changed from 'holds' to 'fails'",
        ),
        ("a · holds · 7", "a · holds · 8", "the computed value changed by +1"),
        ("a · holds · 7", "a · holds · 7.006", ""),
        ("a · holds · 7", "a · holds · 7.008", "the computed value changed by +0.008"),
        ("a · holds · 0", "a · holds · -3e-11", ""),
        ("a · holds · 0", "a · holds · 3e-10", "the computed value changed by +3e-10"),
        ("a · holds · 4e-12", "a · holds · 0", ""),
        ("a · holds · 7", "a · holds · 7.0 ± 1.0", "one of the two values is computed"),
        ("a · undecided · 7", "a · undecided · 7", ""),
        ("a · undecided · 7", "a · not testable · 7", "from 'undecided' to 'not testable'"),
        ("a · not testable", "a · not testable · 1.0 ± 1.0", "one of the two lines has no value"),
        ("a · not testable", "a · not testable", ""),
    ],
)
def test_lines_are_compared(expected, found, message):
    result = disagreement(parse_line(expected), parse_line(found))
    assert message in result
    assert bool(message) == bool(result)


def test_other_seeds_are_compared_by_verdict_alone():
    expected = parse_line("a · holds · 1.00 ± 0.10")
    assert disagreement(expected, parse_line("a · holds · 9.00 ± 0.50"), verdict_only=True) == ""
    assert disagreement(expected, parse_line("a · fails · 1.00 ± 0.10"), verdict_only=True)


def test_a_printed_line_may_say_that_the_knobs_are_turned():
    text = "a · holds · 1.00 ± 0.10"
    assert parse_printed(AT_YOUR_SETTINGS + text) == parse_printed(text) == parse_line(text)
    with pytest.raises(ValueError, match="text must read"):
        parse_printed("a table")
