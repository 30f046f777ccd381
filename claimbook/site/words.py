"""How a row's source and controls are worded, and quotations as nodes."""

import math
import re
from collections.abc import Mapping
from typing import Any

from docutils import nodes

from claimbook.ledger import OURS
from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED
from claimbook.ledger.schema import NULL, RIGHT, WRONG
from claimbook.site.nodes import html_tag, tag

FORMULA = re.compile(r"\$([^$]+)\$")
CLEAR = "clear"
READINGS = {  # how well our copy of a source can be read, as a mark beside the verdict
    "mangled": "damaged text",
    "illegible": "illegible text",
}
LEGIBLE = {
    "clear": "legible in the copy that we read",
    "mangled": "damaged in the copy that we read, so that the words are partly our repair",
    "illegible": "illegible in the copy that we read, so that the words are our reconstruction",
}
KINDS = {
    WRONG: "wrong on purpose",
    NULL: "no effect is there",
    RIGHT: "the corrected statement",
}
EVERY_PART = "every other part"
UNTESTABLE = "which makes the row not testable"
HAPPENED = {
    (WRONG, CONTRADICTED): "rejected: contradicted, as it must be",
    (WRONG, UNDECIDED): f"undecided: not told from the truth, {UNTESTABLE}",
    (WRONG, SUPPORTED): f"supported, {UNTESTABLE}",
    (NULL, CONTRADICTED): "contradicted: no such effect, as it must be",
    (NULL, UNDECIDED): "undecided: no effect found, as it must be",
    (NULL, SUPPORTED): f"supported: an effect where there is none, {UNTESTABLE}",
    (RIGHT, SUPPORTED): "supported, as it must be",
    (RIGHT, UNDECIDED): f"undecided, {UNTESTABLE}",
    (RIGHT, CONTRADICTED): f"contradicted, {UNTESTABLE}",
}


def is_ours(row: Mapping[str, Any]) -> bool:
    """Whether the book asks this itself, and no source says it."""
    return bool(row["source"]["document"] == OURS)


def is_damaged(row: Mapping[str, Any]) -> bool:
    """Whether a row rests on text that our copy does not show as it was printed."""
    return row["source"].get("reading", CLEAR) in READINGS


def damage(row: Mapping[str, Any]) -> list[html_tag]:
    """The mark that goes with the verdict of a row that rests on such text."""
    if not is_damaged(row):
        return []
    reading = row["source"]["reading"]
    said = f"The text is {LEGIBLE[reading]}."
    classes = ["reading", f"reading-{reading}"]
    return [tag("span", READINGS[reading], classes=classes, title=said)]


def short_name(document: Mapping[str, Any]) -> str:
    """A document as it is named in tables and lines."""
    return str(document.get("short", document["title"]))


def source_text(documents: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Where a row's statement stands, or that the book asks it."""
    source = row["source"]
    if is_ours(row):
        return "Asked by this book"
    return f"{short_name(documents[source['document']])}: {source['place']}"


def quotations(row: Mapping[str, Any]) -> list[str]:
    """The source's own words; none for a row of ours."""
    printed = row["source"].get("printed", [])
    return [printed] if isinstance(printed, str) else list(printed)


def quoted(text: str) -> list[nodes.Node]:
    """A quotation word for word: nothing but its formulas is read as markup."""
    pieces = FORMULA.split(" ".join(text.split()))  # words and formulas by turns
    return [
        nodes.math(piece, piece) if place % 2 else nodes.Text(piece)
        for place, piece in enumerate(pieces)
    ]


def logarithm(quantity: str) -> tuple[float | None, str]:
    """The base of the logarithm that a row's number is, and what it is the logarithm of.

    None and the quantity itself where it is none.

    >>> logarithm("log₁₀ of the growth"), logarithm("exponent in K of the error")
    ((10.0, 'the growth'), (None, 'exponent in K of the error'))
    """
    for name, base in (("log₁₀ of ", 10.0), ("log of ", math.e)):
        if quantity.startswith(name):
            return base, quantity.removeprefix(name)
    return None, quantity


def document_words(document: Mapping[str, Any]) -> list[nodes.Node | str]:
    """A document as the list of sources names it, with its addresses."""
    title = f"{document['title']} ({document['kind']}; {document['version']})"
    return [title, *links(document)]


def links(document: Mapping[str, Any]) -> list[nodes.Node | str]:
    """The addresses of a document, each after a comma or a bracket: ``(arXiv, code)``."""
    out: list[nodes.Node | str] = []
    for label, address in document.get("links", {}).items():
        out += [", " if out else " (", tag("a", label, href=address)]
    return [*out, ")"] if out else []
