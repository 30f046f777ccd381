"""What the browser tests share: the site served, Chromium, and a window on it of each look."""

from pathlib import Path

import axe_playwright_python
import pytest
from built_site import SITE

from iclutils.book.paper import chromium

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]


@pytest.fixture(scope="session")
def address():
    with chromium.served(SITE) as place:
        yield place


@pytest.fixture(scope="session")
def browser():
    with chromium.opened() as opened:
        yield opened


@pytest.fixture(scope="module", params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def window(request, browser, address):
    """A page of one look, with the list of what went wrong on it; axe is loaded on every page."""
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    context.add_init_script(AXE.read_text(encoding="utf8"))
    page = context.new_page()
    wrong = []
    inside = (address, "data:", "blob:")

    def on_request(asked):
        if not asked.url.startswith(inside):
            wrong.append(f"leaves the site: {asked.url}")

    def on_response(answer):
        if answer.status >= 400:
            wrong.append(f"status {answer.status}: {answer.url}")

    page.on("request", on_request)
    page.on("response", on_response)
    page.on("pageerror", lambda error: wrong.append(f"script error: {str(error)[:200]}"))
    yield page, wrong
    context.close()


@pytest.fixture(scope="session")
def findings():
    """A function: what axe finds on an opened page; every rule, and every finding is red."""

    def run(page):
        found = page.evaluate("axe.run({preload: false, resultTypes: ['violations']})")
        return found["violations"]

    return run
