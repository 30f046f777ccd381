"""Every built page in headless Chromium, wide and narrow, light and dark.

No request leaves the site, no script error, no sideways overflow, nothing that jumps while it
loads, all maths typeset, every figure with alt text, no accessibility finding of any rule.
"""

import csv
import math
import re
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from built_site import PAGES, SITE, Anchors, text_of, turn

from claimbook.figures import checks
from claimbook.pages import CHAPTERS, chapter_path, is_second, toc_chapters
from claimbook.runs.notebooks import current
from claimbook.site.figures import figures_of_run
from iclutils.regression.theory import asymptotics
from iclutils.regression.theory.asymptotics import Phase
from tests.browser.kinds import ALIKE, THIN
from tests.browser.looks import NARROW, WIDE
from tests.browser.shown import settle

SETTING = re.compile(r"explorer-(\w+)\?")  # a link that sets an explorer
STATE = """() => {
  const root = document.documentElement;
  const all = selector => [...document.querySelectorAll(selector)];
  const boxes = '.formula, .katex-mathml, pre, .scorecard-frame, .cell_output, .sd-card';
  const over = root.scrollWidth - innerWidth;
  const wide = over <= 0 ? [] : all('main *')
      .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(boxes))
      .slice(0, 3)
      .map(e => e.tagName + '.' + e.className);
  return {over, wide,
    raw: all('.math').filter(e => !e.querySelector('.katex .katex-html')).length,
    mute: all('.katex').length - all('.katex math').length,
    bad: all('.katex-error').map(e => e.textContent),
    parted: all('.kept').filter(e => e.checkVisibility() && e.lastChild.nodeType === 3
        && e.lastChild.length && e.querySelector('.katex-base')).filter(e => {
      const mark = document.createRange(), pieces = e.querySelectorAll('.katex-base');
      mark.selectNode(e.lastChild);
      const end = [...pieces].pop().getBoundingClientRect();
      return mark.getBoundingClientRect().left < end.right - 5;
    }).map(e => e.parentElement.textContent.slice(0, 60)),
    fixed: all('.formula').filter(e => getComputedStyle(e).overflowX !== 'auto').length,
    typeset: all('.katex').length,
    unsaid: all('main figure')
      .filter(e => e.checkVisibility()
        && ![...e.querySelectorAll('figcaption')].every(c => c.checkVisibility()))
      .map(e => e.id),
    nameless: all(':is(a[href], button, summary, input, select)')
      .filter(e => e.checkVisibility() && !e.textContent.trim() && !e.ariaLabel && !e.title
        && !e.labels?.length && !e.querySelector('img[alt]:not([alt=""])'))
      .map(e => e.outerHTML.slice(0, 120)),
    images: all('main img')
      .map(e => [e.getAttribute('src'), e.getAttribute('alt'), e.naturalWidth])};
}"""
# Figures of which a theme shows none of its images, or both.
MIXED = """() => [...document.querySelectorAll('main figure:has(img)')]
  .filter(e => e.checkVisibility()
    && [...e.querySelectorAll('img')].filter(i => i.checkVisibility()).length !== 1)
  .map(e => e.id)"""
LOADED = "[...document.images].every(image => image.complete)"
WATCH = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
SHIFT = 0.05  # the web's own "good" is 0.1
NODES = 40_000
# pages of one template: of a chapter's second page, of the package's reference, of the readings
TEMPLATES = ("_specialist", "/reference/", "/sources_")
FRONT = "book/intro.html"
LECTURES = {FRONT} | {
    f"book/chapters/{name}.html" for name in toc_chapters() if not is_second(name)
}


def test_the_site_is_built():
    assert len(PAGES) >= 6, f"{SITE} holds {PAGES}; build it with: make book"


def test_no_link_inside_the_site_is_dead():
    pages = {(SITE / name).resolve(): Anchors(SITE / name) for name in PAGES}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if SETTING.match(parts.fragment):  # test_explorers.py opens it
                parts = parts._replace(fragment="")
            if not target.exists():
                dead.append(f"{path.name} -> {link}")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids
            ):
                dead.append(f"{path.name} -> {link} (no such place on that page)")
    assert not dead


def test_no_markup_of_a_docstring_is_left_raw():
    assert not [name for name in PAGES if "/reference/" in name and "``" in text_of(name)]


def in_full(name):
    """Whether axe reads all of a page: of pages of one template it is the smallest."""
    if template(name) is None:
        return True
    family = [page for page in PAGES if template(page) == template(name)]
    return name == min(family, key=lambda page: (SITE / page).stat().st_size)


def template(name):
    """What a page has in common with others, or nothing."""
    return next((one for one in TEMPLATES if one in name), None)


# what has a visit of its own on a narrow screen, as a phone loads it; others end theirs on one
NARROW_VISITS = [
    name
    for name in PAGES
    if name in LECTURES or "data-explorer=" in text_of(name) or (template(name) and in_full(name))
]


def unlike(state, name):
    """What is wrong with a page as it stands, in words."""
    if state["over"] > 0:
        yield f"sideways overflow of {state['over']} px, for instance {state['wide']}"
    if state["raw"] or state["mute"] or state["bad"]:
        yield f"formulas: {state['raw']} raw, {state['mute']} without MathML, faults {state['bad']}"
    if state["parted"]:
        yield f"a mark begins a line, behind the formula that it belongs to: {state['parted'][:3]}"
    if state["unsaid"]:
        yield f"figures without a caption {state['unsaid']}"
    if state["fixed"]:
        yield f"{state['fixed']} displayed formulas would not scroll in their boxes"
    if name.startswith("book/chapters/") and not state["typeset"]:
        yield "a chapter without formulas"
    if state["nameless"]:
        yield f"what can be pressed and has no name: {state['nameless']}"
    for source, alt, width in state["images"]:
        if not alt or alt.lower().endswith((".png", ".svg", ".jpg")) or "/" in alt.split()[0]:
            yield f"figure without alt text: {source} (alt is {alt!r})"
        if width == 0:
            yield f"figure not shown: {source}"


@contextmanager
def watching(fresh, look):
    """A page of one look that reads each address from the network anew and watches what moves."""
    width, scheme = look
    with fresh(width, color_scheme=scheme) as (page, wrong):
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.add_init_script(WATCH)
        yield page, wrong


@pytest.fixture(scope="module")
def wide(fresh):
    with watching(fresh, WIDE) as opened:
        yield opened


@pytest.fixture(scope="module")
def narrow(fresh):
    with watching(fresh, NARROW) as opened:
        yield opened


def visited(opened, look, address, name):
    """What is wrong with a page once it is loaded, in words; from here on nothing moves on it."""
    page, wrong = opened
    page.emulate_media(color_scheme=look[1])
    wrong.clear()
    page.goto(address + name)
    page.wait_for_function("!document.querySelector('.explorer:not([data-drawn])')")
    page.evaluate("document.fonts.ready")
    shifted, nodes = page.evaluate("[shifted, document.querySelectorAll('*').length]")
    if shifted > SHIFT or nodes > NODES:
        yield f"{nodes} nodes, which jumped by {shifted} while they were loaded"
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    yield from unlike(page.evaluate(STATE), name)
    yield from wrong


def mixed(page):
    """The figures that show no image or two, in words."""
    return [f"not one image in {figure}" for figure in page.evaluate(MIXED)]


def seen(page, findings, scheme, *, left=ALIKE, alike=ALIKE, colours_only=False):
    """What is wrong with a page in one theme, in words; of each kind so many elements are ``left``.

    Contrast is read of ``alike`` of them.
    """
    turn(page, scheme)
    faults = mixed(page)
    page.evaluate(THIN, left)  # the page's own scripts may miss what goes
    faults += findings(page, colours_only=colours_only, alike=alike)
    return [f"{scheme}: {fault}" for fault in faults]


def report(name, faults):
    return f"{name}:\n  " + "\n  ".join(faults)


@pytest.mark.parametrize("name", PAGES)
def test_page(wide, findings, address, name):
    """By day on a wide screen, and in the other theme, which changes colours alone.

    Of one page of each template axe reads every element, else ALIKE elements of each kind; for
    contrast, of which a kind is all that decides, it reads every element of the front page alone. A
    page without a visit of its own on a narrow screen is made narrow here.
    """
    page, _ = wide
    faults = [*visited(wide, WIDE, address, name)]
    if name not in NARROW_VISITS:
        page.set_viewport_size({"width": NARROW[0], "height": 900})
        page.wait_for_function(LOADED)
        settle(page)
        found = [*unlike(page.evaluate(STATE), name), *mixed(page)]
        faults += [f"narrow: {fault}" for fault in found]
        page.set_viewport_size({"width": WIDE[0], "height": 900})
    left = None if in_full(name) else ALIKE
    alike = None if name == FRONT else ALIKE
    faults += seen(page, findings, "light", left=left, alike=alike)
    faults += seen(page, findings, "dark", colours_only=True)
    assert not faults, report(name, faults)


@pytest.mark.parametrize("name", NARROW_VISITS)
def test_page_on_a_narrow_screen(narrow, findings, address, name):
    """By night, where the places of things are others, and no colours."""
    page, _ = narrow
    faults = [*visited(narrow, NARROW, address, name)]
    faults += seen(page, findings, "dark", left=None)
    if name in LECTURES:
        faults += seen(page, findings, "light", colours_only=True)
    assert not faults, report(name, faults)


def test_paper_is_light_whatever_the_screen_was(browser, address):
    page = browser.new_page(color_scheme="dark")
    page.goto(address + "book/chapters/01_attention_window_specialist.html")
    page.emulate_media(media="print")
    ink, filters = page.evaluate(
        """() => [getComputedStyle([...document.querySelectorAll('main p')]
            .find(e => e.checkVisibility())).color,
          [...document.querySelectorAll('main img.drawing')]
            .map(e => getComputedStyle(e).filter)]"""
    )
    page.close()
    assert max(int(part) for part in re.findall(r"\d+", ink)[:3]) < 100
    assert len(filters) > 3
    assert set(filters) == {"none"}


SCALES = """() => [...document.querySelectorAll('main figure:not(.x-panel) img')]
  .filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect().width / e.naturalWidth)"""
CUT = """() => [...document.querySelectorAll('main :is(.formula, pre, .text_html)')]
  .filter(e => e.clientWidth && e.checkVisibility())
  .map(e => [e.scrollWidth > e.clientWidth + 1, getComputedStyle(e).maskImage !== 'none'])"""


def test_letters_of_all_figures_are_about_as_large(browser, address):
    """Drawn with letters of one size, whether one panel stands alone or several do."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.goto(address + "book/chapters/05_double_descent_specialist.html")
    page.evaluate("for (const e of document.images) e.loading = 'eager'")
    page.wait_for_function("[...document.images].every(e => e.complete)")
    scales = page.evaluate(SCALES)
    page.close()
    assert len(scales) > 3
    assert max(scales) < 1.25 * min(scales)


def test_what_is_cut_off_at_a_side_fades_there(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(address + "book/chapters/01_attention_window_specialist.html")
    found = page.evaluate(CUT)
    page.close()
    assert {tuple(one) for one in found} == {(True, True), (False, False)}


# ------------------------------------------------------------------ figures as files


@lru_cache
def figures_of(chapter):
    """The figures of a chapter's run; read where a test asks, not by every worker that collects."""
    return tuple(figures_of_run(chapter, current(chapter_path(chapter))))


def test_figures_have_names_of_their_own():
    names = [figure.name for chapter in toc_chapters() for figure in figures_of(chapter)]
    assert len(names) >= 40
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("chapter", toc_chapters())
def test_figures_have_words_and_files_and_can_be_read(chapter):
    for figure in figures_of(chapter):
        check_figure(figure)


def check_figure(figure):
    assert figure.name.startswith("fig-"), f"a figure of {figure.chapter} has no name"
    assert len(figure.caption.split()) >= 5, "no caption"
    assert len(figure.alt.split()) >= 5, "no alternative text"
    svg = (SITE / figure.svg_file).read_text(encoding="utf8")
    rows = list(csv.DictReader((SITE / figure.csv_file).open(encoding="utf8")))
    assert "</svg>" in svg
    assert len(svg) < 400_000, (
        "too heavy: draw fewer points, or let svg.is_dense make it a picture"
    )
    assert rows, "no data"
    nameless = [row for row in rows if not row["series"]]
    assert not nameless, "a series without a name: label it (a leading _: not in the legend)"
    drawn = [row for row in rows if row["kind"] == "line"]
    nameless = [row for row in drawn if not (row.get("x_axis") and row.get("y_axis"))]
    is_drawing = "tick" not in svg  # a schematic has no axes
    assert is_drawing or not nameless, "an axis without a name"
    page = text_of(f"{CHAPTERS}/{figure.chapter}.html")
    assert f'id="{figure.name}"' in page
    for name in (figure.svg_file, figure.csv_file):
        assert (SITE / name).stat().st_size
        assert f'href="../figures/{Path(name).name}"' in page, "no link to its files"
    lettering = figure.with_it["lettering"]
    smallest = lettering["smallest"]
    assert smallest >= checks.SMALLEST, f"lettering of {smallest} px on a phone"
    assert lettering["faults"] == []


def test_a_figures_data_are_the_numbers_of_the_package():
    """Errors against τ with ridge (chapter 5): each row of the curves is the formula's value.

    The table has 8 digits: 1e-6 leaves a hundred units of the last one.
    """
    rows = list(csv.DictReader((SITE / "book/figures/fig-ch5-ridge.csv").open(encoding="utf8")))
    lines = [row for row in rows if row["kind"] == "line"]
    curves = [row for row in lines if row["series"] in ("λ = 0.1, limit", "λ = 1, limit")]
    assert len(curves) > 100
    for row in curves[::10]:
        ridge = float(row["series"].removeprefix("λ = ").removesuffix(", limit"))
        exact = asymptotics.errors(Phase(10, math.inf, float(row["x"]), 0.01), ridge).icl
        assert float(row["y"]) == pytest.approx(exact, rel=1e-6)
