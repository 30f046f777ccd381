"""How a page was checked: one table of its rows, and all checking cells under one bar.

They stand in the section "How it was checked". The site alone arranges them so, when it writes the
page: in the file, and in the notebook, a cell shows the verdict that it finds.
"""

from collections.abc import Sequence

from docutils import nodes

from claimbook.site.cells import is_cell, unfolded
from claimbook.site.nodes import from_run, html_tag, is_section, places, tag, unseen
from claimbook.site.page import Page
from claimbook.site.results import row_anchor
from claimbook.site.verdicts.marks import PLACE, checked_anchor, in_short, mark_of_row
from claimbook.site.verdicts.rows import record_of
from claimbook.site.words import quoted

SECTION = "How it was checked"
TABLE = "What was checked"
BAR = "The checks"


def gather_checks(page: Page, doctree: nodes.document) -> None:
    """Put the table and the bar into the section, and let the page's marks lead to the table."""
    lines = list(places(doctree, "check_line"))
    marked = {mark["claim"] for mark in places(doctree, "mark")}
    section = section_of(doctree)
    for line in lines:
        if section is not None or line["claim"] in marked:
            remove_output(line)
    if section is None:
        return
    if lines:
        section[1:1] = [introduction(page), table(page, lines)]
        for mark in places(doctree, "mark"):
            mark["listed"] = mark["claim"] in {line["claim"] for line in lines}
    fold(section)


def section_of(doctree: nodes.document) -> nodes.section | None:
    """The section of the checks; None where the page has none."""
    for section in filter(is_section, doctree.findall(nodes.section)):
        if section.next_node(nodes.title).astext().strip() == SECTION:
            return section
    return None


def introduction(page: Page) -> html_tag:
    """What the table shows, and where more stands."""
    document, place = PLACE
    ledger = tag("a", "the ledger", href=page.to_page("book/ledger"))
    marks = tag("a", "what the marks mean", href=page.to_page(document) + place)
    shown, more = "Each claim and a number that was measured for it. Its interval is in ", "; see "
    return tag("p", shown, ledger, more, marks, ".")


def table(page: Page, lines: Sequence[from_run]) -> html_tag:
    """The rows that a page checks: mark, claim, number; the interval stands on the row's card."""
    heads = (unseen("verdict"), "claim", "measured")
    head = tag("tr", *[tag("th", words, scope="col") for words in heads])
    rows = [table_row(page, line) for line in lines]
    caption = tag("caption", TABLE)
    whole = tag("table", caption, tag("thead", head), tag("tbody", *rows), classes=["checked"])
    return tag("div", whole, classes=["scorecard-frame"])


def table_row(page: Page, line: from_run) -> html_tag:
    """One row that a page checks."""
    row = page.content.entries[line["claim"]].row
    record = record_of(page, line)
    address = f"{page.to_page('book/ledger')}#{row_anchor(row['id'])}"
    number: list[nodes.Node | str] = []
    if record.value is not None:
        shown, quantity = in_short(record, row["quantity"])
        name = tag("span", *quoted(quantity), classes=["line-source"])
        number = [tag("span", shown, classes=["line-number"]), " ", name]
    return tag(
        "tr",
        tag("td", mark_of_row(record, row)),
        tag("td", tag("a", row["brief"], href=address)),
        tag("td", *number),
        ids=[checked_anchor(line["claim"])],
    )


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
