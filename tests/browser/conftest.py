"""What the browser tests share: the site served, Chromium, a fresh page, what is seen on it."""

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import sync_playwright

from tests.built_site import SITE

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
RUN_AXE = "part => axe.run(part, {preload: false, resultTypes: ['violations']})"
PATIENCE = 120_000  # milliseconds: a busy machine loads a page late, which is no fault of it
NARROW, WIDE = (390, "dark"), (1366, "light")
HEIGHTS = {390: 844, 1366: 900}  # of a screen by its width
# the first is the second without windows, which every page costs time
PROGRAMS = ("chromium-headless-shell", "chromium")
FLAGS = [  # beside Playwright's own
    "--disable-gpu",
    "--disable-quic",
    # every window loads two hidden pages of an address bar, which nobody sees: half a second each.
    # The last list counts, so it names again what of Playwright's a page's first frames need
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,PaintHolding",
]


class AsPages(http.server.SimpleHTTPRequestHandler):
    """Serves the site, below a folder too, and 404.html for what is lost, as GitHub Pages does."""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/project"))

    def send_error(self, code, message=None, explain=None):
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write((SITE / "404.html").read_bytes())

    def handle(self):
        with suppress(ConnectionError):  # a page that closes does not wait for its files
            super().handle()

    def log_message(self, format, *args):
        """Say nothing."""


@pytest.fixture(scope="session")
def address():
    handler = functools.partial(AsPages, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser():
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program, "Chromium is not here: install the package chromium"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def fresh(browser, address):
    """Return a context manager: a page that nobody has used; nothing may go wrong on it."""

    @contextmanager
    def fresh(width=WIDE[0], inside=(address,), **look):
        size = {"width": width, "height": HEIGHTS[width]}
        context = browser.new_context(viewport=size, **{"reduced_motion": "reduce"} | look)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.wrong = []

        def on_request(asked):
            if not asked.url.startswith((*inside, "data:", "blob:")):
                page.wrong.append(f"leaves the site: {asked.url}")

        def on_response(answer):
            if answer.status >= 400:
                page.wrong.append(f"status {answer.status}: {answer.url}")

        page.on("request", on_request)
        page.on("response", on_response)
        page.on("pageerror", lambda error: page.wrong.append(f"script error: {str(error)[:200]}"))
        yield page
        context.close()
        assert not page.wrong

    return fresh


def findings(page, part="html"):
    """Return what axe finds on an opened page or a part of it; every finding of any rule."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE.read_text(encoding="utf8"))
    for each in page.evaluate(RUN_AXE, part)["violations"]:
        nodes = [
            f"{node['html'][:160]} :: {node['failureSummary'][:200]}" for node in each["nodes"]
        ]
        yield f"accessibility: {each['id']} ({len(nodes)}x): {' | '.join(nodes[:3])}"


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def visit(page, place):
    """Open a page anew, and wait until its explorers are drawn."""
    page.goto("about:blank")  # from a page to a place on it is no load
    page.goto(place)
    page.wait_for_function("!document.querySelector('.explorer:not([data-drawn])')")


def unfold(page, kind="main details"):
    """Open what is folded on an opened page."""
    page.evaluate("all => document.querySelectorAll(all).forEach(e => { e.open = true; })", kind)
    settle(page)


def turn(page, scheme):
    """Turn an opened page to the light or the dark theme."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
