"""The line of a checked claim: how its numbers are written, and when two runs agree.

A line reads ``id · verdict · value ± half-width``, or without ``±`` where the number was computed
and not sampled. The lines of a chapter whose knobs are turned begin with :data:`AT_YOUR_SETTINGS`.
``tests/expected`` holds the numbers as they are written, rounded alike.
"""

import math
from typing import NamedTuple

from claimbook.ledger.comparison import Comparison

AT_YOUR_SETTINGS = "at your settings: "
ROUNDING = 1e-12  # below it a computed number is zero
EXACT_TOLERANCE = 1e-3  # of a computed number, relative: another machine rounds differently
EXACT_ZERO = 1e-10  # the same where the number is rounding itself: a hundred times ROUNDING
COUNTS = 1e7  # below it a whole number is shown with all its digits
HALF_WIDTH_FACTOR = 1.5  # an error bar that has grown further would hide a wrong value


class Number(NamedTuple):
    """A number and its half-width, which is 0 where nothing was sampled."""

    value: float
    half_width: float

    def __str__(self) -> str:
        return format_value(*self)


def format_value(value: float, half_width: float) -> str:
    """A number with its half-width: two digits of the half-width, the value to the same place.

    A number that was computed and not sampled has the half-width 0, or one far below its last
    digit; it is shown to five digits, a count with all of them, and one at the level of rounding as
    0. From 1e5 and below 1e-3 the power of ten of a measured number is set apart.

    >>> format_value(0.3312, 0.012)
    '0.331 ± 0.012'
    >>> format_value(12, 0), format_value(1.00447213, 0), format_value(2e-17, 0)
    ('12', '1.0045', '0')
    >>> format_value(3.21e-7, 1.2e-8)
    '(3.21 ± 0.12)e-07'
    """
    if is_exact(value, half_width):
        return _exact(value)
    scale, places = _digits(value, half_width)
    value = value / 10.0**scale
    half_width = half_width / 10.0**scale
    body = f"{value:.{places}f} ± {half_width:.{places}f}"
    return f"({body})e{scale:+03d}" if scale else body


def rounded(value: float, half_width: float) -> Number:
    """The numbers that :func:`format_value` writes.

    >>> rounded(0.3312, 0.0121), rounded(2e-17, 0)
    (Number(value=0.331, half_width=0.012), Number(value=0.0, half_width=0.0))
    """
    if is_exact(value, half_width):
        return Number(float(_exact(value)), 0.0)
    scale, places = _digits(value, half_width)
    # adding 0 makes no number of −0
    return Number(round(value, places - scale) + 0.0, round(half_width, places - scale))


def _digits(value: float, half_width: float) -> tuple[int, int]:
    """The power of ten that is set apart, and the decimal places that are then shown."""
    power = math.floor(math.log10(max(abs(value), half_width)))
    scale = power if power >= 5 or power <= -4 else 0
    return scale, max(0, 1 - math.floor(math.log10(half_width / 10.0**scale)))


def _exact(value: float) -> str:
    if abs(value) < ROUNDING:
        return "0"
    is_count = abs(value) < COUNTS and float(value).is_integer()
    return f"{value:.0f}" if is_count else f"{value:.5g}"


def is_exact(value: float, half_width: float) -> bool:
    """Whether a number is shown without its half-width, which no digit of it would show."""
    return half_width <= max(1e-6 * abs(value), ROUNDING)


def comparison_text(part: Comparison) -> str:
    """One comparison: its number and what it was held against.

    >>> from claimbook.ledger.comparison import Measured, greater
    >>> comparison_text(greater(Measured(0.5, 0.066)))
    '0.500 ± 0.066 > 0'
    """
    return f"{format_value(part.value, part.half_width)} {part.against}"


def moved(expected: Number | None, found: Number | None) -> str:
    """How a number differs from what it was, in words; empty where the two agree.

    The value must lie within the expected half-width. The half-width itself may differ by
    :data:`HALF_WIDTH_FACTOR`. A computed number, which has none, must agree to
    :data:`EXACT_TOLERANCE`, and one that is 0 to :data:`EXACT_ZERO`.
    """
    if expected is None or found is None:
        return "" if expected is found else "one of the two has no value"
    change = found.value - expected.value
    if expected.half_width == 0 or found.half_width == 0:
        if expected.half_width != found.half_width:
            return "one of the two values is computed and the other sampled"
        allowed = max(EXACT_TOLERANCE * abs(expected.value), EXACT_ZERO)
        return "" if abs(change) <= allowed else f"the computed value changed by {change:+.3g}"
    return _measured_disagreement(expected.half_width, found.half_width, change)


def _measured_disagreement(expected: float, found: float, change: float) -> str:
    gap = abs(change)
    if gap > expected:
        times = gap / expected
        return f"the value moved by {gap:.3g}, which is {times:.3g} times the expected ±"
    ratio = found / expected
    if not 1 / HALF_WIDTH_FACTOR <= ratio <= HALF_WIDTH_FACTOR:
        change_allowed = f"it may change by {HALF_WIDTH_FACTOR}"
        return f"the half-width changed by the factor {ratio:.3g}; {change_allowed}"
    return ""
