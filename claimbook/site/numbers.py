"""Numbers and symbols of tables and sentences, as in a book: −0.5, 7.2 · 10⁻⁵, e with an index."""

import re
from collections.abc import Iterator

from docutils import nodes

from claimbook.ledger.text import readable

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
FORMAL = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def typeset_numbers(page: str) -> str:
    """A page with the numbers of its tables typeset; words are left as they are."""

    def cells(table: re.Match[str]) -> str:
        return CELL.sub(lambda cell: cell[1] + typeset(readable(cell[3])), table[0])

    return TABLE.sub(cells, page)


def typeset(text: str) -> str:
    """The numbers in the text of a cell, as HTML; none of them is broken at a line's end."""

    def symbol(found: re.Match[str]) -> str:
        name = "sub" if found["low"] else "sup"
        return f"<{name}>{script(found)}</{name}>"

    return SYMBOL.sub(symbol, written(text)).replace(" ± ", "\u00a0±\u00a0")


def written(text: str) -> str:
    """The numbers in a plain text; none is broken before its power or its thousands.

    >>> written("(-4.8 ± 1.8)e-04 = -0.00 to within 1e-12")
    '(−4.8 ± 1.8)\xa0· 10⁻⁴ = 0.00 to within 10⁻¹²'
    """

    def power(found: re.Match[str]) -> str:
        between = "" if found[0].startswith("1") else "\u00a0· "
        sign = "⁻" if found[1] == "-" else ""
        return f"{between}10{sign}{found[2].translate(RAISED)}"

    text = POWER.sub(power, THOUSANDS.sub("\u00a0", text))
    return MINUS.sub("−", NAUGHT.sub("", text))


def script(symbol: re.Match[str]) -> str:
    """What stands low or high in a symbol."""
    return (symbol["low"] or symbol["group"] or symbol["high"]).replace("-", "−")


def write_symbols(node: nodes.Element) -> None:
    """Set the words in a node as one writes them; code, formulas and quotations stay."""
    for child in list(node.children):
        if isinstance(child, nodes.Text):
            node.replace(child, list(pieces_of(written(child.astext()))))
        elif not isinstance(child, FORMAL) and child.get("tag") not in ("code", "blockquote"):
            write_symbols(child)


def pieces_of(text: str) -> Iterator[nodes.Node]:
    """A text with what stands low and high in it set so."""
    place = 0
    for found in SYMBOL.finditer(text):
        if found.start() > place:
            yield nodes.Text(text[place : found.start()])
        kind = nodes.subscript if found["low"] else nodes.superscript
        yield kind("", script(found))
        place = found.end()
    if place < len(text):
        yield nodes.Text(text[place:])
