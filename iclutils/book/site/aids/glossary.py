"""The first use of every term: marked where it stands, and linked from the glossary.

A term is used by the role ``{term}``. The first use on a page becomes a place that one can link to;
under each entry of the glossary stands the first of the main pages, in the book's order, that uses
the term. An entry that no page uses is a warning.
"""

from collections.abc import Mapping
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT
from iclutils.book.site.nodes import tag
from iclutils.book.site.notes import PageNotes

logger = logging.getLogger(__name__)

STANDARD = "std"  # Sphinx's domain of terms
USES: PageNotes[Mapping[str, str]] = PageNotes("terms")  # the place of each term's first use


class Use(NamedTuple):
    """The first use of a term in the book: the page, by its place in the order and its name."""

    order: int
    page: str
    place: str


def entries_by_term(env: BuildEnvironment) -> dict[str, str]:
    """The ids of the glossary's entries, by their terms in small letters."""
    known = env.get_domain(STANDARD).objects  # type: ignore[attr-defined]  # of that domain
    return {name.lower(): place for (kind, name), (_, place) in known.items() if kind == "term"}


def note_uses(app: Sphinx, doctree: nodes.document) -> None:
    """Make the first use of each term on a page a place."""
    first: dict[str, str] = {}
    for reference in list(doctree.findall(addnodes.pending_xref)):
        if reference.get("reftype") != "term":
            continue
        term = str(reference["reftarget"]).lower()
        if term not in first:
            first[term] = "use-" + nodes.make_id(term)
            place = nodes.inline(ids=[first[term]])
            reference.parent.replace(reference, place)
            place += reference
    USES.put(app.env, first)


def pages_with_entries(env: BuildEnvironment) -> set[str]:
    """The pages that explain terms."""
    known = env.get_domain(STANDARD).objects  # type: ignore[attr-defined]  # of that domain
    return {page for (kind, _), (page, _) in known.items() if kind == "term"}


def write_entries_anew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The glossary is written in every build: any page may have a new first use."""
    return sorted(pages_with_entries(env))


def first_uses(env: BuildEnvironment) -> dict[str, Use]:
    """The first use of each entry, by its id, in the book's order."""
    entries = entries_by_term(env)
    found: dict[str, Use] = {}
    for order, page in enumerate(cache.toc_pages(ROOT)):
        for term, place in USES.of(env).get(page, {}).items():
            found.setdefault(entries.get(term, ""), Use(order, page, place))
    return found


def link_first_uses(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put under each entry where it is used first."""
    if docname not in pages_with_entries(app.env):
        return
    first = first_uses(app.env)
    for item in doctree.findall(nodes.definition_list_item):
        entries = [place for term in item.findall(nodes.term) for place in term["ids"]]
        used = [first[entry] for entry in entries if entry in first]
        definition = item.next_node(nodes.definition)
        if used and definition is not None:
            use = min(used, key=lambda use: use.order)
            address = app.builder.get_relative_uri(docname, use.page) + f"#{use.place}"
            title = app.env.titles[use.page].astext()
            link = tag("a", title, href=address)
            definition += tag("p", "First use: ", link, classes=["first-use"])
        elif entries:
            logger.warning("no page uses the term %s", entries, location=item)
