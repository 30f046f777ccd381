"""Where the site shows a page's code: a figure's at the figure, checks and set-up at the end.

Cells tagged ``setup`` (imports, knobs) come first in a page's file and its notebook, where they
have to run first. On the site they stand at the end, under "Run it", with a link at the top. The
cells of the section "How it was checked" stand under one bar, below a table of the page's rows.
That section and "Whose is what" are folded on a chapter's first page, which ends with them.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

from claimbook.pages import CHAPTERS, is_second
from claimbook.site.nodes import finished, tag
from claimbook.site.views import Views

SETUP = "setup"  # the tag of a cell
RUN_ANCHOR = "run-it"
CHECKED = "How it was checked"
LAST = ("Whose is what", CHECKED)


def is_cell(node: nodes.Node) -> bool:
    """Return whether a node is a code cell with its outputs."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def cell_around(node: nodes.Node) -> Any:
    """Return the code cell that a node stands in, or None."""
    while node is not None and not is_cell(node):
        node = node.parent
    return node


def folded(words: str, cells: Sequence[nodes.Node]) -> nodes.Element:
    """Move some cells under one bar, which is for the screen alone, and take off their own."""
    for cell in cells:
        cell.parent.remove(cell)
        for bar in list(cell.findall(HideCodeCellNode)):
            bar.replace_self(bar.children)
    return tag("details", tag("summary", words), *cells, classes=["page-fold", "screen-only"])


def code_without_bar(figure: nodes.figure) -> list[nodes.Node]:
    """Take the folded code behind a figure out of the page, in the order in which it runs.

    That is the code of the cell that draws it, and of the folded cells that stand directly before
    or behind it and show nothing: those that compute what is drawn, or what the text says of it.
    None of a cell whose code is in sight.
    """
    cell = cell_around(figure)
    if cell is None or cell.get("hide_mode") != "input":
        return []
    around = cell.parent
    at = around.index(cell)
    before = list(takewhile(is_silent, reversed(around[:at])))[::-1]
    behind = list(takewhile(is_silent, around[at + 1 :]))
    rest = around[at + 1 + len(behind) :]
    if rest and next(rest[0].findall(nodes.figure), None) is not None:
        behind = []  # they compute what the next figure draws
    for one in (*before, *behind):
        around.remove(one)
    bars = [bar for one in (*before, cell, *behind) for bar in one.findall(HideCodeCellNode)]
    for bar in bars:
        bar.parent.remove(bar)
    return [code for bar in bars for code in bar.children]


def is_silent(node: nodes.Node) -> bool:
    """Return whether a node is a cell whose code is folded, without output and address."""
    if not is_cell(node) or node.get("hide_mode") != "input" or node["ids"]:
        return False
    return all(isinstance(one, HideCodeCellNode) or not one.children for one in node.children)


def move_setup(views: Views, page: str, doctree: nodes.document) -> None:
    """Show the cells tagged ``setup`` at the end of the page."""
    cells = [node for node in doctree.findall(nodes.container) if is_cell(node)]
    setup = [cell for cell in cells if SETUP in cell["cell_metadata"].get("tags", [])]
    if not setup:
        return
    whole = doctree.next_node(nodes.section)
    link = tag("a", "Run it", href=f"#{RUN_ANCHOR}")
    whole.insert(1, tag("p", link, classes=["run-link", "screen-only"]))
    how = finished(views("run_it.html", page, chapter=page.removeprefix(f"{CHAPTERS}/")))
    whole += tag("div", how, folded("The set-up", setup), ids=[RUN_ANCHOR], classes=["screen-only"])


def section_of(doctree: nodes.document) -> nodes.section | None:
    """Return the section of the checks; None where the page has none."""
    titles = (node for node in doctree.findall(nodes.title) if node.astext().strip() == CHECKED)
    return next((title.parent for title in titles), None)


def gather_checks(views: Views, page: str, doctree: nodes.document) -> None:
    """Put the section's cells, from the first to the last, under one bar below their table."""
    section = section_of(doctree)
    if section is None:
        return
    claims = [one for cell in doctree.findall(nodes.container) for one in cell.get("claims", [])]
    cells = [at for at, child in enumerate(section.children) if is_cell(child)]
    if cells:
        section.insert(cells[0], folded("The checks", section[cells[0] : cells[-1] + 1]))
    if claims:
        rows = [views.content.by_id[claim] for claim in claims]
        section.insert(1, finished(views("checked.html", page, rows=rows)))


def fold_last(page: str, doctree: nodes.document) -> None:
    """Fold the last sections of a chapter's first page under their headings and addresses."""
    for section in [] if is_second(page) else list(doctree.findall(nodes.section)):
        title, *rest = section.children
        if title.astext().strip() in LAST:
            summary = tag("summary", tag("h2", *title.children))
            fold = tag("details", summary, *rest, ids=section["ids"], classes=["section-fold"])
            section.replace_self(fold)


def remove_output(line: nodes.Element) -> None:
    """Take a verdict out of the outputs of its cell, with what held nothing else."""
    while line.parent.get("nb_element") != "cell_code_output":
        line = line.parent  # the forms of the verdict, of which one is shown
    outputs = line.parent
    outputs.remove(line)
    if not outputs.children:
        outputs.parent.remove(outputs)
