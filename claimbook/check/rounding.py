"""How far the numbers in a text moved, in units of how far they may.

A number may move by two units of its last decimal place or by ``ROUNDED``; ``1e-12``, without a
decimal place, by the latter alone: it is a setting. One with its half-width, ``25.5 ± 4.4``, was
sampled: it may move by that, and the half-width as a claim's may, both at least by what is written.
"""

import math
import re

from claimbook.check.agreement import width_distance

ROUNDED = 0.02  # relative; or two units of the last place that is written
UNITS = 2
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_MEASURED = re.compile(r"([-+−]?\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)")


def alike(expected: str, found: str) -> bool:
    """Tell whether two texts have the same words, and numbers no further apart than they may be."""
    return distance(expected, found) <= 1


def distance(expected: str, found: str) -> float:
    """Measure how far the numbers of two texts are apart at most, in units of how far they may be.

    Infinite where the words differ.
    """
    measured = zip(_MEASURED.findall(expected), _MEASURED.findall(found), strict=False)
    apart = [measured_distance(before, now) for before, now in measured]
    expected, found = _MEASURED.sub("±", expected), _MEASURED.sub("±", found)
    if _NUMBER.sub("#", expected) != _NUMBER.sub("#", found):
        return math.inf
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=True)
    return max([0.0, *apart, *(number_distance(before, now) for before, now in pairs)])


def measured_distance(expected: tuple[str, str], found: tuple[str, str]) -> float:
    """Measure how far apart two numbers with half-widths are, in units of how far they may be.

    >>> measured_distance(("25.5", "4.4"), ("25.8", "3.1")) < 1
    True
    >>> measured_distance(("25.5", "4.4"), ("25.8", "1.1")) < 1
    False
    """
    value, half = (float(text.replace("−", "-")) for text in expected)
    now, width = (float(text.replace("−", "-")) for text in found)
    room = UNITS * last_place(expected[1]) * (1 + 1e-9)
    low = min(half, width)
    if value == now and half == width:
        return 0.0
    if not max(low, room):
        return math.inf
    moved = abs(now - value) / max(low, room)
    if abs(width - half) <= room:
        return moved
    return max(moved, width_distance(half, width, room=room)) if low else math.inf


def last_place(text: str) -> float:
    """Find the unit of the last decimal place of a written number; 0 for one without any."""
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals else 0.0


def number_distance(expected: str, found: str) -> float:
    """Measure how far apart two numbers are, in units of two of the last place or of 2 %."""
    before, now = (float(text.replace("−", "-")) for text in (expected, found))
    change = abs(before - now)
    room = max(UNITS * last_place(expected), ROUNDED * abs(before)) * (1 + 1e-9)
    if not change:
        return 0.0
    return change / room if room else math.inf
