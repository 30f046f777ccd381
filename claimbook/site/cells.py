"""Where the site shows a page's code: a figure's at the figure, checks and set-up at the end.

Cells tagged ``setup`` (imports, knobs) come first in a page's file and its notebook, where they
have to run first. On the site they stand at the end, under "Run it", with a link at the top. The
cells of the section "How it was checked" stand under one bar, below a table of the page's rows; in
the file, and in the notebook, such a cell shows the verdict that it finds.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import TypeGuard

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.util import logging

from claimbook.pages import CHAPTERS
from claimbook.site.nodes import finished, is_section, tag
from claimbook.site.views import Views

logger = logging.getLogger(__name__)

SETUP = "setup"  # the tag of a cell
RUN = "Run it"
RUN_ANCHOR = "run-it"
CHECKED = "How it was checked"
BAR = "The checks"


def is_cell(node: nodes.Node) -> TypeGuard[nodes.container]:
    """Whether a node is a code cell with its outputs."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def cells(node: nodes.Element) -> Iterator[nodes.container]:
    """The code cells in a part of a page."""
    return (one for one in node.findall(nodes.container) if is_cell(one))


def cell_around(node: nodes.Node) -> nodes.container | None:
    """Return the code cell that a node stands in."""
    while node is not None and not is_cell(node):
        node = node.parent
    return node


def unfolded(node: nodes.Element) -> None:
    """Take the bars off the code in a part of a page."""
    for bar in list(node.findall(HideCodeCellNode)):
        bar.replace_self(bar.children)


def code_without_bar(figure: nodes.figure) -> list[nodes.Node]:
    """The folded code behind a figure, taken out of the page, in the order in which it runs.

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
    """Whether a node is a cell whose code is folded, and which shows nothing and has no address."""
    return (
        is_cell(node)
        and node.get("hide_mode") == "input"
        and not node["ids"]
        and all(isinstance(one, HideCodeCellNode) or not one.children for one in node.children)
    )


def move_setup(views: Views, page: str, doctree: nodes.document) -> None:
    """Take the cells tagged ``setup`` out of their places and show them at the end."""
    taken = [cell for cell in cells(doctree) if SETUP in cell["cell_metadata"].get("tags", [])]
    if not taken:
        return
    for cell in taken:
        if next(cell.findall(nodes.figure), None) is not None:
            logger.warning("a cell tagged 'setup' draws a figure", location=cell)
        cell.parent.remove(cell)
        unfolded(cell)
    whole = doctree.next_node(nodes.section)
    link = tag("a", RUN, href=f"#{RUN_ANCHOR}")
    whole.insert(1, tag("p", link, classes=["run-link", "screen-only"]))
    chapter = page.removeprefix(f"{CHAPTERS.as_posix()}/")
    how = finished(views("run_it.html", page, chapter=chapter))
    folded = tag("details", tag("summary", "The set-up"), *taken, classes=["page-fold"])
    whole += tag("div", how, folded, ids=[RUN_ANCHOR], classes=["screen-only"])


def section_of(doctree: nodes.document) -> nodes.section | None:
    """Return the section of the checks; None where the page has none."""
    for section in filter(is_section, doctree.findall(nodes.section)):
        if section.next_node(nodes.title).astext().strip() == CHECKED:
            return section
    return None


def gather_checks(views: Views, page: str, doctree: nodes.document) -> None:
    """Put the table and the bar into the section; verdicts that it lists leave their cells."""
    raws = list(doctree.findall(nodes.raw))
    lines = [node for node in raws if node.get("shows") == "check"]
    marked = {node["claim"] for node in raws if node.get("shows") == "mark"}
    section = section_of(doctree)
    for line in lines:
        cell = cell_around(line)
        if cell is not None:
            cell["ids"].append(f"check-{line['claim']}")
        if section is not None or line["claim"] in marked:
            remove_output(line)
    if section is None:
        return
    rows = [views.content.by_id[line["claim"]] for line in lines]
    if rows:
        section.insert(1, finished(views("checked.html", page, rows=rows)))
    fold(section)


def fold(section: nodes.section) -> None:
    """Put the section's cells, from the first to the last, under one bar."""
    found = [at for at, child in enumerate(section.children) if is_cell(child)]
    if not found:
        return
    first, last = found[0], found[-1] + 1
    checks = section.children[first:last]
    for check in checks:
        section.remove(check)
        unfolded(check)
    summary = tag("summary", BAR)
    section.insert(first, tag("details", summary, *checks, classes=["page-fold", "screen-only"]))


def remove_output(line: nodes.Element) -> None:
    """Take a verdict out of the outputs of its cell, with what held nothing else."""
    outputs = line.parent
    outputs.remove(line)
    if not outputs.children:
        outputs.parent.remove(outputs)
