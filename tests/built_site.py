"""The site in ``_build/html`` for tests that read it: where it is, its pages and its ledger."""

import json
from functools import cache

from claimbook.files import ROOT

SITE = ROOT / "_build" / "html"


def pages() -> list[str]:
    """Return the pages by their places, without the redirect at the root, assets and listings.

    The listings of the package's source (``_modules``) are Sphinx's own pages.
    """
    found = [page.relative_to(SITE) for page in SITE.rglob("*.html") if page.name != "index.html"]
    own = [page.as_posix() for page in found if not {"_static", "_modules"} & set(page.parts)]
    return sorted(own)


PAGES = pages()


@cache
def rows():
    """Read the ledger as data."""
    return json.loads(text_of("book/ledger.json"))


def words(node):
    """Return the words of a piece of a page, without the glyphs of its formulas and scripts."""
    for hidden in node.select(".katex-html, annotation, script, style"):
        hidden.decompose()
    return " ".join(node.get_text().split())


def text_of(page: str) -> str:
    """Return the HTML of a page."""
    return (SITE / page).read_text(encoding="utf8")
