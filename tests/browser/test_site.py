"""Every built page in headless Chromium, loaded once and shown wide and narrow, light and dark.

No request leaves the site, no script error, no sideways overflow, nothing that jumps while it
loads, one image of each figure, no accessibility finding of any rule. What needs no layout is
tested in tests/book.
"""

import gzip
import re

import pytest

from tests.browser.looks import LOOKS, NARROW, THIN, WIDE
from tests.browser.shown import settle
from tests.built_site import PAGES, turn, unfold

STATE = """() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const seen = e => e.checkVisibility();
  const boxes = '.formula, .katex-mathml, pre, .scorecard-frame, .cell_output, .sd-card';
  const over = document.documentElement.scrollWidth - innerWidth;
  return {
    "sideways overflow": over <= 0 ? [] : [over, ...all('main *')
      .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(boxes))
      .slice(0, 3)
      .map(e => e.tagName + '.' + e.className)],
    "a mark begins a line, behind its formula": all('.kept')
      .filter(e => seen(e) && e.lastChild.nodeType === 3 && e.lastChild.length)
      .filter(e => {
        const mark = document.createRange(), [end] = [...e.querySelectorAll('.katex-base')]
          .slice(-1).map(piece => piece.getBoundingClientRect().right);
        mark.selectNode(e.lastChild);
        return mark.getBoundingClientRect().left < end - 5;
      })
      .map(e => e.parentElement.textContent.slice(0, 60)),
    "a displayed formula would not scroll in its box": all('.formula')
      .filter(e => getComputedStyle(e).overflowX !== 'auto')
      .map(e => e.id),
    "a figure without a caption": all('main figure')
      .filter(e => seen(e) && ![...e.querySelectorAll('figcaption')].every(seen))
      .map(e => e.id),
    "not one image in a figure": all('main figure:has(img)')
      .filter(e => seen(e) && [...e.querySelectorAll('img')].filter(seen).length !== 1)
      .map(e => e.id),
    "an image is not shown": all('main img')
      .filter(e => seen(e) && e.complete && !e.naturalWidth)
      .map(e => e.src),
  };
}"""
LOADED = """async () => {
  for (const image of document.images) image.loading = 'eager';
  await Promise.all([...document.fonts].map(face => face.load().catch(() => 0)));
  await Promise.all([...document.images].map(image => image.decode().catch(() => 0)));
}"""
WATCH = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
SHIFT = 0.05  # the web's own "good" is 0.1
NODES = 45_000
TAB_STOPS = 500  # milliseconds: the theme lets what has come to scroll be focused after 300


@pytest.fixture(scope="module")
def opened(fresh):
    """A page that reads each address from the network anew and watches what moves."""
    with fresh() as (page, wrong):
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.add_init_script(WATCH)
        yield page, wrong


def show(page, look):
    """Give an opened page a width and a theme."""
    width, scheme = look
    page.set_viewport_size({"width": width, "height": 900})
    turn(page, scheme)
    settle(page)


def faults_of(page, look):
    """List what is wrong with a page in one look."""
    show(page, look)
    state = page.evaluate(STATE)
    return [f"{look}: {fault}: {where}" for fault, where in state.items() if where]


@pytest.mark.parametrize("name", PAGES)
def test_page(opened, findings, address, name):
    """Loaded by night as a phone does, where most can jump; axe reads it in two of four looks."""
    page, wrong = opened
    width, scheme = NARROW
    page.goto("about:blank")
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    wrong.clear()
    page.goto(address + name)
    page.wait_for_function("!document.querySelector('.explorer:not([data-drawn])')")
    page.evaluate("document.fonts.ready")
    shifted, nodes = page.evaluate("[shifted, document.querySelectorAll('*').length]")
    assert shifted <= SHIFT
    assert nodes <= NODES
    page.evaluate(LOADED)
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    faults = [fault for look in LOOKS for fault in faults_of(page, look)]
    unfold(page)
    show(page, NARROW)
    page.wait_for_timeout(TAB_STOPS)
    page.evaluate(THIN)  # the page's own scripts may miss what goes
    for look in (NARROW, WIDE):
        show(page, look)
        faults += [f"{look}: {finding}" for finding in findings(page)]
    assert not [*wrong, *faults]


SCALES = """() => [...document.querySelectorAll('main figure:not(.x-panel) img')]
  .filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect().width / e.naturalWidth)"""
CUT = """() => [...document.querySelectorAll('main :is(.formula, pre, .text_html)')]
  .filter(e => e.clientWidth && e.checkVisibility())
  .map(e => [e.scrollWidth > e.clientWidth + 1, getComputedStyle(e).maskImage !== 'none'])"""
ON_PAPER = """() => [getComputedStyle([...document.querySelectorAll('main p')]
    .find(e => e.checkVisibility())).color,
  [...document.querySelectorAll('main img.drawing')].map(e => getComputedStyle(e).filter)]"""


def test_figures_have_letters_of_one_size_and_paper_is_light(fresh, address):
    """Letters are about as large whether one panel stands alone or several do."""
    with fresh(1366, color_scheme="dark") as (page, _):
        page.goto(address + "book/chapters/05_double_descent_specialist.html")
        page.evaluate(LOADED)
        scales = page.evaluate(SCALES)
        page.emulate_media(media="print")
        ink, filters = page.evaluate(ON_PAPER)
    assert len(scales) > 3
    assert max(scales) < 1.25 * min(scales)
    assert max(int(part) for part in re.findall(r"\d+", ink)[:3]) < 100
    assert len(filters) > 3
    assert set(filters) == {"none"}


def test_what_is_cut_off_at_a_side_fades_there(fresh, address):
    with fresh(390) as (page, _):
        page.goto(address + "book/chapters/01_attention_window_specialist.html")
        found = page.evaluate(CUT)
    assert {tuple(one) for one in found} == {(True, True), (False, False)}


FIRST_VISIT = 650_000  # bytes of the front page, compressed as a server would
BARE = """() => [...document.querySelectorAll("i[class*=fa-]")]
  .filter(icon => icon.checkVisibility()
    && ["none", "normal"].includes(getComputedStyle(icon, "::before").content))
  .map(icon => icon.outerHTML)"""
STOP = """() => {
  const stop = document.activeElement, style = getComputedStyle(stop);
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return ring || style.boxShadow !== 'none' ? '' : stop.outerHTML.slice(0, 120);
}"""


def test_a_first_visit_is_light_and_the_tab_key_s_focus_is_seen(fresh, address):
    """Icons are there; the first stop leads past the navigation."""
    sizes = {}

    def weigh(answer):
        name, body = answer.url.partition("?")[0], answer.body()
        packed = name.endswith((".html", ".js", ".css", ".svg"))
        sizes[name] = len(gzip.compress(body) if packed else body)

    with fresh() as (page, wrong):
        page.on("response", weigh)
        page.goto(address + "book/intro.html", wait_until="networkidle")
        assert sum(sizes.values()) < FIRST_VISIT, sorted(sizes.items(), key=lambda one: -one[1])[:5]
        assert page.evaluate(BARE) == []
        page.keyboard.press("Tab")
        assert "Skip to main content" in page.evaluate("document.activeElement.textContent")
        box = "document.activeElement.getBoundingClientRect()"  # it slides in
        page.wait_for_function(f"(r => r.top >= 0 && r.height > 10)({box})")
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#main-content"
        unseen = []
        for _ in range(15):
            page.keyboard.press("Tab")
            unseen.append(page.evaluate(STOP))
        assert not any(unseen), unseen
        assert not wrong
