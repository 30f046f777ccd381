"""The explorers, worked by keyboard and pointer in headless Chromium.

That their numbers are the package's is in test_explorer_numbers.py.
"""

import math
import re

import pytest
import torch

from iclutils.book.figures import style as figures
from iclutils.book.paper import explorers as pictures
from iclutils.book.site.explorers import EXACT, FOLDER, SCRIPTS, needed
from iclutils.ground.randomness import stream
from iclutils.window import attention, functions
from iclutils.window.theory import isotropic
from tests.built_site import PAGES, SITE, text_of, wait_until_drawn

RELATIVE = 1e-9  # the same formulas in double precision
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LIGHT = 200_000  # bytes of a page's own scripts, uncompressed

# Explorer, then the keys pressed on its controls, starting where the keys before left them.
WALKS = {
    "window": [
        {},
        {"n": "End", "L": "ArrowRight ArrowRight", "sigma": "ArrowLeft ArrowLeft ArrowLeft"},
        {"family": "r", "d": "ArrowRight ArrowRight ArrowRight"},
        {"n": "Home", "sigma": "End", "L": "Home", "d": "End"},
        {"n": "End", "sigma": "Home", "L": "End", "d": "Home"},
    ],
    "mismatch": [
        {},
        {"ratio": "Home"},
        {"family": "r", "ratio": "End", "n": "ArrowLeft", "d": "ArrowRight"},
        {"sigma": "Home", "n": "End", "d": "Home"},
    ],
    "descent": [
        {},
        {"kappa": "End", "tau": "Home", "rho": "ArrowRight ArrowRight"},
        {"lambda": "Home", "kappa": "Home"},
        {"alpha": "ArrowRight", "tau": "End"},
        {"lambda": "End", "rho": "End"},
        {"lambda": "Home", "tau": "ArrowLeft " * 9},
    ],
    "phases": [
        {},
        {"K": "Home", "p1": "Home"},
        {"K": "End", "p1": "End"},
        {"K": "ArrowLeft ArrowLeft", "p1": "ArrowLeft"},
    ],
    "offset": [{}, {"offset": "Home", "n": "End"}, {"family": "a", "d": "Home", "sigma": "End"}],
    "directions": [
        {},
        {"wv": "Home", "link": "s", "n": "Home"},
        {"where": "o", "d": "ArrowLeft", "sigma": "End", "cv": "End"},
    ],
    "lookup": [{}, {"c": "Home", "K": "ArrowRight"}, {"rho": "End", "K": "End"}],
}

READ = """([root]) => ({
  settings: Object.fromEntries([...root.querySelectorAll('input, select')].map(e => [
    e.id.split('-').pop(),
    e.tagName === 'SELECT' ? e.value
      : e.closest('.x-field').querySelector('output').dataset.value])),
  spoken: [...root.querySelectorAll('input')].map(e => [e.getAttribute('aria-valuetext'),
    e.closest('.x-field').querySelector('output').textContent]),
  values: Object.fromEntries([...root.querySelectorAll('data')]
    .map(e => [e.dataset.key, [e.value, e.textContent]])),
  broken: [...root.querySelectorAll('svg *')].filter(
    e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).length,
  unnamed: [...root.querySelectorAll('svg[role=img]')]
    .filter(e => !e.getAttribute('aria-label')).length,
  drawings: root.querySelectorAll('svg[role=img]').length})"""
AXE = "axe.run('.explorer', {preload: false})"
FOCUS = """all => [[...document.querySelectorAll(all)].indexOf(document.activeElement),
  getComputedStyle(document.activeElement).outlineStyle]"""
SPILL = """([root]) => [...root.querySelectorAll('*')].filter(
  e => !e.closest('svg')
    && e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).length"""
CONTRAST = """() => {
  const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
      .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
  let ground = document.querySelector('.explorer');
  while (/rgba\\(.*, 0\\)|transparent/.test(getComputedStyle(ground).backgroundColor))
    ground = ground.parentElement;
  const back = light(getComputedStyle(ground).backgroundColor);
  return [...document.querySelectorAll('.explorer svg text')].slice(0, 3)
    .map(e => light(getComputedStyle(e).fill))
    .map(ink => (Math.max(ink, back) + .05) / (Math.min(ink, back) + .05));
}"""


def wait(page):
    """Until every explorer of the page is drawn."""
    wait_until_drawn(page)
    settle(page)


def settle(page):
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def press(page, name, walk):
    for key, strokes in walk.items():
        page.focus(f"#explorer-{name}-{key}")
        for stroke in strokes.split():
            page.keyboard.press(stroke)
    settle(page)


@pytest.fixture(scope="module")
def explorers(window, address):
    """The explorers' page of one look, and the list of what went wrong on it."""
    page, wrong = window
    wrong.clear()
    page.goto(address + "book/explorers.html")
    wait(page)
    return page, wrong


@pytest.mark.parametrize("name", WALKS)
def test_every_slider_and_choice_by_keyboard(explorers, name):
    page, wrong = explorers
    root = page.query_selector(f".explorer[data-explorer={name}]")
    for walk in WALKS[name]:
        before = page.evaluate(READ, [root])
        press(page, name, walk)
        seen = page.evaluate(READ, [root])
        moved = {key for key, value in seen["settings"].items() if before["settings"][key] != value}
        assert moved == set(walk)
        assert not walk or seen["values"] != before["values"]
        assert (seen["broken"], seen["unnamed"]) == (0, 0), seen["settings"]
        assert all(spoken == shown for spoken, shown in seen["spoken"]), seen["spoken"]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate(SPILL, [root]) == 0, seen["settings"]
    page.focus(f".explorer[data-explorer={name}] button[type=reset]")
    page.keyboard.press("Enter")
    settle(page)
    again = page.evaluate(READ, [root])
    page.reload()
    wait(page)
    fresh = page.evaluate(READ, [page.query_selector(f".explorer[data-explorer={name}]")])
    assert (again["settings"], again["values"]) == (fresh["settings"], fresh["values"])
    assert not wrong


@pytest.mark.parametrize("name", WALKS)
def test_every_preset_by_keyboard(explorers, name):
    page, wrong = explorers
    root = f".explorer[data-explorer={name}]"
    for place in range(page.locator(f"{root} .x-preset").count()):
        button = page.locator(f"{root} .x-preset").nth(place)
        button.focus()
        page.keyboard.press("Enter")
        settle(page)
        assert button.get_attribute("aria-pressed") == "true"
        assert page.locator(f"{root} .x-preset[aria-pressed=true]").count() == 1
        seen = page.evaluate(READ, [page.query_selector(root)])
        assert (seen["broken"], seen["unnamed"]) == (0, 0)
    assert not wrong


@pytest.mark.parametrize("name", WALKS)
def test_every_control_is_reached_by_tab(explorers, name):
    page, _ = explorers
    controls = f".explorer[data-explorer={name}] :is(input, select, button, [tabindex='0'])"
    controls = f"{controls}:not([hidden])"
    page.focus(controls)
    for place in range(page.locator(controls).count()):
        found, outline = page.evaluate(FOCUS, controls)
        assert found == place
        assert place == 0 or outline != "none", "a control must show that it has the focus"
        page.keyboard.press("Tab")


CURVE = """([name, panel, line]) => document.querySelector(
  `[data-explorer=${name}] [data-panel="${panel}"] path[data-name="${line}"]`).getAttribute('d')"""


def test_the_probe_reads_a_curve_by_keyboard_and_pointer(explorers):
    page, wrong = explorers
    probe = page.locator("[data-explorer=descent] .x-probe").first
    probe.focus()
    page.keyboard.press("Home")
    assert probe.get_attribute("aria-valuenow") == "0.05"
    said = probe.get_attribute("aria-valuetext")
    assert said.startswith("τ 0.0500: practised tasks ")
    assert ", fresh tasks " in said
    page.keyboard.press("ArrowRight")
    assert float(probe.get_attribute("aria-valuenow")) == pytest.approx(0.05 * 400**0.01, rel=1e-5)
    tip = page.locator("[data-explorer=descent] .x-tip").first
    assert tip.inner_text() == probe.get_attribute("aria-valuetext")
    page.keyboard.press("Tab")
    assert not tip.is_visible()
    probe.hover(position={"x": 30, "y": 30})
    assert tip.is_visible()
    assert not wrong


def test_a_mark_is_pulled(explorers):
    """The dashed line of τ, from where it is to the right: its setting and its dots follow."""
    page, wrong = explorers
    page.locator("[data-explorer=descent] button[type=reset]").click()
    settle(page)
    probe = page.locator("[data-explorer=descent] .x-probe").first
    probe.scroll_into_view_if_needed()
    box = probe.bounding_box()
    start = math.log(1.5 / 0.05) / math.log(400)
    page.mouse.move(box["x"] + start * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 60, steps=4)
    page.mouse.up()
    settle(page)
    seen = page.evaluate(READ, [page.query_selector("[data-explorer=descent]")])
    assert float(seen["settings"]["tau"]) == pytest.approx(0.05 * 400**0.9, rel=0.06)
    assert page.locator("[data-explorer=descent] .x-line.x-ghost").count() == 2  # curve and legend
    assert not wrong


@pytest.mark.parametrize(
    ("name", "panel", "mark", "to", "key"),
    [("window", 0, 1, 60, "w"), ("phases", 2, 2, 60, "K"), ("offset", 0, 0, -60, "n")],
)
def test_the_best_window_and_the_phase_lines_are_pulled(explorers, name, panel, mark, to, key):
    """A line that ends in a triangle, pulled by `to` pixels: its setting follows."""
    page, wrong = explorers
    root = f"[data-explorer={name}]"
    page.locator(f"{root} button[type=reset]").click()
    settle(page)
    probe = page.locator(f"{root} [data-panel='{panel}'] .x-probe")
    probe.scroll_into_view_if_needed()
    places = page.eval_on_selector_all(
        f"{root} [data-panel='{panel}'] .x-mark",
        "all => all.map(e => Number(e.getAttribute('x1'))"
        " + e.closest('.x-plot').getBoundingClientRect().left)",
    )
    height = probe.bounding_box()["y"] + 50
    before = page.evaluate(READ, [page.query_selector(root)])["settings"]
    page.mouse.move(places[mark], height)
    page.mouse.down()
    page.mouse.move(places[mark] + to, height, steps=5)
    page.mouse.up()
    settle(page)
    after = page.evaluate(READ, [page.query_selector(root)])["settings"]
    assert {k for k in after if after[k] != before[k]} == {key}
    shown = "all => all.map(e => Number(e.getAttribute('x1')) + 0)"
    now = page.eval_on_selector_all(f"{root} [data-panel='{panel}'] .x-mark.x-pulled", shown)
    left = page.locator(f"{root} [data-panel='{panel}']").bounding_box()["x"]
    assert min(abs(at + left - places[mark] - to) for at in now) < 12
    page.locator(f"{root} button[type=reset]").click()
    assert not wrong


def test_what_was_recorded_stands_beside_the_formula(explorers):
    page, _ = explorers
    dots = page.locator("[data-explorer=descent] .x-plot .x-recorded")
    page.locator("[data-explorer=descent] button[type=reset]").click()
    settle(page)
    assert dots.count() == 10
    press(page, "descent", {"rho": "ArrowRight"})
    assert dots.count() == 0  # nothing was recorded there


PERMALINK = {
    "window": {"family": "c", "n": "End", "L": "ArrowRight", "d": "Home"},
    "mismatch": {"ratio": "ArrowLeft"},
    "descent": {"lambda": "Home", "kappa": "End", "tau": "Home"},
    "phases": {"K": "ArrowRight", "p1": "Home"},
    "offset": {"offset": "ArrowRight", "n": "ArrowLeft"},
    "directions": {"link": "w", "wv": "ArrowLeft"},
    "lookup": {"K": "ArrowRight"},
}


@pytest.mark.parametrize("name", PERMALINK)
def test_a_permalink_restores_the_settings(explorers, name):
    """By keyboard: settings, the button, its link opened anew; the copied text is the address."""
    page, _ = explorers
    page.evaluate(
        "navigator.clipboard.writeText = async text => { window.written = text; }"
    )  # not the system's
    root = f".explorer[data-explorer={name}]"
    press(page, name, PERMALINK[name])
    page.wait_for_function(f"location.hash.startsWith('#explorer-{name}?')")
    page.wait_for_timeout(400)  # the address is written when the sliders have come to rest
    before, address = (
        page.evaluate(READ, [page.query_selector(root)]),
        page.evaluate("location.href"),
    )
    page.focus(f"{root} .x-copy")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('{root} .x-copied').textContent === 'Copied.'")
    assert page.evaluate("[window.written, location.href]") == [address, address]
    page.goto("about:blank")
    page.goto(address)
    wait(page)
    settle(page)
    after = page.evaluate(READ, [page.query_selector(root)])
    assert (after["settings"], after["values"]) == (before["settings"], before["values"])
    box = page.query_selector(root).bounding_box()
    assert -1 <= box["y"] < 300, "the explorer that the link names is in sight"


def test_a_link_with_settings_that_are_none(browser, address):
    """What a link names wrongly starts as ever, and that is said; a value off the grid is kept."""
    page = browser.new_page()
    settings = []
    said = []
    for query in (
        "",
        "#explorer-window?n=17.5&d=x&L=&sigma=1e400&family=none",
        "#explorer-window?n=2017&sigma=0.4003&d=x",
    ):
        page.goto("about:blank")
        page.goto(address + "book/explorers.html" + query)
        wait(page)
        settle(page)
        root = page.query_selector("[data-explorer=window]")
        settings.append(page.evaluate(READ, [root])["settings"])
        said.append(page.inner_text("[data-explorer=window] .x-copied"))
    page.close()
    assert settings[0] == settings[1]
    assert settings[2] == settings[0] | {"n": "2017", "sigma": "0.4003"}
    assert said[0] == ""
    assert all(words in said[1] for words in ("n = 17.5", "d = x", "sigma = 1e400"))
    assert "d = x" in said[2]
    assert "2017" not in said[2]


def test_a_link_without_a_clipboard_is_shown(browser, address):
    context = browser.new_context()
    context.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page = context.new_page()
    page.goto(address + "book/explorers.html")
    wait(page)
    page.focus("[data-explorer=phases] .x-copy")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-explorer=phases] .x-copied input")
    marked = page.evaluate(
        "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.activeElement)"
    )
    assert marked == page.url
    assert "#explorer-phases?K=1000&p1=0.5" in page.url
    context.close()


def test_one_sentence_is_spoken(explorers):
    page, _ = explorers
    press(page, "descent", {"lambda": "End"})
    summary = "document.querySelector('[data-explorer=descent] .x-summary')"
    page.wait_for_function(f"{summary}.textContent.includes('no peak')")
    live = "all => all.filter(e => e.getAttribute('aria-live') !== 'off').length"
    assert page.eval_on_selector_all(".explorer:not(.x-training) output", live) == len(WALKS)


def test_accessible_and_legible(explorers):
    page, _ = explorers
    found = page.evaluate(AXE)
    assert not [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]]
    assert min(page.evaluate(CONTRAST)) >= 4.5
    sizes = page.eval_on_selector_all(
        ".explorer svg text", "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12
    assert (
        min(
            page.eval_on_selector_all(
                ".explorer input", "all => all.map(e => e.getBoundingClientRect().height)"
            )
        )
        >= 24
    )


def test_colours_are_the_book_s(explorers):
    page, _ = explorers
    for name in (
        "signal",
        "noise",
        "softmax",
        "linear",
        "ICL",
        "IDG",
        "dominant",
        "target",
        "other",
    ):
        colour = page.evaluate(
            f"getComputedStyle(document.documentElement).getPropertyValue('--x-{name}').trim()"
        )
        assert colour == figures.COLOURS[name]


def test_drawn_context(explorers):
    """The strip: uniform tokens, and the package's effective number and half-mass angle."""
    page, _ = explorers
    shown = page.evaluate(READ, [page.query_selector(".explorer[data-explorer=window]")])
    n, d = int(shown["settings"]["n"]), int(shown["settings"]["d"])
    t = torch.tensor(
        page.evaluate("([n, d]) => iclExplorers.tokens(n, d)", [n, d]), dtype=torch.float64
    )
    # a fixed draw; four standard errors of the mean of t and of t²,
    # which are 0 and 1/d with variances 1/d and below 3/d²
    assert abs(float(t.mean())) < 4 / math.sqrt(n * d)
    assert float(t.square().mean()) == pytest.approx(1 / d, abs=4 * math.sqrt(3 / n) / d)
    gamma = torch.softmax(float(shown["values"]["w"][0]) * t, 0).unsqueeze(-1)
    assert float(attention.effective_number(gamma)) == pytest.approx(
        float(shown["values"]["drawn"][0]), rel=RELATIVE
    )
    plane = torch.stack([t, (1 - t.square()).sqrt()], -1)
    half = attention.half_mass_cap(gamma, plane, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    assert math.degrees(float(half)) == pytest.approx(
        float(shown["values"]["half"][0]), rel=RELATIVE
    )


def test_closed_form_against_drawn_contexts(browser, address):
    """The promise of the page, a few percent with ten tokens or more in the window.

    The tolerance is 5 %, and four standard errors.
    """
    page = browser.new_page()
    page.goto(address + "book/explorers.html")
    felt = set()
    for w, d, n, sigma in ((4.0, 3, 400, 0.5), (11.0, 5, 400, 0.2), (12.0, 2, 100, 0.1)):
        found = page.evaluate(
            f"iclExplorers.population('affine', {d}, {n}, 1, {sigma}, 'closed').at({w})"
        )
        assert found["effective"] > 10
        grid, degrees, task = (
            torch.tensor([0.8, 0.9, 1.0, 1.1]).double() * w,
            torch.tensor([1]),
            functions.Affine(d),
        )
        drawn = isotropic.sampled(
            d, n, stream(0, "explorers", d), contexts=1000, w=grid, degrees=degrees
        )
        mean, se = (float(value) for value in drawn.at(task, sigma, w))
        assert found["loss"] == pytest.approx(mean, abs=0.05 * mean + 4 * se)
        felt |= {
            part
            for part in ("bias", "noise", "scatter")
            if found[part] > 2 * (0.05 * mean + 4 * se)
        }
    page.close()
    assert felt == {"bias", "noise", "scatter"}  # the comparison would miss none of them


def test_without_javascript(browser, address):
    """Each shows its picture, which is there, and says what it would show."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in EXACT:
        page.goto(address + pictures.page_of(name))
        assert "needs JavaScript" in page.inner_text(f".explorer[data-explorer={name}]")
    context.close()
    for page_name in PAGES:
        place = (SITE / page_name).parent
        for source in re.findall(r'class="explorer-picture"[^>]*src="([^"]*)"', text_of(page_name)):
            assert (place / source).exists(), (page_name, source)


@pytest.mark.parametrize("name", EXACT)
def test_the_pictures_show_what_the_explorers_show(browser, address, name):
    """Their curves; otherwise draw them anew with python -m iclutils.book.paper.explorers.

    A processor may round a place to the next tenth of a pixel.
    """
    context = browser.new_context(
        viewport={"width": 1366, "height": 900}, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(address + pictures.page_of(name))
    shown, kept = (
        " ".join(re.findall(r'd="(M[^"]*)"', text))
        for text in (
            pictures.picture(page, name),
            (pictures.FOLDER / f"{name}.svg").read_text(encoding="utf8"),
        )
    )
    context.close()
    assert NUMBER.sub("", shown) == NUMBER.sub("", kept)
    places = [[float(place) for place in NUMBER.findall(text)] for text in (shown, kept)]
    assert places[0] == pytest.approx(places[1], rel=0, abs=0.11)


def test_a_page_loads_what_its_explorers_need_and_little_of_it():
    """Pages without an explorer load none of the scripts; the others at most LIGHT bytes."""
    weights = {}
    for page in PAGES:
        text = text_of(page)
        scripts = needed(text)
        loaded = re.findall(rf'src="[^"]*_static/{FOLDER}/(\w+)\.js', text)
        assert sorted(loaded) == sorted(scripts), page
        places = [SITE / "_static" / FOLDER / f"{script}.js" for script in scripts]
        weights[page] = sum(place.stat().st_size for place in places)
    assert weights["book/explorers.html"] > 0
    assert max(weights.values()) <= LIGHT, weights


def test_every_explorer_has_its_scripts():
    for name, scripts in SCRIPTS.items():
        for script in scripts:
            assert (SITE / "_static" / FOLDER / f"{script}.js").exists(), name
