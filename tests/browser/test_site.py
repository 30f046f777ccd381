"""Every built page in headless Chromium, wide and narrow, light and dark: no request leaves the site, no script error,
no sideways overflow, all maths typeset, every figure with alt text, no accessibility finding of any rule."""

import csv
import functools
import html.parser
import http.server
import math
import shutil
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import axe_playwright_python
import pytest
from playwright.sync_api import sync_playwright

from iclutils import asymptotics, legibility

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"
AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf8")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html")
               if "_static" not in page.relative_to(SITE).parts and page.name != "index.html")

STATE = """() => {
  const root = document.documentElement;
  const wide = [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
      && !e.closest('mjx-container, pre, .scorecard-frame, .cell_output, .sd-card')).slice(0, 3)
      .map(e => e.tagName + '.' + e.className);
  return {over: root.scrollWidth - innerWidth, wide,
    raw: document.querySelectorAll('.math').length - document.querySelectorAll('.math mjx-container').length,
    bad: [...document.querySelectorAll('mjx-merror')].map(e => e.getAttribute('data-mjx-error') || e.textContent),
    images: [...document.querySelectorAll('main img')].map(e => [e.getAttribute('src'), e.getAttribute('alt'), e.naturalWidth])};
}"""
RUN_AXE = "axe.run({preload: false, resultTypes: ['violations']})"    # every rule, and every finding is red


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium")
    assert path, "install the package chromium; `make check` is all but the browser"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def window(request, browser, address):
    """A page of one look, with the list of what went wrong on it."""
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    context.add_init_script(AXE)
    page = context.new_page()
    wrong = []
    inside = (address, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(inside) else wrong.append(f"leaves the site: {r.url}"))
    page.on("response", lambda r: wrong.append(f"status {r.status}: {r.url}") if r.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(f"script error: {str(error)[:200]}"))
    yield page, wrong
    context.close()


def test_the_site_is_built():
    assert len(PAGES) >= 6, f"{SITE} holds {PAGES}; build it with: make book"


class Anchors(html.parser.HTMLParser):
    """The ids of a page and the places that it links to."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(path.read_text(encoding="utf8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.add(values["href"])


def test_no_link_inside_the_site_is_dead():
    pages = {(SITE / name).resolve(): Anchors(SITE / name) for name in PAGES}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                dead.append(f"{path.name} -> {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                dead.append(f"{path.name} -> {link} (no such place on that page)")
    assert not dead


def test_search_finds_something(browser, address):
    page = browser.new_page()
    page.goto(address + "search.html?q=attention")
    page.wait_for_selector("#search-results li a", timeout=15000)
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_page(window, address, name):
    page, wrong = window
    wrong.clear()
    page.goto(address + name)
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    page.evaluate("window.MathJax?.startup?.promise")
    state = page.evaluate(STATE)
    if state["over"] > 0:
        wrong.append(f"sideways overflow of {state['over']} px, for instance {state['wide']}")
    if state["raw"] or state["bad"]:
        wrong.append(f"maths not typeset: {state['raw']} raw, errors {state['bad']}")
    for source, alt, width in state["images"]:
        if not alt or alt.lower().endswith((".png", ".svg", ".jpg")) or "/" in alt.split()[0]:
            wrong.append(f"figure without alt text: {source} (alt is {alt!r})")
        if width == 0:
            wrong.append(f"figure not shown: {source}")
    for finding in page.evaluate(RUN_AXE)["violations"]:
        nodes = [f"{node['html'][:160]} :: {node.get('failureSummary', '')[:200]}" for node in finding["nodes"][:3]]
        wrong.append(f"accessibility, {finding['impact']}: {finding['id']} ({len(finding['nodes'])}x): " + " | ".join(nodes))
    assert not wrong, f"{name}:\n  " + "\n  ".join(wrong)


# ------------------------------------------------------------------ figures as files

sys.path.insert(0, str(SITE.parents[1] / "book" / "_ext"))
import bookcache  # noqa: E402
import bookfigures  # noqa: E402

FIGURES = [figure for chapter in bookcache.toc_chapters() for figure in bookfigures.chapter_figures(chapter)]


def test_figures_have_names_of_their_own():
    assert len(FIGURES) >= 40
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name or "nameless")
def test_a_figure_has_words_and_files_and_can_be_read(figure):
    assert figure.name.startswith("fig-"), f"a figure of {figure.chapter} has no name"
    assert len(figure.caption.split()) >= 5, "no caption"
    assert len(figure.alt.split()) >= 5, "no alternative text"
    svg = (SITE / figure.svg_file).read_text(encoding="utf8")
    rows = list(csv.DictReader((SITE / figure.csv_file).open(encoding="utf8")))
    assert "</svg>" in svg
    assert len(svg) < 400_000, "too heavy: draw fewer points, or let legibility.dense make it a picture"
    assert rows, "no data"
    assert not [row for row in rows if not row["series"]], "a series without a name: label it (a leading _: not in the legend)"
    drawn = [row for row in rows if row["kind"] == "line"]
    assert not [row for row in drawn if not (row["x_axis"] and row["y_axis"])], "an axis without a name"
    page = (SITE / bookcache.CHAPTERS / f"{figure.chapter}.html").read_text(encoding="utf8")
    assert f'id="{figure.name}"' in page
    for name in (figure.svg_file, figure.csv_file):
        assert f'href="../figures/{Path(name).name}"' in page, "no link to its files"
    lettering = figure.with_it["lettering"]
    assert lettering["smallest"] >= legibility.SMALLEST, f"lettering of {lettering['smallest']} px on a phone"
    assert lettering["faults"] == []


def test_a_figures_data_are_the_numbers_of_the_package():
    """Errors against τ with ridge (chapter 5): every row of the curves is the formula's value, to the table's 8 digits."""
    rows = list(csv.DictReader((SITE / "book/figures/fig-ch5-ridge.csv").open(encoding="utf8")))
    curves = [row for row in rows if row["kind"] == "line" and row["series"] in ("λ = 0.1", "λ = 1")]
    assert len(curves) > 100
    for row in curves[::10]:
        ridge = float(row["series"].removeprefix("λ = "))
        exact = asymptotics.errors(10, math.inf, float(row["x"]), 0.01, ridge).icl
        assert float(row["y"]) == pytest.approx(exact, rel=1e-6)
