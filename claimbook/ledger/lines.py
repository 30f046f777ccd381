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
USUAL_DOF = 63  # behind a half-width that does not say them: 64 trials are usual
ERRORS = 3.0  # by so many standard errors may the logarithm of a half-width differ
LEAST_CHANGE = 0.01  # of a half-width, relative: known as well as a number can be


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


def moved(expected: Number | None, found: Number | None, dof: float = USUAL_DOF) -> str:
    """How a number differs from what it was, in words; empty where the two agree.

    They agree where :func:`distance` is at most 1; ``dof`` are the degrees of freedom behind the
    half-width, infinite where that is known.
    """
    if expected is None or found is None:
        return "" if expected is found else "one of the two has no value"
    if distance(expected, found, dof) <= 1:
        return ""
    change = found.value - expected.value
    widths = (expected.half_width, found.half_width)
    if not any(widths):
        return f"the computed value changed by {change:+.3g}"
    if not all(widths):
        return "one of the two values is computed and the other sampled"
    if abs(change) > min(widths):
        times = abs(change) / min(widths)
        return f"the value moved by {abs(change):.3g}, which is {times:.3g} times the smaller ±"
    allowed = f"it may change by {half_width_factor(dof):.3g}"
    return f"the half-width changed by the factor {widths[1] / widths[0]:.3g}; {allowed}"


def distance(expected: Number, found: Number, dof: float = USUAL_DOF) -> float:
    """How far a number moved, in units of how far it may.

    A sampled value may move by its half-width, the smaller one of the two, and the half-width by
    :func:`half_width_factor`. A computed number, which has none, may move by
    :data:`EXACT_TOLERANCE` of it, and one that is 0 by :data:`EXACT_ZERO`.
    """
    if expected == found:
        return 0.0
    change = abs(found.value - expected.value)
    widths = (expected.half_width, found.half_width)
    if not all(widths):
        allowed = max(EXACT_TOLERANCE * abs(expected.value), EXACT_ZERO)
        return math.inf if any(widths) else change / allowed
    return max(change / min(widths), width_distance(*widths, dof))


def width_distance(
    expected: float, found: float, dof: float = USUAL_DOF, room: float | None = None
) -> float:
    """How far a half-width changed, in units of how far it may; ``room`` is what rounding may do.

    That is a unit of the second digit, to which half-widths are written.
    """
    low, high = sorted((expected, found))
    if low == high or not math.isfinite(high):
        return 0.0 if low == high else math.inf
    if room is None:
        room = 10.0 ** (math.floor(math.log10(high)) - 1) * (1 + 1e-9)
    grown = 1 + max(0.0, high - low - room) / low
    return math.log(grown) / math.log(half_width_factor(dof))


def half_width_factor(dof: float) -> float:
    r"""By which factor a half-width with so many degrees of freedom may differ from another one.

    It is itself a sample: the logarithm of the ratio of two, from trials of one law, has the
    standard error :math:`1/\sqrt{\nu}` with ν degrees of freedom. Three of them are allowed.

    >>> [round(half_width_factor(dof), 2) for dof in (9, 19, 63, 999)]
    [2.72, 1.99, 1.46, 1.1]
    """
    return math.exp(max(ERRORS / math.sqrt(dof), LEAST_CHANGE))
