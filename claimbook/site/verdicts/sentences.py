"""Single results of the run inside a sentence.

``{claim-value}`` and ``{claim-verdict}`` name a row and show what the run found, linked to the
evidence; ``id|factor`` shows the factor that a measured logarithm stands for, as a number above 1.
``{claim-picture}`` shows the small picture of a row's number and the range that it is held to.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from docutils.nodes import Element, Node, system_message
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from claimbook.ledger import format_value
from claimbook.pages import CHAPTERS, is_second
from claimbook.site.content import content_of
from claimbook.site.nodes import badge, from_run, spaced, tag
from claimbook.site.numbers import written
from claimbook.site.page import Page
from claimbook.site.verdicts.interval import headline, picture
from claimbook.site.verdicts.marks import EVIDENCE, mark_link
from claimbook.site.verdicts.rows import OWN_SETTINGS, record_of
from claimbook.site.words import damage, logarithm

logger = logging.getLogger(__name__)

FACTOR = "factor"
SMALL = 1e-5  # a half-width below this share of the value is not shown
DIGITS = 5  # of a value without its half-width
FACTOR_DIGITS = 2  # of a factor without its half-width


class Asked(NamedTuple):
    """What a role's text names."""

    claim: str
    form: str


def parse(text: str) -> Asked | None:
    """Read ``id`` or ``id|factor``; None for anything else."""
    claim, _, form = text.partition("|")
    asked = Asked(claim.strip(), form.strip())
    return asked if asked.form in ("", FACTOR) else None


class ClaimRole(SphinxRole):
    """One result in a sentence: the value, the verdict or the picture of a row."""

    def __init__(self, what: str) -> None:
        """``what`` names the fill: ``inline_value``, ``inline_verdict`` or ``inline_picture``."""
        super().__init__()
        self.what = what

    def run(self) -> tuple[list[Node], list[system_message]]:
        """The place; nothing, with a warning, where there is no such row."""
        asked = parse(self.text)
        entries = content_of(self.env.app).entries
        if asked is None or asked.claim not in entries:
            message = "%s: no such row or form: %s"
            logger.warning(message, self.name, self.text, location=self.get_location())
            return [], []
        chapter = entries[asked.claim].chapter
        return [from_run("", what=self.what, chapter=chapter, **asked._asdict())], []


def number_text(value: float, half_width: float, digits: int) -> str:
    """A value with its half-width, or to ``digits`` digits where that is too small to show."""
    if half_width < SMALL * abs(value):
        text = f"{value:.{digits}g}"
    else:
        text = format_value(value, half_width)
    return written(text)


def inline_value(page: Page, node: Element) -> Sequence[Node | str]:
    """The value of a row."""
    record = record_of(page, node)
    value = record.value
    if value is None:
        message = "claim-value: row '%s' has no value"
        logger.warning(message, node["claim"], location=page.name)
        return []
    half_width = record.half_width or 0.0
    digits = DIGITS
    if node["form"] == FACTOR:
        quantity = page.content.entries[node["claim"]].row["quantity"]
        base, _ = logarithm(quantity)
        if base is None:
            message = "claim-value: row '%s' shows no logarithm, and so no factor: %s"
            logger.warning(message, node["claim"], quantity, location=page.name)
            return []
        value = base ** abs(value)
        half_width *= value * math.log(base)
        digits = FACTOR_DIGITS
    own = "" if record.default_settings else OWN_SETTINGS
    text = number_text(value, half_width, digits) + own
    address = page.to_chapter(node["chapter"], node["claim"])
    return [tag("a", text, href=address, classes=["claim-value"])]


def inline_verdict(page: Page, node: Element) -> Sequence[Node | str]:
    """The verdict of a row, and a link to its card: the row's name, or on a second page a word.

    On a main page it is a mark, as of the page's own rows.
    """
    record = record_of(page, node)
    address = page.to_chapter(node["chapter"], node["claim"])
    row = page.content.entries[node["claim"]].row
    in_chapter = page.name.startswith(CHAPTERS.as_posix())
    if in_chapter and not is_second(page.name):
        return [mark_link(record, row, address)]
    marks = damage(row)
    link = tag("a", tag("code", node["claim"]), href=address)
    if in_chapter:
        link = tag("a", EVIDENCE, href=address, aria_label=f"evidence for {node['claim']}")
    return spaced([badge(record.verdict), *marks, link])


def inline_picture(page: Page, node: Element) -> Sequence[Node | str]:
    """The picture of a row's number; nothing, with a warning, where the row shows none."""
    held = headline(record_of(page, node))
    if held is None:
        message = "claim-picture: the number of row '%s' is that of no part"
        logger.warning(message, node["claim"], location=page.name)
        return []
    return [picture(held)]
