"""What a reader sees who points at a cross-reference: the figure, formula, theorem, entry or claim.

Pages that are opened as files cannot read one another, so each page leaves its previews in a
script, ``_previews/PAGE.js``, which ``book/_static/previews.js`` loads when the first link to that
page is pointed at. A preview is the piece of the finished page, so that it looks the same.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from iclutils.book.runs.files import write_atomically
from iclutils.book.site.build import build_of
from iclutils.book.site.description import first_words
from iclutils.book.site.export import row_anchor
from iclutils.book.site.nodes import SIGNS, html_tag, slug
from iclutils.book.site.results import finding_text
from iclutils.book.site.search import is_section

FOLDER = "_previews"
WHOLE = (nodes.figure, nodes.math_block, nodes.citation, nodes.Admonition)  # shown as they stand
STATEMENT = re.compile(r'<(\w+) class="claim-statement">')
DROPPED = (  # of a piece of a page: links to itself, links to files
    re.compile(r'<a class="headerlink".*?</a>', re.DOTALL),
    re.compile(r'<p class="figure-files">.*?</p>', re.DOTALL),
    re.compile(r'<p class="first-use">.*?</p>', re.DOTALL),
    re.compile(r'<span class="backrefs">.*?</span>', re.DOTALL),
)


def note_previews(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Write the previews of the places of a page."""
    if doctree is None or "body" not in context:
        return
    found = dict(previews_of(doctree, str(context["body"])))
    found |= dict(claim_previews(app, doctree, str(context["body"])))
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    script = f"(window.bookPreviews??={{}})[{json.dumps(pagename)}]={text};\n"
    write_atomically(Path(app.outdir) / FOLDER / f"{pagename}.js", script)


def previews_of(doctree: nodes.document, body: str) -> Iterator[tuple[str, str]]:
    """Places of a page and the HTML that previews them."""
    for node in doctree.findall(nodes.Element):
        if isinstance(node, WHOLE) or "proof" in node["classes"]:
            yield from pieces(node["ids"], body)
        elif isinstance(node, nodes.list_item) and node["ids"]:
            yield from items(node["ids"], body)
        elif isinstance(node, nodes.definition_list_item) and in_glossary(node):
            for term in node.findall(nodes.term):
                yield from explanations(term["ids"], term.astext(), body)
        elif is_section(node):
            yield from sections(node)


def in_glossary(item: nodes.definition_list_item) -> bool:
    """Whether an entry stands in a glossary."""
    return isinstance(item.parent.parent, addnodes.glossary)


def pieces(places: Iterable[str], body: str) -> Iterator[tuple[str, str]]:
    """Elements as they stand on the page."""
    for place in places:
        start = opening(body, place)
        if start is not None:
            yield place, cleaned(element(body, start))


def items(places: Iterable[str], body: str) -> Iterator[tuple[str, str]]:
    """Items of a list that have an address, without their marks."""
    for place, piece in pieces(places, body):
        yield place, re.sub(r"\A<li\b[^>]*>|</li>\Z", "", piece)


def explanations(places: Iterable[str], name: str, body: str) -> Iterator[tuple[str, str]]:
    """A term and what the glossary says of it."""
    for place in places:
        start = opening(body, place)
        if start is not None:
            definition = re.compile(r"<(dd)\b").search(body, start.end())
            if definition is not None:
                said = cleaned(element(body, definition))
                yield place, f"<p><strong>{html.escape(name)}</strong></p>{said}"


def sections(section: nodes.section) -> Iterator[tuple[str, str]]:
    """A section by its title and its first words."""
    title = section.next_node(nodes.title)
    if title is not None:
        heading = html.escape(title.astext())
        words = html.escape(first_words(section))
        for place in section["ids"]:
            yield place, f"<p><strong>{heading}</strong></p><p>{words}</p>"


def claim_previews(app: Sphinx, doctree: nodes.document, body: str) -> Iterator[tuple[str, str]]:
    """The rows whose cards stand on a page: verdict, statement and finding."""
    build = build_of(app)
    shown = {
        place for card in doctree.findall(html_tag) for place in card["ids"] if card["classes"]
    }
    for _, row, record in build.scored:
        place = row_anchor(row["id"])
        if place in shown:
            badge = (
                f'<span class="verdict verdict-{slug(record.verdict)}">'
                f"{SIGNS[record.verdict]} {record.verdict}</span>"
            )
            head = f"<p>{badge} <code>{row['id']}</code></p>"
            said = html.escape(finding_text(record))
            yield place, f"{head}{statement(body, place)}<p>{said}</p>"


def statement(body: str, place: str) -> str:
    """The statement of the row whose card stands at a place."""
    start = opening(body, place)
    if start is None:
        return ""
    found = STATEMENT.search(body, start.end())
    return element(body, found) if found else ""


def opening(body: str, place: str) -> re.Match[str] | None:
    """The start tag of the element with an id."""
    return re.search(rf'<(\w+)\b[^>]*\bid="{re.escape(place)}"[^>]*>', body)


def element(body: str, start: re.Match[str]) -> str:
    """The whole element that begins with a start tag.

    >>> body = '<p>a</p><div id="x">b<div>c</div></div>d'
    >>> element(body, opening(body, "x"))
    '<div id="x">b<div>c</div></div>'
    """
    depth = 0
    for found in re.compile(rf"<(/?){start[1]}\b[^>]*>").finditer(body, start.start()):
        depth += -1 if found[1] else 1
        if depth == 0:
            return body[start.start() : found.end()]
    return body[start.start() :]


def cleaned(piece: str) -> str:
    """A piece of a page without what only serves the page itself."""
    for dropped in DROPPED:
        piece = dropped.sub("", piece)
    return piece
