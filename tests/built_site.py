"""The site in ``_build/html`` for tests that read it: where it is, and its pages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"


def pages() -> list[str]:
    """Return the pages by their places, without the redirect at the root, assets and listings.

    The listings of the package's source (``_modules``) are Sphinx's own pages.
    """
    found = [page.relative_to(SITE) for page in SITE.rglob("*.html") if page.name != "index.html"]
    own = [page.as_posix() for page in found if not {"_static", "_modules"} & set(page.parts)]
    return sorted(own)


PAGES = pages()


def text_of(page: str) -> str:
    """Return the HTML of a page."""
    return (SITE / page).read_text(encoding="utf8")
