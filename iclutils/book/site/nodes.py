"""The nodes that the book's pages are made of: plain HTML elements, and places that a chapter's run fills."""

from docutils import nodes

from iclutils import claims

SIGNS = {claims.HOLDS: "✓", claims.IN_PART: "◐", claims.FAILS: "✗", claims.SUPERSEDED: "↻", claims.NOT_TESTABLE: "?"}
INLINE = {"a", "code", "span"}


def slug(verdict):
    return verdict.replace(" ", "-")


class html_tag(nodes.General, nodes.Element):
    """A plain HTML element around its children: ``html_tag(tag="details", classes=[...])``."""


def visit_tag(self, node):
    self.body.append(self.starttag(node, node["tag"], "", **node.get("attributes", {})))


def depart_tag(self, node):
    self.body.append(f"</{node['tag']}>" + ("" if node["tag"] in INLINE else "\n"))


def skip_tag(self, node):
    pass


class from_run(nodes.General, nodes.Element):
    """A place that is filled with what a chapter's run found: ``from_run(what="value", chapter=…, claim=…)``."""


def tag(name, *children, classes=(), ids=(), **attributes):
    node = html_tag("", tag=name, classes=list(classes), ids=list(ids), attributes=attributes)
    node.extend(nodes.Text(child) if isinstance(child, str) else child for child in children)
    return node


def badge(verdict, text=None):
    return tag("span", tag("span", SIGNS[verdict], **{"aria-hidden": "true"}), f" {text or verdict}",
               classes=["verdict", f"verdict-{slug(verdict)}"])
