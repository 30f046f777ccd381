"""The first use of every term: marked where it stands, and linked from the glossary.

A term is used by the role ``{term}``. The first use on a page becomes a place that one can link to;
under each entry of the glossary stands the first of the main pages, in the book's order, that uses
the term. An entry that no page uses is a warning.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT
from iclutils.book.site.nodes import tag

logger = logging.getLogger(__name__)

Uses = Mapping[str, str]  # the place of the first use of each term on a page, by the entry's id
STANDARD = "std"  # Sphinx's domain of terms


def uses_of(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """The first uses of the terms, by page."""
    found: dict[str, dict[str, str]] = getattr(env, "iclbook_terms", {})
    return found


def entry_of(env: BuildEnvironment, term: str) -> str:
    """The id of a term's entry; nothing where there is no such entry."""
    known = env.get_domain(STANDARD).objects  # type: ignore[attr-defined]  # of that domain
    lower = {name.lower(): place for (kind, name), place in known.items() if kind == "term"}
    place = lower.get(term.lower())
    return place[1] if place else ""


def note_uses(app: Sphinx, doctree: nodes.document) -> None:
    """Make the first use of each term on a page a place."""
    env = app.env
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
    env.iclbook_terms = uses_of(env) | {env.docname: first}  # type: ignore[attr-defined]


def purge_uses(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is gone, or is about to be read again."""
    uses_of(env).pop(docname, None)


def merge_uses(app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: Any) -> None:
    """Join what a parallel reader has noted."""
    env.iclbook_terms = uses_of(env) | uses_of(other)  # type: ignore[attr-defined]


def pages_with_entries(env: BuildEnvironment) -> set[str]:
    """The pages that explain terms."""
    known = env.get_domain(STANDARD).objects  # type: ignore[attr-defined]  # of that domain
    return {page for (kind, _), (page, _) in known.items() if kind == "term"}


def write_entries_anew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The glossary is written in every build: any page may have a new first use."""
    return sorted(pages_with_entries(env))


def first_uses(env: BuildEnvironment) -> dict[str, tuple[str, str]]:
    """Page and place of the first use of each entry, in the book's order."""
    found: dict[str, tuple[str, str]] = {}
    for page in cache.toc_pages(ROOT):
        for term, place in uses_of(env).get(page, {}).items():
            found.setdefault(entry_of(env, term), (page, place))
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
            page, place = min(used, key=lambda use: cache.toc_pages(ROOT).index(use[0]))
            address = app.builder.get_relative_uri(docname, page) + f"#{place}"
            title = app.env.titles[page].astext()
            link = tag("a", title, href=address)
            definition += tag("p", "First use: ", link, classes=["first-use"])
        elif entries:
            logger.warning("no page uses the term %s", entries, location=item)
