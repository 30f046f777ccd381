"""A verdict in place: a mark behind the sentence that it is about, and one readable line.

The line has the badge, the claim in a sentence, what does not hold of it, the number with its name
and a small picture of its interval against what it was held to, and leads to the row's card. Where
the number that was compared is a logarithm, the line shows what it is the logarithm of.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from docutils import nodes

from claimbook.ledger import (
    HOLDS,
    NOT_TESTABLE,
    UNDECIDED_ROW,
    Record,
)
from claimbook.ledger.record import tightest
from claimbook.ledger.text import format_value, is_exact, readable, rounded
from claimbook.site.nodes import SIGNS, badge, html_tag, slug, tag
from claimbook.site.numbers import written
from claimbook.site.page import Page
from claimbook.site.results import reservation, value_text
from claimbook.site.verdicts.interval import MEASURED, headline, picture
from claimbook.site.verdicts.rows import OWN_SETTINGS, record_of
from claimbook.site.words import (
    damage,
    is_damaged,
    is_ours,
    logarithm,
    quoted,
    short_name,
)

SHORT = 3  # digits that a number has where nothing asks for more
SMALL, LARGE = 1e-3, 1e5  # outside of them the power of ten of a number is set apart
FAR = 300.0  # a larger logarithm stands for no number that one could write
EVIDENCE = "evidence"  # the words of the link to a row's card
EXPLAINED = "how to read this line"  # of the link in a page's first line
PLACE = "book/intro", "#reading-a-verdict"  # where that is said


# in a sentence two verdicts share a sign: what matters there is whether it holds
MARKS = SIGNS | {NOT_TESTABLE: SIGNS[UNDECIDED_ROW]}
TOUCHING = "\u2060"  # joins a mark to the word before it


def line_of_row(page: Page, node: nodes.Element) -> Sequence[nodes.Node]:
    """The line of the row that a place names."""
    return [verdict_line(page, record_of(page, node))]


def marked_line(page: Page, node: nodes.Element) -> Sequence[nodes.Node]:
    """The same below a mark, which opens it where the row holds."""
    found = line_of_row(page, node)
    found[0]["ids"] = [line_anchor(node["claim"])]
    if record_of(page, node).verdict == HOLDS and not node.get("open"):
        found[0]["attributes"]["hidden"] = "hidden"
    return found


def line_anchor(claim: str) -> str:
    """Where the line of a row stands below its mark."""
    return f"line-{claim}"


def mark(page: Page, node: nodes.Element) -> Sequence[nodes.Node | str]:
    """The mark behind a sentence: it leads to its row's evidence, and opens its line."""
    row = page.content.entries[node["claim"]].row
    record = record_of(page, node)
    address = page.to_chapter(node["chapter"], row["id"])
    if node.get("listed"):
        address = f"#{checked_anchor(row['id'])}"
    link = mark_link(record, row, address)
    link["attributes"]["data-line"] = line_anchor(row["id"])
    return [TOUCHING, link]


def mark_link(record: Record, row: Mapping[str, Any], address: str) -> html_tag:
    """The mark of a row as a link to where more of it stands; on paper with the row's name."""
    return tag(
        "a",
        mark_of_row(record, row),
        tag("span", f" {row['id']}", classes=["paper-only"]),
        href=address,
        aria_label=f"{record.verdict}: {row['brief']}",
        classes=["judged"],
    )


def mark_of_row(record: Record, row: Mapping[str, Any]) -> html_tag:
    """The sign of a verdict; an open ring is around it where the row rests on damaged text."""
    verdict = record.verdict
    classes = ["sign", f"verdict-{slug(verdict)}", *["sign-damaged"] * is_damaged(row)]
    return tag("span", MARKS.get(verdict, "?"), classes=classes, title=verdict)


def checked_anchor(claim: str) -> str:
    """Where a row stands in the table of what its page checks."""
    return f"checked-{claim}"


def explain_first(page: Page, doctree: nodes.document) -> None:
    """Let the first line of a page that has a picture lead to where such lines are explained."""
    for line in doctree.findall(html_tag):
        if "verdict-line" in line["classes"] and any(line.findall(nodes.raw)):
            document, place = PLACE
            link = tag("a", EXPLAINED, href=page.to_page(document) + place)
            line += tag("span", " · ", link, classes=["line-source"])
            return


def verdict_line(page: Page, record: Record) -> html_tag:
    """One row: badge, claim, reservation, number, picture, and the way to the evidence."""
    row = page.content.entries[record.id].row
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
        # of a logarithm the picture shows the number itself, which was compared
        base, _ = logarithm(row["quantity"])
        drawn = MEASURED if base is None else "the logarithm"
        pieces += [picture(held, drawn), " "]
    if (name := tightest(record.parts)) is not None:
        part = record.parts[name]
        tight = f"{readable(name)}: {format_value(part.value, part.half_width)}"
        pieces += [f"Tightest of {len(record.parts)} parts: {tight} (asked for: {part.against}). "]
    documents = page.content.ledger["documents"]
    whose = (
        "asked by this book" if is_ours(row) else short_name(documents[row["source"]["document"]])
    )
    address = page.to_chapter(record.chapter, record.id)
    evidence = tag("a", EVIDENCE, href=address, aria_label=f"evidence for {record.id}")
    pieces += [tag("span", f"{whose} · ", evidence, classes=["line-source"])]
    return tag("p", *pieces, classes=["verdict-line", f"line-{slug(record.verdict)}"])


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
    value, half_width = record.value or 0.0, record.half_width or 0.0
    base, name = logarithm(quantity)
    if base is None or abs(value) + half_width >= FAR:
        return written(value_text(record)), quantity
    ends = (value, value - half_width, value + half_width)
    digits = significant((half_width or abs(value)) * math.log(base))
    factors = (f"{base**end:#.{digits}g}".removesuffix(".") for end in ends)
    number, low, high = map(written, factors)
    text = f"{number}, from {low} to {high}" if low != high else number
    return text, name


def in_short(record: Record, quantity: str) -> tuple[str, str]:
    """The number of a table and its name: three digits, fewer where its interval is wider.

    Of a quotient near one as many as show that it is not one, if its interval shows it.

    >>> row = {"chapter": "c", "id": "i", "verdict": "holds", "value": 8.659, "half_width": 0.4}
    >>> rest = {"parts": {}, "controls": {}, "settings": {}, "default_settings": True}
    >>> in_short(Record(**row, **rest), "fall of the norm")
    ('8.7', 'fall of the norm')
    >>> near = {"value": 0.0021, "half_width": 0.0001}
    >>> in_short(Record(**(row | near), **rest), "log of the gain")
    ('1.002', 'the gain')
    """
    value, half_width = record.value or 0.0, record.half_width or 0.0
    base, name = logarithm(quantity)
    if base is None or abs(value) + half_width >= FAR:
        return written(rounded_off(value, half_width)), quantity
    factor, share = base**value, abs(value) * math.log(base)
    text = rounded_off(factor, factor * half_width * math.log(base), significant(share))
    return written(text), name


def rounded_off(value: float, half_width: float, digits: int = SHORT) -> str:
    """A number to ``digits`` digits, or to the first one of its half-width; a count is whole.

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
    """How many digits a number needs in which a ``share`` of it is to be seen; three at least.

    >>> significant(0.04), significant(0.0001)
    (3, 5)
    """
    return max(SHORT, 1 - math.floor(math.log10(share))) if share > 0 else SHORT
