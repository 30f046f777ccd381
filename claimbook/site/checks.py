"""How a page was checked: one table of its rows, and all checking cells under one bar.

They stand in the section "How it was checked". The site alone arranges them so, when it writes the
page: in the file, and in the notebook, a cell shows the verdict that it finds.
"""

from docutils import nodes

from claimbook.site.cells import is_cell, unfolded
from claimbook.site.nodes import finished, is_section, tag
from claimbook.site.views import Views

SECTION = "How it was checked"
BAR = "The checks"


def section_of(doctree: nodes.document) -> nodes.section | None:
    """Return the section of the checks; None where the page has none."""
    for section in filter(is_section, doctree.findall(nodes.section)):
        if section.next_node(nodes.title).astext().strip() == SECTION:
            return section
    return None


def gather_checks(views: Views, page: str, doctree: nodes.document) -> None:
    """Put the table and the bar into the section; verdicts that it lists leave their cells."""
    raws = list(doctree.findall(nodes.raw))
    lines = [node for node in raws if node.get("shows") == "check"]
    marked = {node["claim"] for node in raws if node.get("shows") == "mark"}
    section = section_of(doctree)
    for line in lines:
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
