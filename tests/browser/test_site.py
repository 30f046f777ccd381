"""Every built page in headless Chromium, loaded once and shown wide and narrow, light and dark.

No request leaves the site, no script error, no sideways overflow, nothing that jumps while it
loads, explorers whole and in sight, no accessibility finding of any rule.
What needs no layout is tested in tests/book.
"""

import gzip
import re

import pytest

from tests.browser.conftest import HEIGHTS, NARROW, WIDE, findings, settle, turn, unfold, visit
from tests.browser.shown import check_unfolded, first_looks
from tests.built_site import PAGES

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
    "an image is not shown": all('main img')
      .filter(e => seen(e.parentElement) && (!seen(e) || e.complete && !e.naturalWidth))
      .map(e => e.src),
    "words of a drawing in an ink of their own": all('.explorer svg text')
      .filter(e => getComputedStyle(e).fill !== getComputedStyle(e.closest('.explorer')).color)
      .map(e => e.textContent),
    "too small to press": all('.explorer input, .x-training :is(button, select)')
      .filter(e => seen(e) && e.getBoundingClientRect().height < 24)
      .map(e => e.id || e.textContent),
    "an explorer speaks with more than one voice": all('.explorer')
      .filter(e => e.querySelectorAll('output:not([aria-live=off])').length !== 1)
      .map(e => e.dataset.explorer),
  };
}"""
LOADED = """async () => {
  for (const image of document.images) image.loading = 'eager';
  await Promise.all([...document.fonts].map(face => face.load().catch(() => 0)));
  await Promise.all([...document.images].map(image => image.decode().catch(() => 0)));
}"""
# timers with a time of their own wait until they are let go: what comes with one is late
WATCH = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});
(set => {
  const held = [];
  window.setTimeout = (act, ms) => ms === undefined ? set(act) : -held.push([act, ms]);
  window.letGo = () => { window.setTimeout = set; held.splice(0).forEach(one => set(...one)); };
})(setTimeout.bind(window));
"""
# Leaves one element of each kind: whether it can be read hangs on its tag, class, role, ink, size
# and ground alone. Of a formula and a listing, most of a page's nodes, the words stay and one token
# of each colour. pandas numbers the classes of its cells.
THIN = """() => {
  const named = e => (e.getAttribute('class') ?? '').replace(/\\b(row|col|level)\\d+\\b/g, '');
  const tokens = new Set(), listed = [...document.querySelectorAll('pre span')];
  const spare = listed.filter(e => {
    const known = tokens.has(e.className) || !e.checkVisibility();
    if (!known) tokens.add(e.className);
    return known;
  });
  for (const e of spare) e.replaceWith(...e.childNodes);
  for (const e of document.querySelectorAll('.katex-html')) e.replaceChildren(e.textContent);
  for (const e of document.querySelectorAll('.katex math > semantics')) {
    const words = document.createElementNS(e.namespaceURI, 'mtext');
    words.textContent = e.querySelector('annotation').textContent;
    e.replaceWith(words);
  }
  const block = 'p, li, ul, dl, .sig-param, tr, pre, pre span, .formula, .cell, .claim,'
    + 'section, svg *';
  const kinds = new Map(), grounds = new Map(), seen = new Set();
  for (const e of document.querySelectorAll('*')) { // all before any goes: styles are settled once
    const {color, backgroundColor, opacity, fontSize, fontWeight} = getComputedStyle(e);
    const own = `${backgroundColor} ${opacity}`, below = grounds.get(e.parentElement) ?? '';
    grounds.set(e, own === 'rgba(0, 0, 0, 0) 1' ? below : `${own} on ${below}`);
    const kind = [e.tagName, named(e), e.getAttribute('role'), color, fontSize, fontWeight];
    if (e.checkVisibility()) kinds.set(e, [...kind, grounds.get(e)].join());
  }
  const stays = e => /^(H\\d|FIGURE)$/.test(e.tagName) || kinds.has(e) && !seen.has(kinds.get(e));
  for (const e of document.querySelectorAll(`:is(${block}):not(:is(a, button, th, td) *)`)) {
    const all = [e, ...e.querySelectorAll('*')];
    if (!all.some(stays)) e.remove();
    else all.filter(each => each.closest(block) === e).forEach(each => seen.add(kinds.get(each)));
  }
}"""
FOLD = "for (const more of document.querySelectorAll('.x-more')) more.open = false"
SHIFT = 0.05  # the web's own "good" is 0.1
NODES = 45_000
TAB_STOPS = 500  # milliseconds: the theme lets what has come to scroll be focused after 300


@pytest.fixture(scope="module")
def opened(fresh):
    """Open a page that reads each address from the network anew and watches what moves."""
    with fresh() as page:
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.add_init_script(WATCH)
        yield page


def show(page, width, scheme):
    """Give an opened page a width and a theme."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    turn(page, scheme)
    settle(page)


def faults_of(page, *look):
    """List what is wrong with a page in one look."""
    show(page, *look)
    state = page.evaluate(STATE)
    return [f"{look}: {fault}: {where}" for fault, where in state.items() if where]


@pytest.mark.parametrize("name", PAGES)
def test_page(opened, address, name):
    """Loaded by night as a phone does, where most can jump, then unfolded step by step.

    Axe reads it in two of four looks. A new width is what costs most.
    """
    page, (width, scheme) = opened, NARROW
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    page.emulate_media(color_scheme=scheme)
    page.wrong.clear()
    visit(page, address + name)
    page.evaluate("document.fonts.ready")  # a letter that comes late may wrap a line
    shifted, nodes = page.evaluate("[shifted, document.querySelectorAll('*').length]")
    assert shifted <= SHIFT
    assert nodes <= NODES
    page.evaluate(LOADED)
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    faults = faults_of(page, *NARROW)
    unfold(page, "main details:not(.x-more)")
    for looks in ((WIDE, (1366, "dark")), ((390, "light"), NARROW)):
        page.evaluate(FOLD)
        for look in looks:  # a new width lets text take the fonts that came late
            faults += [*faults_of(page, *look), *first_looks(page)]
        page.evaluate("letGo()")
        unfold(page)
        check_unfolded(page)
    page.wait_for_timeout(TAB_STOPS)
    page.evaluate(THIN)  # the page's own scripts may miss what goes
    for look in (NARROW, WIDE):
        show(page, *look)
        faults += [f"{look}: {finding}" for finding in findings(page)]
    assert not [*page.wrong, *faults]


ON_PAPER = """() => [getComputedStyle([...document.querySelectorAll('main p')]
    .find(e => e.checkVisibility())).color,
  [...document.querySelectorAll('main img.drawing')].map(e => getComputedStyle(e).filter)]"""


def test_paper_is_light(fresh, address):
    with fresh(1366, color_scheme="dark") as page:
        page.goto(address + "book/chapters/05_double_descent_specialist.html")
        page.emulate_media(media="print")
        ink, filters = page.evaluate(ON_PAPER)
    assert max(int(part) for part in re.findall(r"\d+", ink)[:3]) < 100
    assert len(filters) > 3
    assert set(filters) == {"none"}


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

    with fresh() as page:
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
        for _ in range(15):
            page.keyboard.press("Tab")
            assert not page.evaluate(STOP)
