"""What a page says of itself to search engines and to whoever shares its address.

The site works at any address, so it knows none. Where it is published, the environment variable
``SITE_ADDRESS`` says it: then each page also names its own address.
"""

import html
import os
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

LENGTH = 220  # characters; search engines show about 160
NOT_FOUND = "404"


def take_address(app: Sphinx, config: Config) -> None:
    """The address of the site, if it was told; it ends with a slash."""
    told = os.environ.get("SITE_ADDRESS", config.html_baseurl)
    config.html_baseurl = f"{told.rstrip('/')}/" if told else ""


def add_description(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the page's first plain paragraph and its title into the page's head."""
    is_root = pagename == app.config.root_doc
    if is_root:
        context["docstitle"] = ""  # the book's title is the page's: once is enough
    if pagename == NOT_FOUND:
        context["site_address"] = app.config.html_baseurl
    words = first_words(doctree) if doctree is not None else ""
    if not words:
        return
    tags = {
        'name="description"': words,
        'property="og:title"': app.env.titles[pagename].astext(),
        'property="og:description"': words,
        'property="og:type"': "website" if is_root else "article",
        'property="og:site_name"': str(app.config.html_title),
    }
    if site := app.config.html_baseurl:
        tags['property="og:url"'] = f"{site}{pagename}.html"
    lines = [f'<meta {key} content="{html.escape(value)}">' for key, value in tags.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines, ""])


def first_words(doctree: nodes.Element) -> str:
    """The first paragraph without a formula, at most :data:`LENGTH` characters of it."""
    for paragraph in doctree.findall(nodes.paragraph):
        in_section = isinstance(paragraph.parent, nodes.section)
        if in_section and not list(paragraph.findall(nodes.math)):
            words = " ".join(paragraph.astext().split())
            return words if len(words) <= LENGTH else words[:LENGTH].rsplit(" ", 1)[0] + " …"
    return ""
