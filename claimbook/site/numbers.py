"""Numbers and symbols of tables and sentences, as in a book: −0.5, 7.2 · 10⁻⁵, e with an index."""

import math
import re
from collections.abc import Mapping
from typing import Any

from claimbook.ledger.text import format_value, is_exact, readable, rounded

# pandas' tables, plain and styled, and a cell of theirs
TABLE = re.compile(r'<table [^>]*(?:class="dataframe"|id="T_).*?</table>', re.DOTALL)
CELL = re.compile(r"(<(t[dh])(?: [^>]*)?>)([^<]*)(?=</\2>)")
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
SMALL, LARGE = 1e-3, 1e5  # outside of them the power of ten of a number is set apart
FAR = 300.0  # a larger logarithm stands for no number that one could write
SURE = 1e-5  # a half-width below this share of a number in a sentence is not shown
DIGITS, FACTOR_DIGITS = 5, 2  # of a number in a sentence without its half-width

Row = Mapping[str, Any]


def typeset_numbers(page: str) -> str:
    """Typeset the numbers in the tables of a page; words are left as they are."""

    def cells(table: re.Match[str]) -> str:
        return CELL.sub(lambda cell: cell[1] + typeset(readable(cell[3])), table[0])

    return TABLE.sub(cells, page)


def typeset(text: str) -> str:
    """Write the numbers in a text as HTML; none of them is broken at a line's end."""

    def symbol(found: re.Match[str]) -> str:
        name = "sub" if found["low"] else "sup"
        script = (found["low"] or found["group"] or found["high"]).replace("-", "−")
        return f"<{name}>{script}</{name}>"

    return SYMBOL.sub(symbol, written(text)).replace(" ± ", "\u00a0±\u00a0")


def written(text: str) -> str:
    """Write the numbers in a plain text; none is broken before its power or its thousands.

    >>> written("(-4.8 ± 1.8)e-04 = -0.00 to within 1e-12")
    '(−4.8 ± 1.8)\xa0· 10⁻⁴ = 0.00 to within 10⁻¹²'
    """

    def power(found: re.Match[str]) -> str:
        between = "" if found[0].startswith("1") else "\u00a0· "
        sign = "⁻" if found[1] == "-" else ""
        return f"{between}10{sign}{found[2].translate(RAISED)}"

    text = POWER.sub(power, THOUSANDS.sub("\u00a0", text))
    return MINUS.sub("−", NAUGHT.sub("", text))


# ---------------------------------------------------------------- of a row


def number(value: float | None, half_width: float | None) -> str:
    """Write a number with its half-width."""
    return "no value" if value is None else format_value(value, half_width or 0.0)


def logarithm(quantity: str) -> tuple[float | None, str]:
    """Return the base of the logarithm that a row's number is, and what it is the logarithm of.

    None and the quantity itself where it is none.

    >>> logarithm("log₁₀ of the growth"), logarithm("exponent in K of the error")
    ((10.0, 'the growth'), (None, 'exponent in K of the error'))
    """
    for name, base in LOGARITHMS:
        if quantity.startswith(name):
            return base, quantity.removeprefix(name)
    return None, quantity


def in_line(row: Row) -> tuple[str, str]:
    """Return the number of a row's line and its name; a logarithm as what it is one of.

    >>> row = {"value": 3.365, "half_width": 0.04, "quantity": "log of linear over softmax minimum"}
    >>> in_line(row)
    ('28.9, from 27.8 to 30.1', 'linear over softmax minimum')
    >>> in_line({"value": 0.0021, "half_width": 0.0001, "quantity": "log of the gain"})[0]
    '1.0021, from 1.0020 to 1.0022'
    """
    value, half_width = row["value"] or 0.0, row["half_width"] or 0.0
    base, name = logarithm(row["quantity"])
    if base is None or abs(value) + half_width >= FAR:
        return written(number(row["value"], half_width)), row["quantity"]
    digits = significant((half_width or abs(value)) * math.log(base))
    factors = [
        written(f"{base**end:#.{digits}g}".removesuffix("."))
        for end in (value, value - half_width, value + half_width)
    ]
    middle, low, high = factors
    return (f"{middle}, from {low} to {high}" if low != high else middle), name


def in_short(row: Row) -> tuple[str, str]:
    """Return the number of a table and its name: three digits, fewer where it is less sure.

    Of a quotient near one as many as show that it is not one, if its interval shows it.

    >>> in_short({"value": 8.659, "half_width": 0.4, "quantity": "fall of the norm"})
    ('8.7', 'fall of the norm')
    >>> in_short({"value": 0.0021, "half_width": 0.0001, "quantity": "log of the gain"})
    ('1.002', 'the gain')
    """
    value, half_width = row["value"] or 0.0, row["half_width"] or 0.0
    base, name = logarithm(row["quantity"])
    if base is None or abs(value) + half_width >= FAR:
        return written(rounded_off(value, half_width)), row["quantity"]
    factor, share = base**value, abs(value) * math.log(base)
    text = rounded_off(factor, factor * half_width * math.log(base), significant(share))
    return written(text), name


def in_sentence(row: Row, *, factor: bool = False) -> str:
    """Write the number of a row in a sentence; a logarithm also as the ``factor`` above one.

    :raises ValueError: where the row shows no logarithm, and so no factor.
    """
    value, half_width, digits = row["value"], row["half_width"] or 0.0, DIGITS
    if factor:
        base, _ = logarithm(row["quantity"])
        if base is None:
            raise ValueError(f"shows no logarithm, and so no factor: {row['quantity']}")
        value = base ** abs(value)
        half_width *= value * math.log(base)
        digits = FACTOR_DIGITS
    sure = half_width < SURE * abs(value)
    return written(f"{value:.{digits}g}" if sure else format_value(value, half_width))


def rounded_off(value: float, half_width: float, digits: int = SHORT) -> str:
    """Write a number to ``digits`` digits, or to the first of its half-width; a count is whole.

    >>> rounded_off(785.33, 0), rounded_off(0.25, 1.4e-5), rounded_off(12, 0)
    ('785', '0.250', '12')
    >>> rounded_off(0.111, 0.021), rounded_off(-2e-4, 0.0019), rounded_off(3.21e-7, 1.2e-8)
    ('0.11', '0.000', '3.2e-07')
    """
    if is_exact(value, half_width):
        value, half_width = rounded(value, half_width)
    if half_width == 0 and value == round(value) and abs(value) < LARGE:
        return f"{value:.0f}"
    leading = math.floor(math.log10(max(abs(value), half_width)))
    if half_width > 0:
        digits = max(1, min(digits, leading - math.floor(math.log10(half_width)) + 1))
    places = digits - 1 - leading
    if not SMALL <= 10.0**leading < LARGE:
        return f"{value:.{digits - 1}e}"
    return f"{round(value, places) + 0.0:.{max(0, places)}f}"


def significant(share: float) -> int:
    """Return how many digits a number needs in which a ``share`` of it is to be seen.

    >>> significant(0.04), significant(0.0001)
    (3, 5)
    """
    return max(SHORT, 1 - math.floor(math.log10(share))) if share > 0 else SHORT


def two_digits(value: float) -> str:
    """Write a number above one to two digits.

    >>> two_digits(41.3), two_digits(1234)
    ('41', '1200')
    """
    return f"{round(value, 1 - math.floor(math.log10(value))):g}"
