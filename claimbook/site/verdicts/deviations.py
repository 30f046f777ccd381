"""The register of what the book does differently: every entry a place, and one page of all.

Each chapter's second page has a section of numbered deviations with their effects. Every entry gets
an address, ``dev-CHAPTER-NUMBER``; ``{deviations}`` lists them all by their first words.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx

from claimbook.runs import cache
from claimbook.site.content import label
from claimbook.site.nodes import tag
from claimbook.site.page import Page, note, noted
from claimbook.site.plain import plain_text

HEADINGS = re.compile(r"Deviations|What we did differently")
LEADS = (nodes.strong, nodes.emphasis)


class Deviation(NamedTuple):
    """One entry: its place on its page, and its first words."""

    place: str
    words: str


ENTRIES = "iclbook_deviations"


def note_deviations(app: Sphinx, doctree: nodes.document) -> None:
    """Give the entries of a chapter's page their addresses."""
    folder, _, chapter = app.env.docname.rpartition("/")
    if folder != cache.CHAPTERS.as_posix():
        return
    found: list[Deviation] = []
    for entry in entries(doctree):
        place = f"dev-{label(chapter)}-{len(found) + 1}"
        entry["ids"].append(place)
        found.append(Deviation(place, subject(entry)))
    note(app.env, ENTRIES, found)


def entries(doctree: nodes.document) -> Iterator[nodes.Element]:
    """The items of the numbered lists, and the rows of the tables, in those sections."""
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title is None or not HEADINGS.match(title.astext()):
            continue
        for child in section.children:
            if isinstance(child, nodes.enumerated_list):
                yield from child.findall(nodes.list_item)
            elif isinstance(child, nodes.table):
                for body in child.findall(nodes.tbody):
                    yield from body.findall(nodes.row)


def subject(entry: nodes.Element) -> str:
    """What an entry is about: its words in bold or italics, or the cells after its number."""
    if isinstance(entry, nodes.row):
        cells = [plain_text(cell) for cell in entry.findall(nodes.entry)]
        return f"{cells[1]}; here: {cells[2]}"
    lead = next((node for node in entry.findall() if isinstance(node, LEADS)), None)
    return plain_text(lead if lead is not None else entry).rstrip(".,:")


def deviations(page: Page, node: nodes.Element) -> Sequence[nodes.Node | str]:
    """A list for each chapter, in the book's order."""
    found = noted(page.builder.env, ENTRIES)
    out: list[nodes.Node | str] = []
    for chapter in page.content.chapters:
        name = f"{cache.CHAPTERS.as_posix()}/{chapter}"
        if found.get(name):
            address = page.to_page(name)
            heading = page.content.headings[cache.first_page(chapter)]
            items = [
                tag("li", tag("code", place), " ", tag("a", words, href=f"{address}#{place}"))
                for place, words in found[name]
            ]
            out += [tag("h2", heading), tag("ul", *items, classes=["register"])]
    return out
