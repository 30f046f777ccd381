"""A verdict in place: what a chapter prints when it checks a row becomes one readable line.

The line has the badge, the claim in a sentence, what does not hold of it, the number with its name
and a small picture of its interval against what it was held to, and leads to the row's card. Where
the number that was compared is a logarithm, the line shows what it is the logarithm of.
"""

import math
from collections.abc import Iterable, Iterator

from docutils import nodes

from iclutils.book.ledger import Record
from iclutils.book.ledger.lines import parse_printed
from iclutils.book.site.interval import MEASURED, headline, picture
from iclutils.book.site.nodes import badge, html_tag, slug, tag
from iclutils.book.site.numbers import written
from iclutils.book.site.page import Page
from iclutils.book.site.results import reservation, value_text
from iclutils.book.site.rows import OWN_SETTINGS
from iclutils.book.site.words import (
    damage,
    is_ours,
    logarithm_base,
    quoted,
    short_name,
    without_logarithm,
)

FAR = 300.0  # a larger logarithm stands for no number that one could write
EVIDENCE = "evidence"  # the words of the link to a row's card
EXPLAINED = "how to read this line"  # of the link in a page's first line
PLACE = "book/intro", "#reading-a-verdict"  # where that is said


def show_lines(page: Page, doctree: nodes.document) -> None:
    """Put readable lines in the place of every output that holds nothing but verdicts.

    The first line with a picture leads to where such lines are explained.
    """
    explained = False
    for block in list(doctree.findall(nodes.literal_block)):
        if "stream" not in block["classes"]:
            continue
        claims = printed_claims(block.astext())
        if claims and all(claim in page.build.entries for claim in claims):
            # not replace_self: it would hand on the classes of the output
            lines = list(verdict_lines(page, claims))
            pictured = [line for line in lines if any(line.findall(nodes.raw))]
            if pictured and not explained:
                pictured[0] += explanation(page)
                explained = True
            block.parent.replace(block, lines)


def printed_claims(text: str) -> list[str]:
    """The ids of the rows whose lines a text consists of; none where anything else stands in it."""
    try:
        return [parse_printed(line).id for line in text.splitlines() if line.strip()]
    except ValueError:
        return []


def verdict_lines(page: Page, claims: Iterable[str]) -> Iterator[html_tag]:
    """A line for each of the rows that was run."""
    for claim in claims:
        chapter = page.build.entries[claim].chapter
        record = page.build.results.record(chapter, claim)
        if record is not None:
            yield verdict_line(page, record)


def verdict_line(page: Page, record: Record) -> html_tag:
    """One row: badge, claim, reservation, number, picture, and the way to the evidence."""
    row = page.build.entries[record.id].row
    own = OWN_SETTINGS if not record.default_settings else ""
    pieces: list[nodes.Node | str] = [badge(record.verdict), " ", *damage(row), " "]
    pieces += [tag("span", row["brief"] + own, classes=["line-claim"]), " "]
    if finding := reservation(record):
        pieces += [tag("span", finding, classes=["line-finding"]), " "]
    if record.value is not None:
        number, quantity = measured(record, row["quantity"])
        shown = tag("span", number, classes=["line-number"])
        pieces += ["Measured: ", shown, " (", *quoted(quantity), "). "]
    held = headline(record)
    if held is not None:
        pieces += [picture(held, drawn(row["quantity"])), " "]
    documents = page.build.ledger["documents"]
    whose = (
        "asked by this book" if is_ours(row) else short_name(documents[row["source"]["document"]])
    )
    address = page.to_chapter(record.chapter, record.id)
    evidence = tag("a", EVIDENCE, href=address, aria_label=f"evidence for {record.id}")
    pieces += [tag("span", f"{whose} · ", evidence, classes=["line-source"])]
    return tag("p", *pieces, classes=["verdict-line", f"line-{slug(record.verdict)}"])


def explanation(page: Page) -> html_tag:
    """The way to where a verdict's line and its picture are explained."""
    document, place = PLACE
    link = tag("a", EXPLAINED, href=page.to_page(document) + place)
    return tag("span", " · ", link, classes=["line-source"])


def drawn(quantity: str) -> str:
    """What the picture shows: of a logarithm the number itself, which was compared."""
    return MEASURED if logarithm_base(quantity) is None else "the logarithm"


def measured(record: Record, quantity: str) -> tuple[str, str]:
    """The number of a line and its name; a logarithm as what it is the logarithm of.

    >>> row = {"chapter": "c", "id": "i", "verdict": "holds", "value": 3.365, "half_width": 0.04}
    >>> rest = {"parts": {}, "controls": {}, "settings": {}, "default_settings": True}
    >>> measured(Record(**row, **rest), "log of linear over softmax minimum")
    ('28.9, from 27.8 to 30.1', 'linear over softmax minimum')
    >>> near = {"value": 0.0021, "half_width": 0.0001}
    >>> measured(Record(**(row | near), **rest), "log of the gain")[0]
    '1.0021, from 1.0020 to 1.0022'
    """
    base = logarithm_base(quantity)
    value, half_width = record.value or 0.0, record.half_width or 0.0
    if base is None or not abs(value) + half_width < FAR:
        return written(value_text(record)), quantity
    ends = (value, value - half_width, value + half_width)
    digits = significant((half_width or abs(value)) * math.log(base))
    factors = (f"{base**end:#.{digits}g}".removesuffix(".") for end in ends)
    number, low, high = map(written, factors)
    text = f"{number}, from {low} to {high}" if low != high else number
    return text, without_logarithm(quantity)


def significant(share: float) -> int:
    """How many digits a number needs in which a ``share`` of it is to be seen; three at least.

    >>> significant(0.04), significant(0.0001)
    (3, 5)
    """
    return max(3, 1 - math.floor(math.log10(share))) if share > 0 else 3
