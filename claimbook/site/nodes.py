"""The nodes that pages are made of: plain HTML elements, and pieces of finished HTML.

docutils has none for ``details``, ``dl`` and ARIA attributes, and writes classes and wrappers
around its containers that the style sheet would have to undo.
"""

from collections.abc import Iterable

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

INLINE = {"a", "code", "em", "span"}


class html_tag(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils is untyped
    """A plain HTML element around its children; made by :func:`claimbook.site.nodes.tag`."""


def visit_tag(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the start of an element."""
    name = node["tag"]
    self.body.append(self.starttag(node, name, "", empty=name == "img", **node["attributes"]))


def depart_tag(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the end of an element, and a new line after a block."""
    if node["tag"] != "img":
        self.body.append(f"</{node['tag']}>")
    if node["tag"] not in INLINE:
        self.body.append("\n")


def tag(
    name: str,
    *children: nodes.Node | str,
    classes: Iterable[str] = (),
    ids: Iterable[str] = (),
    **attributes: str,
) -> html_tag:
    """Make an HTML element; in the attributes' names ``_`` stands for ``-`` (``aria_label``)."""
    written = {key.replace("_", "-"): value for key, value in attributes.items()}
    node = html_tag("", tag=name, classes=list(classes), ids=list(ids), attributes=written)
    node.extend(nodes.Text(one) if isinstance(one, str) else one for one in children)
    return node


def finished(html: str, markdown: str = "") -> nodes.raw:
    """Make a piece of finished HTML; a notebook shows the ``markdown`` in its place."""
    return nodes.raw("", html, format="html", markdown=markdown)
