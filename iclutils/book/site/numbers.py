"""Numbers of tables and sentences, written as in a book: −0.5 and 7.2 · 10⁻⁵."""

import re

CELL = re.compile(r'(<td id="T_[^>]*>)([^<]*)(?=</td>)')  # of pandas' styled tables
MINUS = re.compile(r"(?<![\w.])-(?=\d)")
POWER = re.compile(r"(?<=[\d)])e([+-])0*(\d+)\b")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def typeset_numbers(page: str) -> str:
    """A page with the numbers of its tables typeset; words are left as they are."""
    return CELL.sub(lambda cell: cell[1] + typeset(cell[2]), page)


def typeset(text: str) -> str:
    """The numbers in the text of a cell, as HTML; none of them is broken at a line's end."""
    text = POWER.sub(
        lambda power: f"&nbsp;· 10<sup>{'−' if power[1] == '-' else ''}{power[2]}</sup>", text
    )
    return MINUS.sub("−", text).replace(" ± ", "&nbsp;±&nbsp;")


def written(number: str) -> str:
    """A number as plain text, which is not broken before its power.

    >>> written("(-4.8 ± 1.8)e-04")
    '(−4.8 ± 1.8)\xa0· 10⁻⁴'
    """

    def power(found: re.Match[str]) -> str:
        sign = "⁻" if found[1] == "-" else ""
        return f"\u00a0· 10{sign}{found[2].translate(RAISED)}"

    return POWER.sub(power, number).replace("-", "−")
