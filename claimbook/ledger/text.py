"""How numbers and outcomes become text: the one place where a number is written.

A checked claim's line reads ``id · verdict · value ± half-width``, or without ``±`` where the
number was computed and not sampled. The lines of a chapter whose knobs are turned begin with
:data:`AT_YOUR_SETTINGS`. ``tests/expected`` holds the numbers as they are written, rounded alike.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison

AT_YOUR_SETTINGS = "at your settings: "
ROUNDING = 1e-12  # below it a computed number is zero
COUNTS = 1e7  # below it a whole number is shown with all its digits
KINDS = re.compile(r"\brelu\b")  # chapters name a part by what the package calls its tasks
NAMED = 4  # parts that a sentence names before it counts the rest
ALIKE = {  # where one part, two or more came out alike
    SUPPORTED: ("The statement holds.", "Both parts hold.", "All {} parts hold."),
    CONTRADICTED: (
        "The statement does not hold.",
        "Neither part holds: both are contradicted.",
        "None of the {} parts holds: all are contradicted.",
    ),
    UNDECIDED: ("The statement is undecided.", *["All {} parts are undecided."] * 2),
}

NAUGHT = re.compile(r"(?<![\w.])[-−+](?=0(?:\.0+)?(?![.\d]))")  # left by rounding at a zero
MINUS = re.compile(r"(?<![\w.])-(?=\d)")
POWER = re.compile(r"(?:(?<=[\d)])|(?<![\w.])1)e([+-])0*(\d+)\b")  # 10⁻⁵ and not 1 · 10⁻⁵
THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LOW = r"(?<=(?<![\w.])[^\W\d_])_(?P<low>[A-Za-z0-9]+)"  # of one letter: e_ICL, not train_jobs
HIGH = r"\^\((?P<group>[^()]*)\)|\^(?P<high>[−-]?(?:\d+(?:\.\d+)?|[^\W\d_]|½)(?![^\W_]))"
SYMBOL = re.compile(f"{LOW}|{HIGH}")

LOGARITHMS = (("log₁₀ of ", 10.0), ("log of ", math.e))  # how the name of one begins
SHORT = 3  # digits that a number has where nothing asks for more
FAR = 300.0  # a larger logarithm stands for no number that one could write


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


def rounded(value: float, half_width: float) -> tuple[float, float]:
    """Round a number as :func:`format_value` writes it.

    >>> rounded(0.3312, 0.0121), rounded(2e-17, 0)
    ((0.331, 0.012), (0.0, 0.0))
    """
    if is_exact(value, half_width):
        return float(_exact(value)), 0.0
    scale, places = _digits(value, half_width)
    # adding 0 makes no number of −0
    return round(value, places - scale) + 0.0, round(half_width, places - scale)


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


def typeset(text: str) -> str:
    """Write the numbers in a text as HTML; none of them is broken at a line's end."""

    def symbol(match: re.Match[str]) -> str:
        name = "sub" if match["low"] else "sup"
        script = (match["low"] or match["group"] or match["high"]).replace("-", "−")
        return f"<{name}>{script}</{name}>"

    return SYMBOL.sub(symbol, written(text)).replace(" ± ", "\u00a0±\u00a0")


def written(text: str) -> str:
    """Write the numbers in a plain text; none is broken before its power or its thousands.

    >>> written("(-4.8 ± 1.8)e-04 = -0.00 to within 1e-12")
    '(−4.8 ± 1.8)\xa0· 10⁻⁴ = 0.00 to within 10⁻¹²'
    """

    def power(match: re.Match[str]) -> str:
        between = "" if match[0].startswith("1") else "\u00a0· "
        sign = "⁻" if match[1] == "-" else ""
        return f"{between}10{sign}{match[2].translate(RAISED)}"

    text = POWER.sub(power, THOUSANDS.sub("\u00a0", text))
    return MINUS.sub("−", NAUGHT.sub("", text))


def logarithm(quantity: str) -> tuple[float | None, str]:
    """Return the base of the logarithm that a number is, and what it is the logarithm of.

    None and the quantity itself where it is none.

    >>> logarithm("log₁₀ of the growth"), logarithm("exponent in K of the error")
    ((10.0, 'the growth'), (None, 'exponent in K of the error'))
    """
    for name, base in LOGARITHMS:
        if quantity.startswith(name):
            return base, quantity.removeprefix(name)
    return None, quantity


def named_number(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the number of a row and its name; a logarithm becomes what it is one of.

    A number has its half-width, a factor its range.

    >>> row = {"value": 3.365, "half_width": 0.04, "quantity": "log of linear over softmax"}
    >>> named_number(row)
    ('28.9, from 27.8 to 30.1', 'linear over softmax')
    """
    value, half_width = row["value"], row["half_width"]
    base, name = logarithm(row["quantity"])
    if base is None or abs(value) + half_width >= FAR:
        return written(format_value(value, half_width)), row["quantity"]
    digits = _significant((half_width or abs(value)) * math.log(base))
    ends = (value, value - half_width, value + half_width)
    middle, low, high = (written(f"{base**end:#.{digits}g}".removesuffix(".")) for end in ends)
    return (f"{middle}, from {low} to {high}" if low != high else middle), name


def _significant(share: float) -> int:
    """Choose the digits that a number needs in which a ``share`` of it is to be seen."""
    return max(SHORT, 1 - math.floor(math.log10(share))) if share > 0 else SHORT


def what_came_out(parts: Mapping[str, Comparison], failed: str = "") -> str:
    """Say what holds, what does not, and where, without the number.

    >>> from claimbook.ledger.comparison import greater
    >>> what_came_out({"affine": greater(2.0), "ReLU": greater(-1.0), "cosine": greater(1.0)})
    '2 of 3 parts hold. Contradicted: ReLU.'
    """
    if failed:
        return f"This check cannot tell right from wrong: {failed}."
    names: dict[str, list[str]] = {}
    for name, part in parts.items():
        names.setdefault(part.outcome, []).append(readable(name))
    if len(names) == 1:
        one, two, more = ALIKE[next(iter(names))]
        return {1: one, 2: two}.get(len(parts), more).format(len(parts))
    sentences = [f"{len(names.get(SUPPORTED, []))} of {len(parts)} parts hold."]
    for outcome in (CONTRADICTED, UNDECIDED):
        if outcome in names:
            listed = names[outcome][:NAMED]
            if len(names[outcome]) > NAMED:
                listed.append(f"and {len(names[outcome]) - NAMED} more")
            sentences.append(f"{outcome.capitalize()}: {'; '.join(listed)}.")
    return " ".join(sentences)


def readable(name: str) -> str:
    """Write the name of a part as one does in a text.

    >>> readable("relu, d = 5")
    'ReLU, d = 5'
    """
    return KINDS.sub("ReLU", name)
