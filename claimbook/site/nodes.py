"""The nodes that the book's pages are made of: plain HTML elements, and places that a run fills.

Why not docutils' containers and sphinx-design's dropdowns: the pages need ``details``, ``dl``,
buttons and ARIA attributes, for which docutils has no nodes, and around each container it writes
classes and wrappers that the style sheet would have to undo. The price is that these elements are
known to the HTML writer alone (the text writer passes through to their words), which is the book's
one format.
"""

from collections.abc import Iterable, Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.writers.html5 import HTML5Translator

from claimbook.ledger import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_TESTABLE,
    UNDECIDED_ROW,
)

SIGNS = {
    HOLDS: "✓",
    IN_PART: "◐",
    FAILS: "✗",
    UNDECIDED_ROW: "?",
    NOT_TESTABLE: "–",
}
INLINE = {"a", "code", "em", "span", "input", "source"}
VOID = {"img", "input", "source"}


def slug(verdict: str) -> str:
    """A verdict as a CSS class and as a value in an address."""
    return verdict.replace(" ", "-")


class html_tag(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils is untyped
    """A plain HTML element around its children; made by :func:`claimbook.site.nodes.tag`."""


class from_run(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils is untyped
    """A place that is filled when the page is written: ``from_run(what="value", claim=…)``.

    ``what`` names the function in ``claimbook.site.fill.FILLS`` that fills it.
    """


def visit_tag(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the start of an element."""
    name = node["tag"]
    self.body.append(self.starttag(node, name, "", empty=name in VOID, **node["attributes"]))


def depart_tag(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the end of an element, and a new line after a block."""
    name = node["tag"]
    if name not in VOID:
        self.body.append(f"</{name}>")
    if name not in INLINE:
        self.body.append("\n")


def skip_tag(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Write nothing of the node itself; its children follow."""


def tag(
    name: str,
    *children: nodes.Node | str,
    classes: Iterable[str] = (),
    ids: Iterable[str] = (),
    **attributes: str,
) -> html_tag:
    """An HTML element; in the attributes' names ``_`` stands for ``-`` (``aria_label``)."""
    written = {key.replace("_", "-"): value for key, value in attributes.items()}
    node = html_tag("", tag=name, classes=list(classes), ids=list(ids), attributes=written)
    node.extend(as_nodes(children))
    return node


def as_nodes(parts: Iterable[nodes.Node | str]) -> list[nodes.Node]:
    """The parts with every text made a node."""
    return [nodes.Text(part) if isinstance(part, str) else part for part in parts]


def badge(verdict: str, text: str | None = None) -> html_tag:
    """A verdict with its sign; ``text`` replaces the verdict's own words."""
    sign = tag("span", SIGNS.get(verdict, "?"), aria_hidden="true")
    classes = ["verdict", f"verdict-{slug(verdict)}"]
    return tag("span", sign, f" {text or verdict}", classes=classes)


def unseen(words: str) -> html_tag:
    """Words for a screen reader only."""
    return tag("span", words, classes=["sr-words"])


def spaced(parts: Iterable[nodes.Node]) -> list[nodes.Node | str]:
    """The parts with a space between any two."""
    out: list[nodes.Node | str] = []
    for part in parts:
        out += [" ", part] if out else [part]
    return out


def is_section(node: nodes.Node) -> bool:
    """Whether a node is a section of the page; theorems and exercises hold their words in one."""
    above = (nodes.document, nodes.section)
    return isinstance(node, nodes.section) and isinstance(node.parent, above)


def places(node: nodes.Element, what: str) -> Iterator[from_run]:
    """The places of one kind on a page, or in a part of it."""
    return (one for one in node.findall(from_run) if one["what"] == what)


def glossary_items(doctree: nodes.document) -> Iterator[nodes.definition_list_item]:
    """The entries of a page's glossaries."""
    for glossary in doctree.findall(addnodes.glossary):
        yield from glossary.findall(nodes.definition_list_item)
