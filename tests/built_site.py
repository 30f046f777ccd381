"""The site in ``_build/html`` as the browser tests see it: where it is, its pages, their links."""

from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"


def pages() -> list[str]:
    """The pages by their places, without the redirect at the root, the assets and the listings.

    The listings of the package's source (``_modules``) are Sphinx's own pages.
    """
    found = [page.relative_to(SITE) for page in SITE.rglob("*.html")]
    return sorted(
        page.as_posix()
        for page in found
        if not {"_static", "_modules"} & set(page.parts) and page.name != "index.html"
    )


PAGES = pages()


def text_of(page: str) -> str:
    """The HTML of a page."""
    return (SITE / page).read_text(encoding="utf8")


def wait_until_drawn(page: Page) -> None:
    """Wait until every explorer of an opened page is drawn; there must be one."""
    missing = "document.querySelectorAll('.explorer:not([data-drawn])').length"
    page.wait_for_function(f"document.querySelector('.explorer') && {missing} === 0")


def unfold(page: Page) -> None:
    """Open what stands under "more" in every explorer of an opened page."""
    page.evaluate("document.querySelectorAll('.x-more').forEach(e => { e.open = true; })")


def turn(page: Page, scheme: str) -> None:
    """Turn an opened page to the light or the dark theme."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
