"""What a page says of itself to search engines and to whoever shares its address."""

import html
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LENGTH = 220  # characters; search engines show about 160


def add_description(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Put the page's first plain paragraph and its title into the page's head."""
    words = first_words(doctree) if doctree is not None else ""
    if not words:
        return
    title = html.escape(str(context.get("title") or app.config.html_title), quote=True)
    said = html.escape(words, quote=True)
    kind = "website" if pagename == app.config.root_doc else "article"
    context["metatags"] = context.get("metatags", "") + (
        f'\n<meta name="description" content="{said}">'
        f'\n<meta property="og:title" content="{title}">'
        f'\n<meta property="og:description" content="{said}">'
        f'\n<meta property="og:type" content="{kind}">\n'
    )


def first_words(doctree: nodes.document) -> str:
    """The page's first paragraph without a formula, at most :data:`LENGTH` characters of it."""
    for paragraph in doctree.findall(nodes.paragraph):
        in_section = isinstance(paragraph.parent, nodes.section)
        if in_section and not list(paragraph.findall(nodes.math)):
            words = " ".join(paragraph.astext().split())
            return words if len(words) <= LENGTH else words[:LENGTH].rsplit(" ", 1)[0] + " …"
    return ""
