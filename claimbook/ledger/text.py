"""How numbers and outcomes become text: the one place where a number is written.

A checked claim's line reads ``id · verdict · value ± half-width``, or without ``±`` where the
number was computed and not sampled. The lines of a chapter whose knobs are turned begin with
:data:`AT_YOUR_SETTINGS`. ``tests/expected`` holds the numbers as they are written, rounded alike.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from claimbook.ledger.comparison import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    Comparison,
    Estimate,
)

AT_YOUR_SETTINGS = "at your settings: "
ROUNDING = 1e-12  # below it a computed number is zero
COUNTS = 1e7  # below it a whole number is shown with all its digits
KINDS = re.compile(r"\brelu\b")  # chapters name a part by what the package calls its tasks
NAMED = 4  # parts that a sentence names before it counts the rest
WORDS = {SUPPORTED: "holds", CONTRADICTED: "does not hold", UNDECIDED: "is undecided"}


class Number(NamedTuple):
    """A number and its half-width, which is 0 where nothing was sampled."""

    value: float
    half_width: float

    def __str__(self) -> str:
        return format_value(*self)


# ------------------------------------------------------------------ numbers


def format_value(value: float, half_width: float) -> str:
    """Write a number with its half-width: two digits of that, the value to the same place.

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
    """Round a number as :func:`format_value` writes it.

    >>> rounded(0.3312, 0.0121), rounded(2e-17, 0)
    (Number(value=0.331, half_width=0.012), Number(value=0.0, half_width=0.0))
    """
    if is_exact(value, half_width):
        return Number(float(_exact(value)), 0.0)
    scale, places = _digits(value, half_width)
    # adding 0 makes no number of −0
    return Number(round(value, places - scale) + 0.0, round(half_width, places - scale))


def is_exact(value: float, half_width: float) -> bool:
    """Tell whether a number is shown without its half-width, which no digit of it would show."""
    return half_width <= max(1e-6 * abs(value), ROUNDING)


def _digits(value: float, half_width: float) -> tuple[int, int]:
    """Choose the power of ten that is set apart, and the decimal places that are then shown."""
    power = math.floor(math.log10(max(abs(value), half_width)))
    scale = power if power >= 5 or power <= -4 else 0
    return scale, max(0, 1 - math.floor(math.log10(half_width / 10.0**scale)))


def _exact(value: float) -> str:
    if abs(value) < ROUNDING:
        return "0"
    is_count = abs(value) < COUNTS and float(value).is_integer()
    return f"{value:.0f}" if is_count else f"{value:.5g}"


def comparison_text(part: Comparison) -> str:
    """Write one comparison: its number and what it was held against.

    >>> from claimbook.ledger.comparison import Measured, greater
    >>> comparison_text(greater(Measured(0.5, 0.066)))
    '0.500 ± 0.066 > 0'
    """
    return f"{format_value(part.value, part.half_width)} {part.against}"


# ------------------------------------------------------------------ outcomes


def finding_of(
    quantity: str, parts: Mapping[str, Comparison], value: float, half_width: float, failed: str
) -> str:
    """Write the finding of one row: what came out, and the number shown with its name.

    ``failed`` says which control failed, and is empty where none did.
    """
    number = f"Measured: {format_value(value, half_width)} ({quantity})."
    return f"{what_came_out(parts, failed)} {number}"


def what_came_out(parts: Mapping[str, Comparison], failed: str = "") -> str:
    """Say what holds, what does not, and where, without the number.

    >>> from claimbook.ledger.comparison import greater
    >>> what_came_out({"affine": greater(2.0), "ReLU": greater(-1.0), "cosine": greater(1.0)})
    '2 of 3 parts hold. Contradicted: ReLU.'
    """
    if failed:
        return f"This check cannot tell right from wrong: {failed}."
    if len(parts) == 1:
        only = next(iter(parts.values()))
        return f"The statement {WORDS[only.outcome]}."
    names = {
        outcome: [name for name, part in parts.items() if part.outcome == outcome]
        for outcome in WORDS
    }
    supported, all_of_them = len(names[SUPPORTED]), len(parts)
    if supported == all_of_them:
        return "Both parts hold." if supported == 2 else f"All {supported} parts hold."
    if len(names[CONTRADICTED]) == all_of_them == 2:
        return "Neither part holds: both are contradicted."
    if len(names[CONTRADICTED]) == all_of_them:
        return f"None of the {all_of_them} parts holds: all are contradicted."
    if len(names[UNDECIDED]) == all_of_them:
        return f"All {all_of_them} parts are undecided."
    sentences = [f"{supported} of {all_of_them} parts hold."]
    for outcome in (CONTRADICTED, UNDECIDED):
        if names[outcome]:
            sentences.append(f"{outcome.capitalize()}: {_listed(names[outcome])}.")
    return " ".join(sentences)


def readable(name: str) -> str:
    """Write the name of a part as one does in a text.

    >>> readable("relu, d = 5")
    'ReLU, d = 5'
    """
    return KINDS.sub("ReLU", name)


def _listed(names: Sequence[str]) -> str:
    shown = "; ".join(map(readable, names[:NAMED]))
    left = len(names) - NAMED
    return f"{shown}; and {left} more" if left > 0 else shown


def count_outcomes(comparisons: Mapping[str, Comparison]) -> str:
    """Say how many comparisons were supported, contradicted and undecided, as a phrase.

    >>> from claimbook.ledger.comparison import greater
    >>> count_outcomes({"a": greater(1.0), "b": greater(-1.0)})
    '1 of 2 supported, 1 contradicted'
    """
    found = [comparison.outcome for comparison in comparisons.values()]
    rest = [f"{found.count(name)} {name}" for name in (CONTRADICTED, UNDECIDED) if name in found]
    return ", ".join([f"{found.count(SUPPORTED)} of {len(found)} {SUPPORTED}", *rest])


def count_signs(estimates: Iterable[Estimate]) -> str:
    """Say how many estimates rise above zero, fall below it, or neither, as a phrase.

    >>> from claimbook.ledger.comparison import Measured
    >>> count_signs([Measured(1.0), Measured(-1.0), Measured(1.0, 5.0)])
    '1 of 3 rises, 1 falls, 1 undecided'
    """
    found = list(estimates)
    up = sum(one.value > one.half_width for one in found)
    down = sum(one.value < -one.half_width for one in found)
    rest = len(found) - up - down
    rises = f"{up} of {len(found)} {'rises' if up == 1 else 'rise'}"
    falls = [f"{down} {'falls' if down == 1 else 'fall'}"] if down else []
    undecided = [f"{rest} undecided"] if rest else []
    return ", ".join([rises, *falls, *undecided])
