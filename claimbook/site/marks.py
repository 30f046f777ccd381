"""The mark behind a sentence that a row of the ledger proves, and the line that it opens.

The role {judged}`id` writes a mark into its sentence: ✓, ◐, ✗ or ?. The row's line stands behind
the paragraph; where the row holds it is hidden until the mark is used, any other verdict stays in
sight. Alone in a paragraph, the role belongs to the paragraph before it; where that is none, the
line is open in its place.

What a check shows, through MyST-NB's entry point ``mime_renderers``, is the line of its row. It is
left out where a mark has that line, and on a page that lists its checks
(:mod:`claimbook.site.cells`).
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Node, system_message
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from claimbook.ledger import HOLDS
from claimbook.ledger.record import VERDICT
from claimbook.pages import is_second
from claimbook.site.cells import cell_around, remove_output, section_of
from claimbook.site.nodes import finished
from claimbook.site.views import Views, headline, views_of

logger = logging.getLogger(__name__)


def marker(kind: str, claim: str, html: str = "") -> nodes.raw:
    """Make the ``mark`` of a row, or what stands for its line: a ``line`` or a ``check``."""
    node = finished(html)
    node[kind] = claim
    return node


def markers(node: nodes.Element, *kinds: str) -> list[nodes.raw]:
    """List what stands for rows in a part of a page, of some kinds."""
    return [one for one in node.findall(nodes.raw) if set(kinds) & set(one.attributes)]


class VerdictOutput:
    """The renderer of a verdict among the outputs of a cell."""

    mime_priority_overrides: ClassVar = [("*", VERDICT, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Node] | None:
        """Return the place of the line; None for outputs of other types."""
        return [marker("check", data.content["id"])] if data.mime_type == VERDICT else None


class JudgedRole(SphinxRole):
    """The mark of a row of the page's own block."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Return the mark; nothing, with a warning, where the row is another page's, or none."""
        claim, page, views = self.text.strip(), self.env.docname, views_of(self.env.app)
        row = views.content.by_id.get(claim)
        if row is None or row["chapter"] != page.rpartition("/")[2]:
            message = "judged: '%s' is no row of this page's block of the ledger"
            logger.warning(message, claim, location=self.get_location())
            return [], []
        listed = f"#checked-{claim}"  # a chapter's first page lists all of its checks
        address = views.address(page, f"book/ledger.html#{claim}") if is_second(page) else listed
        html = views("mark.html", page, row=row, address=address, line=f"line-{claim}")
        return [marker("mark", claim, html)], []


def show_lines(app: Sphinx, doctree: nodes.document) -> None:
    """Put the line of each mark behind its paragraph, and write the lines of a page."""
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if marks := markers(paragraph, "mark"):
            put_behind(paragraph, marks)
    marked = [mark["mark"] for mark in markers(doctree, "mark")]
    lined = [line["line"] for line in markers(doctree, "line") if "open" not in line]
    if sorted(marked) != sorted(set(lined)):
        message = "judged: each mark must stand in a paragraph, and on a page once; got %s"
        logger.warning(message, ", ".join(marked), location=doctree)
    lists = section_of(doctree) is not None
    for check in markers(doctree, "check"):
        cell = cell_around(check)
        cell["claims"] = [*cell.get("claims", []), check["check"]]
        cell["ids"].append(f"check-{check['check']}")
        if lists or check["check"] in marked:
            remove_output(check)
    write_lines(views_of(app), app.env.docname, markers(doctree, "line", "check"))


def write_lines(views: Views, page: str, lines: Sequence[nodes.raw]) -> None:
    """Write the lines of a page, the first one that has a picture with a link to what it means."""
    explained = False
    for node in lines:
        row = views.content.by_id[node.get("line") or node["check"]]
        explain = not explained and headline(row) is not None
        explained = explained or explain
        anchor = f"line-{row['id']}" if "line" in node else ""
        hidden = bool(anchor) and "open" not in node and row["verdict"] == HOLDS
        context = {"row": row, "anchor": anchor, "hidden": hidden, "explained": explain}
        node += nodes.Text(views("line.html", page, **context))
        node["markdown"] = views.in_notebook(row)


def put_behind(paragraph: nodes.paragraph, marks: Sequence[nodes.raw]) -> None:
    """Put the places of the lines of a paragraph's ``marks`` behind it.

    A mark stands directly behind its sentence, without the space before it.
    """
    around = paragraph.parent
    at = around.index(paragraph)
    lines = [marker("line", mark["mark"]) for mark in marks]
    words = (one for one in paragraph.children if one not in marks)
    if "".join(one.astext() for one in words).strip():
        around.insert(at + 1, lines)
        for mark in marks:
            before = mark.parent.index(mark) - 1
            if before >= 0 and isinstance(mark.parent[before], nodes.Text):
                mark.parent[before] = nodes.Text(mark.parent[before].rstrip())
        return
    around[at : at + 1] = lines
    while at and isinstance(around[at - 1], nodes.raw):
        at -= 1  # the lines of the paragraph before
    if at and isinstance(around[at - 1], nodes.paragraph):
        around[at - 1].extend(marks)
    else:
        for line in lines:
            line["open"] = True
