"""The mark behind a sentence that a row of the ledger proves, and the line that it opens.

The role {judged}`id` leaves a mark in its sentence: ✓, ◐, ✗ or ?. The row's line stands behind the
paragraph; where the row holds it is hidden until the mark is used, any other verdict stays in
sight. Alone in a paragraph, the role belongs to the paragraph before it; where that is none, the
line stands in its place.

What a check shows, through MyST-NB's entry point ``mime_renderers``, is the line of its row; the
site gathers these at the end of a page (:mod:`claimbook.site.verdicts.checked`).
"""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Node, system_message
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from claimbook.ledger.record import VERDICT
from claimbook.site import mathematics
from claimbook.site.content import content_of
from claimbook.site.nodes import from_run, places

logger = logging.getLogger(__name__)

WORD = re.compile(r"\S+$")  # before a mark
NOTHING = re.compile(r"(?!)")  # is held behind it


class VerdictOutput:
    """The renderer of a verdict among the outputs of a cell."""

    mime_priority_overrides: ClassVar = [("*", VERDICT, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Node] | None:
        """The place of the line; None for outputs of other types."""
        if data.mime_type != VERDICT:
            return None
        return [place("check_line", data.content["chapter"], data.content["id"])]


class JudgedRole(SphinxRole):
    """The mark of a row of the page's own block."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """The place; nothing, with a warning, where the row is another page's, or none."""
        claim = self.text.strip()
        entry = content_of(self.env.app).entries.get(claim)
        chapter = self.env.docname.rpartition("/")[2]
        if entry is None or entry.chapter != chapter:
            message = "judged: '%s' is no row of this page's block of the ledger"
            logger.warning(message, claim, location=self.get_location())
            return [], []
        return [place("mark", chapter, claim)], []


def place(what: str, chapter: str, claim: str) -> from_run:
    """The place of a row's ``mark``, of the ``marked_line`` below it, or of a ``check_line``."""
    return from_run("", what=what, chapter=chapter, claim=claim)


def place_lines(app: Sphinx, doctree: nodes.document) -> None:
    """Put the line of each mark behind its paragraph."""
    placed: set[str] = set()
    paragraphs: dict[nodes.paragraph, list[from_run]] = {}
    for mark in list(places(doctree, "mark")):
        if mark["claim"] in placed:
            warn("'%s' is placed twice on this page", mark)
        placed.add(mark["claim"])
        paragraph = mark.parent
        while paragraph is not None and not isinstance(paragraph, nodes.paragraph):
            paragraph = paragraph.parent
        if paragraph is None:
            warn("'%s' must stand in a paragraph", mark)
        else:
            paragraphs.setdefault(paragraph, []).append(mark)
    for paragraph, marks in paragraphs.items():
        place_behind(paragraph, marks)


def warn(message: str, mark: nodes.Element) -> None:
    """Warn of a mark."""
    logger.warning(f"judged: {message}", mark["claim"], location=mark.parent)


def place_behind(paragraph: nodes.paragraph, marks: Sequence[from_run]) -> None:
    """Put the lines of a paragraph's ``marks`` behind it."""
    around = paragraph.parent
    lines = [place("marked_line", mark["chapter"], mark["claim"]) for mark in marks]
    at = around.index(paragraph)
    if not stands_alone(paragraph):
        around.insert(at + 1, lines)
        for mark in marks:
            touch(mark)
        return
    around.remove(paragraph)
    around.insert(at, lines)
    before = at - 1
    while before >= 0 and isinstance(around[before], from_run):
        before -= 1  # the lines of the paragraph before
    if before >= 0 and isinstance(around[before], nodes.paragraph):
        around[before].extend(marks)
    else:
        for line in lines:
            line["open"] = True


def stands_alone(paragraph: nodes.paragraph) -> bool:
    """Whether a paragraph has no words but marks."""
    return all(
        isinstance(child, from_run) or (isinstance(child, nodes.Text) and not child.strip())
        for child in paragraph
    )


def touch(mark: from_run) -> None:
    """Take the space before a mark away: it stands directly behind its sentence."""
    around = mark.parent
    at = around.index(mark)
    if at and isinstance(around[at - 1], nodes.Text):
        around[at - 1] = nodes.Text(around[at - 1].rstrip())


class MarksStay(SphinxPostTransform):
    """Holds a mark and the end of its sentence on one line; a mark alone is none's."""

    default_priority = 910  # after the formulas, which hold the full stop behind them
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for mark in list(places(self.document, "mark")):
            hold(mark)


def hold(mark: from_run) -> None:
    """Put a mark into one box with the word before it, or with the formula that stands there."""
    around = mark.parent
    at = around.index(mark)
    before = around[at - 1] if at else None
    if isinstance(before, nodes.inline) and "kept" in before["classes"]:
        around.remove(mark)
        before += mark
    else:
        mathematics.hold(mark, WORD, NOTHING)
