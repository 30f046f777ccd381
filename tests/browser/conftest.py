"""What the browser tests share: the site served, Chromium, a fresh page, what axe finds."""

from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
import pytest

from tests.browser import chromium
from tests.built_site import SITE

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
PATIENCE = 120_000  # milliseconds: a busy machine loads a page late, which is no fault of it
RUN_AXE = "part => axe.run(part, {preload: false, resultTypes: ['violations']})"


@pytest.fixture(scope="session")
def address():
    with chromium.served(SITE) as place:
        yield place


@pytest.fixture(scope="session")
def browser():
    with chromium.opened() as opened:
        yield opened


@pytest.fixture(scope="session")
def fresh(browser, address):
    """A context manager: a page that nobody has used, with the list of what goes wrong on it."""

    @contextmanager
    def fresh(width=1280, height=900, inside=(address,), **look):
        context = browser.new_context(
            viewport={"width": width, "height": height}, **{"reduced_motion": "reduce"} | look
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        wrong = []

        def on_request(asked):
            if not asked.url.startswith((*inside, "data:", "blob:")):
                wrong.append(f"leaves the site: {asked.url}")

        def on_response(answer):
            if answer.status >= 400:
                wrong.append(f"status {answer.status}: {answer.url}")

        page.on("request", on_request)
        page.on("response", on_response)
        page.on("pageerror", lambda error: wrong.append(f"script error: {str(error)[:200]}"))
        yield page, wrong
        context.close()

    return fresh


@pytest.fixture(scope="session")
def findings():
    """A function: what axe finds on an opened page or a part of it; every finding of any rule."""
    script = AXE.read_text(encoding="utf8")

    def run(page, part="html"):
        if not page.evaluate("'axe' in globalThis"):
            page.evaluate(script)
        return [
            f"accessibility, {each['impact']}: {each['id']} ({len(each['nodes'])}x): "
            + " | ".join(
                f"{node['html'][:160]} :: {node.get('failureSummary', '')[:200]}"
                for node in each["nodes"][:3]
            )
            for each in page.evaluate(RUN_AXE, part)["violations"]
        ]

    return run
