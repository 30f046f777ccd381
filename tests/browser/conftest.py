"""What the browser tests share: the site served, Chromium, a window of each look."""

import json
from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
import pytest
from built_site import SITE, unfold, wait_until_drawn

from tests.browser import chromium
from tests.browser.kinds import SAMPLE
from tests.browser.looks import LOOKS, name_of

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
PATIENCE = 120_000  # milliseconds: a busy machine loads a page late, which is no fault of it
COLOURS = ["color-contrast", "link-in-text-block"]  # axe's rules that a theme can break


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
    def fresh(width, **look):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", **look
        )
        context.set_default_timeout(PATIENCE)
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

    return fresh


@pytest.fixture(scope="module", params=LOOKS, ids=name_of)
def window(request, fresh):
    """A page of one look, with the list of what went wrong on it, for all tests of a module."""
    width, scheme = request.param
    with fresh(width, color_scheme=scheme) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(browser, address):
    """The page of all explorers, unfolded."""
    opened = browser.new_page(viewport={"width": 1366, "height": 900})
    opened.goto(address + "book/explorers.html")
    wait_until_drawn(opened)
    unfold(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def findings():
    """A function: what axe finds on an opened page or a part of it; every finding of any rule.

    Where `alike` is a number, contrast is read of so many elements of each kind.
    """
    contrast = {"id": "color-contrast", "selector": ":not([data-alike])"}  # as SAMPLE marks
    script = AXE.read_text(encoding="utf8") + f"axe.configure({{rules: [{json.dumps(contrast)}]}})"

    def run(page, part="html", colours_only=False, alike=None):
        page.evaluate(SAMPLE, alike)
        if not page.evaluate("'axe' in globalThis"):
            page.evaluate(script)
        options = {"preload": False, "resultTypes": ["violations"]}
        if colours_only:
            options["runOnly"] = COLOURS
        found = page.evaluate("([part, options]) => axe.run(part, options)", [part, options])
        return [
            f"accessibility, {each['impact']}: {each['id']} ({len(each['nodes'])}x): "
            + " | ".join(
                f"{node['html'][:160]} :: {node.get('failureSummary', '')[:200]}"
                for node in each["nodes"][:3]
            )
            for each in found["violations"]
        ]

    return run
