"""The mark behind a sentence that a row of the ledger proves, and the line that it opens.

The role {judged}`id` leaves a mark in its sentence: ✓, ◐, ✗ or ?. The row's line stands behind the
paragraph; where the row holds it is hidden until the mark is used, any other verdict stays in
sight. Alone in a paragraph, the role belongs to the paragraph before it; where that is none, the
line stands in its place.

What a check shows, through MyST-NB's entry point ``mime_renderers``, is the line of its row; the
site gathers these at the end of a page (:mod:`claimbook.site.cells`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Node, system_message
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from claimbook.ledger import HOLDS
from claimbook.ledger.record import VERDICT
from claimbook.site import mathematics
from claimbook.site.cells import section_of
from claimbook.site.content import content_of
from claimbook.site.nodes import finished
from claimbook.site.views import Views, headline, views_of

logger = logging.getLogger(__name__)

WORD = re.compile(r"\S+$")  # before a mark
NOTHING = re.compile(r"(?!)")  # is held behind it
MARK, LINE, CHECK = "mark", "line", "check"  # what a place shows of its row


class VerdictOutput:
    """The renderer of a verdict among the outputs of a cell."""

    mime_priority_overrides: ClassVar = [("*", VERDICT, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Node] | None:
        """Return the place of the line; None for outputs of other types."""
        return [place(CHECK, data.content["id"])] if data.mime_type == VERDICT else None


class JudgedRole(SphinxRole):
    """The mark of a row of the page's own block."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Return the place; nothing, with a warning, where the row is another page's, or none."""
        claim = self.text.strip()
        row = content_of(self.env.app).by_id.get(claim)
        if row is None or row["chapter"] != self.env.docname.rpartition("/")[2]:
            message = "judged: '%s' is no row of this page's block of the ledger"
            logger.warning(message, claim, location=self.get_location())
            return [], []
        return [place(MARK, claim)], []


def place(shows: str, claim: str) -> nodes.raw:
    """Make the place of a mark or a line; :func:`show` writes it once the page is read."""
    node = finished("")
    node["shows"], node["claim"] = shows, claim
    return node


def places(node: nodes.Element, *shows: str) -> Iterator[nodes.raw]:
    """Yield the places of some kinds in a part of a page."""
    return (one for one in node.findall(nodes.raw) if one.get("shows") in shows)


def show_verdicts(app: Sphinx, doctree: nodes.document) -> None:
    """Put the line of each mark behind its paragraph, and write all marks and lines of a page."""
    marks = list(places(doctree, MARK))
    paragraphs: dict[nodes.paragraph, list[nodes.raw]] = {}
    for at, mark in enumerate(marks):
        if mark["claim"] in {other["claim"] for other in marks[:at]}:
            warn("'%s' is placed twice on this page", mark)
        paragraph = paragraph_of(mark)
        if paragraph is None:
            warn("'%s' must stand in a paragraph", mark)
        else:
            paragraphs.setdefault(paragraph, []).append(mark)
    for paragraph, of_it in paragraphs.items():
        place_behind(paragraph, of_it)
    write(doctree, views_of(app), app.env.docname)


def write(doctree: nodes.document, views: Views, page: str) -> None:
    """Write the marks and the lines of a page, the first line with a link to what it means."""
    checked = {node["claim"] for node in places(doctree, CHECK)}
    marked = {node["claim"] for node in places(doctree, MARK)}
    listed = checked if section_of(doctree) is not None else set()
    explained = False
    for node in places(doctree, MARK, LINE, CHECK):
        row = views.content.by_id[node["claim"]]
        anchor = f"line-{row['id']}"
        if node["shows"] == MARK:
            address = f"#checked-{row['id']}"
            if row["id"] not in listed:
                address = views.address(page, f"book/ledger.html#{row['id']}")
            node += nodes.Text(views("mark.html", page, row=row, address=address, line=anchor))
            continue
        below = node["shows"] == LINE
        shown = below or row["id"] not in listed | marked
        explain = shown and not explained and headline(row) is not None
        explained = explained or explain
        html = views(
            "line.html",
            page,
            row=row,
            anchor=anchor if below else "",
            hidden=below and row["verdict"] == HOLDS and "open" not in node,
            explained=explain,
        )
        node += nodes.Text(html)
        node["markdown"] = views.in_notebook(row)


def paragraph_of(mark: nodes.raw) -> nodes.paragraph | None:
    """Return the paragraph that a mark stands in."""
    node = mark.parent
    while node is not None and not isinstance(node, nodes.paragraph):
        node = node.parent
    return node


def warn(message: str, mark: nodes.Element) -> None:
    """Warn of a mark."""
    logger.warning(f"judged: {message}", mark["claim"], location=mark.parent)


def place_behind(paragraph: nodes.paragraph, marks: Sequence[nodes.raw]) -> None:
    """Put the lines of a paragraph's ``marks`` behind it."""
    around = paragraph.parent
    lines = [place(LINE, mark["claim"]) for mark in marks]
    at = around.index(paragraph)
    if not stands_alone(paragraph):
        around.insert(at + 1, lines)
        for mark in marks:
            touch(mark)
        return
    around.remove(paragraph)
    around.insert(at, lines)
    before = at - 1
    while before >= 0 and isinstance(around[before], nodes.raw):
        before -= 1  # the lines of the paragraph before
    if before >= 0 and isinstance(around[before], nodes.paragraph):
        around[before].extend(marks)
    else:
        for line in lines:
            line["open"] = True


def stands_alone(paragraph: nodes.paragraph) -> bool:
    """Return whether a paragraph has no words but marks."""
    return all(
        child.get("shows") == MARK if isinstance(child, nodes.raw) else not child.astext().strip()
        for child in paragraph
    )


def touch(mark: nodes.raw) -> None:
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
        for mark in list(places(self.document, MARK)):
            hold(mark)


def hold(mark: nodes.raw) -> None:
    """Put a mark into one box with the word before it, or with the formula that stands there."""
    around = mark.parent
    at = around.index(mark)
    before = around[at - 1] if at else None
    if isinstance(before, nodes.inline) and "kept" in before["classes"]:
        around.remove(mark)
        before += mark
    else:
        mathematics.hold(mark, WORD, NOTHING)
