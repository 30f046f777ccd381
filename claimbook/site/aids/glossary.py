"""The first use of every term: marked where it stands, and linked from the glossary.

A term is used by the role ``{term}``. The first use on a page becomes a place that one can link to;
under each entry of the glossary stands the first of the main pages, in the book's order, that uses
the term. An entry that no page uses is a warning.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from claimbook.files import ROOT
from claimbook.runs import cache
from claimbook.site.nodes import glossary_items, tag
from claimbook.site.page import GATHERS, note, noted

logger = logging.getLogger(__name__)

USES = "iclbook_terms"  # the place of each term's first use on a page, by the term in small letters


def note_uses(app: Sphinx, doctree: nodes.document) -> None:
    """Make the first use of each term on a page a place; note the pages that explain terms."""
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
    note(app.env, USES, first)
    if any(doctree.findall(addnodes.glossary)):
        note(app.env, GATHERS, True)


def link_first_uses(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put under each entry where it is used first."""
    uses = noted(app.env, USES)
    for item in glossary_items(doctree):
        terms = [term.astext().lower() for term in item.findall(nodes.term)]
        used = [
            (page, uses[page][term])
            for page in cache.toc_pages(ROOT)
            for term in terms
            if term in uses.get(page, {})
        ]
        if not used:
            logger.warning("no page uses the term %s", terms, location=item)
            continue
        page, place = used[0]
        address = app.builder.get_relative_uri(docname, page) + f"#{place}"
        link = tag("a", app.env.titles[page].astext(), href=address)
        first = tag("p", "First use: ", link, classes=["first-use"])
        item.next_node(nodes.definition).append(first)
