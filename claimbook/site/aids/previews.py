"""What a reader sees who points at a cross-reference: the figure, formula, theorem, entry or claim.

Pages that are opened as files cannot read one another, so each page leaves its previews in a
script, ``_previews/PAGE.js``, which ``book/_static/previews.js`` loads when the first link to that
page is pointed at. A preview is the piece of the finished page, so that it looks the same.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from claimbook.files import write_atomically
from claimbook.site.aids.description import first_words
from claimbook.site.content import content_of
from claimbook.site.nodes import glossary_items, html_tag, is_section
from claimbook.site.results import finding_text, row_anchor

FOLDER = "_previews"
WHOLE = (nodes.figure, nodes.math_block, nodes.citation, nodes.Admonition)  # shown as they stand
WITH_ID = re.compile(r'<(\w+)\b[^>]*\bid="([^"]*)"[^>]*>')  # a start tag
ITEM = re.compile(r"\A<li\b[^>]*>|</li>\Z")  # what only a list has
DEFINITION = re.compile(r"<(dd)\b")
BADGE = re.compile(r'<(span) class="verdict ')
STATEMENT = re.compile(r'<(\w+) class="claim-statement">')
DROPPED = (  # of a piece of a page: links to itself, links to files
    re.compile(r'<a class="headerlink".*?</a>', re.DOTALL),
    re.compile(r'<div class="figure-tools">.*?</p>\s*</div>', re.DOTALL),  # its links stand last
    re.compile(r'<span class="backrefs">.*?</span>', re.DOTALL),
)


def note_previews(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the previews of the places of a page."""
    if doctree is None or "body" not in context:
        return
    body = Body(str(context["body"]))
    found = dict(previews_of(doctree, body)) | dict(claim_previews(app, doctree, body))
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    script = f"(window.bookPreviews??={{}})[{json.dumps(pagename)}]={text};\n"
    write_atomically(Path(app.outdir) / FOLDER / f"{pagename}.js", script)


class Body:
    """The text of a finished page and its elements.

    >>> body = Body('<p>a</p><div id="x">b<div>c</div></div>d')
    >>> body.element(body.starts["x"])
    '<div id="x">b<div>c</div></div>'
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: dict[str, re.Match[str]] = {}  # the start tags of elements by their ids
        for found in WITH_ID.finditer(text):
            self.starts.setdefault(found[2], found)

    def element(self, start: re.Match[str]) -> str:
        """The whole element that begins with a start tag."""
        depth = 0
        for found in re.compile(rf"<(/?){start[1]}\b[^>]*>").finditer(self.text, start.start()):
            depth += -1 if found[1] else 1
            if depth == 0:
                return self.text[start.start() : found.end()]
        return self.text[start.start() :]

    def first_after(self, place: str, start: re.Pattern[str]) -> str:
        """The first element after a place that begins so; nothing where there is none."""
        if place not in self.starts:
            return ""
        found = start.search(self.text, self.starts[place].end())
        return self.element(found) if found else ""


def previews_of(doctree: nodes.document, body: Body) -> Iterator[tuple[str, str]]:
    """Places of a page and the HTML that previews them."""
    for node in doctree.findall(nodes.Element):
        if isinstance(node, (*WHOLE, nodes.list_item)):
            for place in filter(body.starts.get, node["ids"]):
                yield place, ITEM.sub("", cleaned(body.element(body.starts[place])))
        elif is_section(node):
            heading = titled(node.next_node(nodes.title))
            words = html.escape(first_words(node))
            for place in node["ids"]:
                yield place, f"{heading}<p>{words}</p>"
    for item in glossary_items(doctree):
        for term in item.findall(nodes.term):
            for place in term["ids"]:
                yield place, titled(term) + cleaned(body.first_after(place, DEFINITION))


def titled(node: nodes.Element) -> str:
    """The words of a title or a term, as the head of a preview."""
    return f"<p><strong>{html.escape(node.astext())}</strong></p>"


def claim_previews(app: Sphinx, doctree: nodes.document, body: Body) -> Iterator[tuple[str, str]]:
    """The rows whose cards stand on a page: verdict, statement and finding."""
    shown = {
        place for card in doctree.findall(html_tag) for place in card["ids"] if card["classes"]
    }
    for _, row, record in content_of(app).scored:
        place = row_anchor(row["id"])
        if place in shown:
            badge = body.first_after(place, BADGE)
            statement = body.first_after(place, STATEMENT)
            said = html.escape(finding_text(record))
            yield place, f"<p>{badge} <code>{row['id']}</code></p>{statement}<p>{said}</p>"


def cleaned(piece: str) -> str:
    """A piece of a page without what only serves the page itself."""
    for dropped in DROPPED:
        piece = dropped.sub("", piece)
    return piece
