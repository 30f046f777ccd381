"""What the search page knows: every section, term, theorem, function and claim, with its words.

Sphinx's own search leads to pages of many screens, shows the TeX of formulas, and has no excerpts
where pages are opened as files. Here each page notes its places as it is written; at the end they
become one script, ``search-places.js``, which ``book/_static/search.js`` looks through. Words that
a reader may ask for and the text does not use are entries of the index (``{index}``).
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from claimbook.files import write_atomically
from claimbook.pages import CHAPTERS, is_second
from claimbook.site.content import content_of
from claimbook.site.nodes import glossary_items, html_tag, is_section
from claimbook.site.plain import plain_markdown, plain_text
from claimbook.site.results import finding_text, row_anchor
from claimbook.site.words import quotations, source_text

PLACES = "search-places.js"
LEDGER = "book/ledger"
# how much a hit counts by where it stands: what is read first comes first
CHAPTER, OTHER, TERM, SECOND, ROW, PACKAGE = 1.0, 0.9, 0.8, 0.7, 0.6, 0.4
UNREAD = (  # no text of the section that it stands in
    nodes.literal_block,
    nodes.comment,
    nodes.raw,
    addnodes.index,
    addnodes.toctree,
    addnodes.desc,
    addnodes.glossary,
)
# what is found elsewhere
OWN_PLACES = {"claim", "judged", "score-group", "scorecard-frame"}


@dataclass(frozen=True)
class Place:
    """One place that a search can lead to."""

    title: str
    within: str  # the page, as the results name it
    address: str  # from the root of the site
    keys: tuple[str, ...]  # further names of it, which count as much as its title
    text: str
    weight: float


def weight_of(page: str) -> float:
    """How much a hit on a page counts."""
    if page.startswith("book/reference/"):
        return PACKAGE
    if page.startswith(f"{CHAPTERS.as_posix()}/"):
        return SECOND if is_second(page) else CHAPTER
    return ROW if page == LEDGER else OTHER


def note_places(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Keep the places of a page that is written, for :func:`write_places`."""
    if doctree is not None:
        found = [asdict(place) for place in places_of(doctree, pagename)]
        write_atomically(kept(app, pagename), json.dumps(found, ensure_ascii=False))


def kept(app: Sphinx, page: str) -> Path:
    """Where the places of a page are kept from one build to the next."""
    return Path(app.outdir).parent / "places" / f"{page}.json"


def places_of(doctree: nodes.document, page: str) -> Iterator[Place]:
    """The sections, theorems and functions of a page, and its terms: those of an entry as one."""
    within = ""
    for section in filter(is_section, doctree.findall(nodes.section)):
        title = plain_text(section.next_node(nodes.title))
        within = within or title
        address = f"{page}.html#{section['ids'][0]}"
        keys = tuple(dict.fromkeys(index_words(section)))
        # without its title, its subsections, its code and the cards in it
        rest = [child for child in section.children if not isinstance(child, nodes.title)]
        text = " ".join(filter(None, (plain_text(child, leave=unread) for child in rest)))
        yield Place(title, within, address, keys, text, weight_of(page))
    for item in glossary_items(doctree):
        terms = list(item.findall(nodes.term))
        first, *others = map(plain_text, terms)
        address = f"{page}.html#{terms[0]['ids'][0]}"
        text = plain_text(item.next_node(nodes.definition), leave=unread)
        yield Place(first, within, address, tuple(others), text, TERM)
    for signature in doctree.findall(addnodes.desc_signature):
        for place in signature["ids"]:
            name = place.rsplit(".", 1)[-1]
            text = plain_text(signature.parent)
            yield Place(name, within, f"{page}.html#{place}", (place,), text, PACKAGE)


def unread(node: nodes.Node) -> bool:
    """Whether a node is no text of the section that it stands in."""
    if is_section(node) or isinstance(node, UNREAD):
        return True
    if isinstance(node, html_tag):
        return not OWN_PLACES.isdisjoint(node["classes"])
    return isinstance(node, nodes.Element) and node.get("nb_element") == "cell_code_source"


def index_words(section: nodes.section) -> Iterator[str]:
    """The entries of the index that lead into a section itself; terms are places of their own."""
    for index in section.findall(addnodes.index):
        if isinstance(index.parent, nodes.term):
            continue
        above = index.parent
        while not is_section(above):
            above = above.parent
        if above is section:
            for _, words, *_ in index["entries"]:
                yield from (word.strip() for word in words.split(";"))


def row_places(app: Sphinx) -> Iterator[Place]:
    """Every row of the ledger that is in the book."""
    content = content_of(app)
    for claim, (chapter, row) in content.entries.items():
        source = source_text(content.ledger["documents"], row)
        found = finding_text(content.results.record(chapter, claim))
        words = [row["brief"], row["statement"], found, *quotations(row)]
        place = f"{LEDGER}.html#{row_anchor(claim)}"
        text = plain_markdown(" ".join(words))
        yield Place(f"{claim}: {source}", "The ledger", place, (claim, source), text, ROW)


def write_places(app: Sphinx, pages: Iterable[str]) -> None:
    """Join what the pages have kept into the script of the search page."""
    places: list[Any] = []
    for page in sorted(pages):
        if kept(app, page).exists():
            places += json.loads(kept(app, page).read_text(encoding="utf8"))
    if LEDGER in app.env.found_docs:
        places += [asdict(place) for place in row_places(app)]
    text = json.dumps(places, ensure_ascii=False, separators=(",", ":"))
    write_atomically(Path(app.outdir) / PLACES, f"window.bookPlaces={text};\n")
