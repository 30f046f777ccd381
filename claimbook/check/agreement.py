"""When two runs agree on a number, or on a text: how far it moved, in units of how far it may.

A distance above 1 is red. Words may not move. A number may, as the rounding of another machine
moves it, or as another sample of the same law would:

- one with a half-width by that, the smaller one of the two, and the half-width by a factor that
  its degrees of freedom allow;
- one that was computed, without a half-width, by its last digits.
"""

import math
import re
from typing import Any

import numpy as np

from claimbook.ledger.comparison import Measured

EXACT_TOLERANCE = 1e-3  # of a computed number, relative: another machine rounds differently
EXACT_ZERO = 1e-10  # the same where the number is rounding itself: a hundred times its size
ROUNDED = 0.02  # the same in a text or a figure; or in a text
UNITS = 2  # of the last place that is written
USUAL_DOF = 63  # behind a half-width that does not say them: 64 trials are usual
ERRORS = 3.0  # by so many standard errors may the logarithm of a half-width differ
LEAST_CHANGE = 0.01  # of a half-width, relative: known as well as a number can be
WHOLE = 1 + 1e-9  # of a unit of the last place, as floating point has it
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_MEASURED = re.compile(r"([-+−]?\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)")


def number_distance(expected: Any, actual: Any, room: Any) -> float:
    """Measure how far a number, or the farthest of several, moved in units of ``room``.

    Two that are no number are the same.

    >>> [number_distance(1.0, actual, room) for actual, room in ((1.5, 0.25), (1.0, 0), (1.5, 0))]
    [2.0, 0.0, inf]
    """
    same = np.equal(expected, actual) | (np.isnan(expected) & np.isnan(actual))
    with np.errstate(invalid="ignore", divide="ignore"):  # ∞ − ∞
        moved = np.where(same, 0.0, np.abs(np.subtract(expected, actual)) / room)
    return float(np.nan_to_num(moved, nan=np.inf, posinf=np.inf).max(initial=0.0))


def width_distance(expected: Any, actual: Any, room: Any, dof: float = USUAL_DOF) -> float:
    r"""Measure how far a half-width, or several, changed beyond the ``room`` of their writing.

    It is itself a sample: the logarithm of the ratio of two, from trials of one law, has the
    standard error :math:`1/\sqrt{\nu}` with ν degrees of freedom. Three of them are allowed.

    >>> [round(width_distance(1.0, factor, 0.0, dof), 2) for factor, dof in ((2.72, 9), (1.46, 63))]
    [1.0, 1.0]
    """
    low, high = np.minimum(expected, actual), np.maximum(expected, actual)
    with np.errstate(invalid="ignore", divide="ignore"):
        growth = np.where(high - low > room, (high - room) / low, 1.0)
    return float(np.log(growth).max(initial=0.0)) / max(ERRORS / math.sqrt(dof), LEAST_CHANGE)


def distance(expected: Measured, actual: Measured, unit: float = 0.0) -> float:
    """Measure how far a number moved.

    Both may move by ``unit`` as they are written; by default the half-width has two digits.
    """
    widths = (expected.half_width, actual.half_width)
    if not unit:
        if not any(widths):
            room = max(EXACT_TOLERANCE * abs(expected.value), EXACT_ZERO)
            return number_distance(expected.value, actual.value, room)
        if not all(widths):  # one of the two is computed and the other sampled
            return math.inf
        unit = 10.0 ** (math.floor(math.log10(max(widths))) - 1)
    moved = number_distance(expected.value, actual.value, max(min(widths), unit * WHOLE))
    dof = expected.dof if math.isfinite(expected.dof) else USUAL_DOF
    return max(moved, width_distance(*widths, unit * WHOLE, dof))


def text_distance(expected: str, actual: str) -> float:
    """Measure how far the farthest number in a text moved; infinite where the words differ.

    A number may move by two units of its last decimal place or by ``ROUNDED``; ``1e-12``, without
    a decimal place, by the latter alone: it is a setting. One with its half-width, ``25.5 ± 4.4``,
    was sampled; both parts may also move by two units of the last place.
    """
    pairs = zip(*map(_MEASURED.findall, (expected, actual)), strict=False)
    distances = [
        distance(_number(*before), _number(*after), unit=UNITS * last_digit(before[1]))
        for before, after in pairs
    ]
    texts = [_MEASURED.sub("±", text) for text in (expected, actual)]
    if _NUMBER.sub("#", texts[0]) != _NUMBER.sub("#", texts[1]):
        return math.inf
    for before, after in zip(*map(_NUMBER.findall, texts), strict=True):
        room = max(UNITS * last_digit(before), ROUNDED * abs(_number(before).value))
        distances.append(number_distance(_number(before).value, _number(after).value, room * WHOLE))
    return max(distances, default=0.0)


def _number(value: str, half_width: str = "0") -> Measured:
    return Measured(float(value.replace("−", "-")), float(half_width))


def last_digit(text: str) -> float:
    """Find the unit of the last decimal place of a written number; 0 for one without any."""
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals else 0.0
