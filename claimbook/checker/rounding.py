"""Texts with numbers in them: whether only another machine's rounding tells them apart.

A number may differ by two units of its last decimal place or by ``ROUNDED``; ``1e-12``, without a
decimal place, by the latter alone: it is a setting. One with its half-width,
``25.5 ± 4.4``, may differ by that, and the half-width by the factor that it has for a claim: it was
sampled, and where a training is not stable the last bit of a sum decides which way it goes.
"""

import re

from claimbook.ledger.lines import HALF_WIDTH_FACTOR

ROUNDED = 0.02  # relative; or two units of the last place that is written
UNITS = 2
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_MEASURED = re.compile(r"([-+−]?\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)")


def alike(expected: str, found: str) -> bool:
    """Whether two texts have the same words, and numbers that only rounding tells apart."""
    sampled = zip(_MEASURED.findall(expected), _MEASURED.findall(found), strict=False)
    if not all(measured_alike(before, now) for before, now in sampled):
        return False
    expected, found = _MEASURED.sub("±", expected), _MEASURED.sub("±", found)
    if _NUMBER.sub("#", expected) != _NUMBER.sub("#", found):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=True)
    return all(rounded_alike(before, now) for before, now in pairs)


def measured_alike(expected: tuple[str, str], found: tuple[str, str]) -> bool:
    """Whether two numbers with their half-widths agree as those of a claim do, or but for rounding.

    >>> measured_alike(("25.5", "4.4"), ("25.8", "3.1"))
    True
    >>> measured_alike(("25.5", "4.4"), ("25.8", "1.1"))
    False
    """
    value, half = (float(text.replace("−", "-")) for text in expected)
    now, width = (float(text.replace("−", "-")) for text in found)
    room = UNITS * last_place(expected[1]) * (1 + 1e-9)
    near = abs(now - value) <= max(half, room)
    as_wide = half / HALF_WIDTH_FACTOR <= width <= half * HALF_WIDTH_FACTOR
    return near and (as_wide or abs(width - half) <= room)


def last_place(text: str) -> float:
    """The unit of the last decimal place of a written number; 0 of one without any."""
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals else 0.0


def rounded_alike(expected: str, found: str) -> bool:
    """Whether two numbers are within two units of the last decimal place, or 2 % of each other."""
    room = max(UNITS * last_place(expected), ROUNDED * float(expected))
    return abs(float(expected) - float(found)) <= room * (1 + 1e-9)
