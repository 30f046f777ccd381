"""The explorers, worked by keyboard and pointer in headless Chromium.

That their numbers are the package's is in test_explorer_numbers.py.
"""

import html
import math
import re
from urllib.parse import urljoin

import pytest
import torch

from claimbook.figures import style as figures
from claimbook.site.pictures.explorers import FOLDER, SCRIPTS, SETTINGS, needed
from iclutils.ground.randomness import stream
from iclutils.window import attention, functions
from iclutils.window.theory import isotropic
from tests.browser.kinds import ALIKE
from tests.browser.looks import ON_THE_NARROW
from tests.browser.shown import explorer, reach_every_control, read, settle
from tests.built_site import PAGES, SITE, text_of, turn, unfold, wait_until_drawn

RELATIVE = 1e-9  # the same formulas in double precision
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LIGHT = 200_000  # bytes of a page's own scripts, uncompressed
ALONE = {  # the pages of the explorers that the page of all does not show
    "diversity": "book/chapters/05c_task_diversity.html",
    "glimpse": "book/intro.html",
    "hill": "book/chapters/01_attention_window.html",
    "plateau": "book/chapters/06_stagewise_dynamics.html",
}

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
        {"wv": "Home", "link": "b", "n": "Home"},
        {"where": "o", "d": "ArrowLeft", "sigma": "End", "cv": "End"},
    ],
    "lookup": [{}, {"c": "Home", "K": "ArrowRight"}, {"rho": "End", "K": "End"}],
    "parallel": [{}, {"angle": "Home", "noise": "Home"}, {"lambda": "End", "angle": "End"}],
}

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
    """Until every explorer of the page is drawn and unfolded."""
    wait_until_drawn(page)
    unfold(page)
    settle(page)


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
    page.goto(address + "book/explorers.html")
    wait(page)
    return page, wrong


@pytest.fixture(scope="module")
def first(explorers):
    """What each explorer shows before anybody has touched it."""
    page, _ = explorers
    return {name: read(page, name) for name in WALKS}


@ON_THE_NARROW
@pytest.mark.parametrize("name", WALKS)
def test_every_slider_and_choice_by_keyboard(explorers, first, name):
    page, wrong = explorers
    for walk in WALKS[name]:
        before = read(page, name)
        press(page, name, walk)
        seen = read(page, name)
        moved = {key for key, value in seen["settings"].items() if before["settings"][key] != value}
        assert moved == set(walk)
        assert not walk or seen["values"] != before["values"]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.focus(f"{explorer(name)} button[type=reset]")
    page.keyboard.press("Enter")
    settle(page)
    again = read(page, name)
    assert (again["settings"], again["values"]) == (first[name]["settings"], first[name]["values"])
    assert not wrong


@ON_THE_NARROW
@pytest.mark.parametrize("name", WALKS)
def test_every_preset_by_keyboard(explorers, name):
    page, wrong = explorers
    presets = page.locator(f"{explorer(name)} .x-preset")
    for button in presets.all():
        button.focus()
        page.keyboard.press("Enter")
        settle(page)
        assert button.get_attribute("aria-pressed") == "true"
        assert page.locator(f"{explorer(name)} .x-preset[aria-pressed=true]").count() == 1
        read(page, name)
    assert not wrong


@ON_THE_NARROW
@pytest.mark.parametrize("name", WALKS)
def test_every_control_is_reached_by_tab(explorers, name):
    page, _ = explorers
    reach_every_control(page, name)


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
    seen = read(page, "descent")
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
    before = read(page, name)["settings"]
    page.mouse.move(places[mark], height)
    page.mouse.down()
    page.mouse.move(places[mark] + to, height, steps=5)
    page.mouse.up()
    settle(page)
    after = read(page, name)["settings"]
    assert {k for k in after if after[k] != before[k]} == {key}
    shown = "all => all.map(e => Number(e.getAttribute('x1')) + 0)"
    now = page.eval_on_selector_all(f"{root} [data-panel='{panel}'] .x-mark.x-pulled", shown)
    left = page.locator(f"{root} [data-panel='{panel}']").bounding_box()["x"]
    assert min(abs(at + left - places[mark] - to) for at in now) < 12
    page.locator(f"{root} button[type=reset]").click()
    assert not wrong


def test_a_line_of_the_plane_is_turned(explorers):
    """Pulled at a place of its course at 45 degrees, the second line is turned to just that."""
    page, wrong = explorers
    root = "[data-explorer=parallel]"
    page.locator(f"{root} button[type=reset]").click()
    settle(page)
    plane = page.locator(f"{root} .x-plot").first
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    slope = math.radians(20 - 45)
    away = [1.5 * math.cos(slope), 1.5 * math.sin(slope)]
    shift = [-0.2 * math.sin(slope), 0.2 * math.cos(slope)]  # by the error of its label
    place = [1 + away[0] + shift[0], 0.5 + away[1] + shift[1]]
    x, y = page.evaluate(
        f"p => {{ const v = document.querySelector('{root} .x-plot').view;"
        " return [v.placeX(p[0]), v.placeY(p[1])]; }",
        place,
    )
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.down()
    page.mouse.up()
    settle(page)
    seen = read(page, "parallel")["settings"]
    assert float(seen["angle"]) == pytest.approx(45, abs=1.5)
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
    "parallel": {"angle": "ArrowLeft", "lambda": "ArrowRight"},
}


TOLD = """([name, settings]) => {
  const told = new URLSearchParams(location.hash.split('?')[1]);
  return location.hash.startsWith(`#explorer-${name}?`)
    && Object.entries(settings).every(([key, value]) => told.get(key) === value); }"""


@pytest.mark.parametrize("name", PERMALINK)
def test_a_permalink_restores_the_settings(page, name):
    """By keyboard: settings, the button, its link opened anew; the copied text is the address.

    That a narrow page shows what a link names is tested with the links of all pages.
    """
    page.evaluate(
        "navigator.clipboard.writeText = async text => { window.written = text; }"
    )  # not the system's
    root = f".explorer[data-explorer={name}]"
    press(page, name, PERMALINK[name])
    before = read(page, name)
    # the address is written when the sliders have come to rest
    page.wait_for_function(TOLD, arg=[name, before["settings"]])
    address = page.evaluate("location.href")
    page.focus(f"{root} .x-copy")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('{root} .x-copied').textContent === 'Copied.'")
    assert page.evaluate("[window.written, location.href]") == [address, address]
    page.goto("about:blank")
    page.goto(address)
    wait(page)
    settle(page)
    after = read(page, name)
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
        settings.append(read(page, "window")["settings"])
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


def test_accessible_and_legible(explorers, findings):
    """Unfolded, exact ones and trainings, in both themes, which differ in colours alone.

    Contrast is read of ALIKE elements of each kind; test_site.py reads that of all, folded.
    """
    page, _ = explorers
    for scheme in ("light", "dark"):
        turn(page, scheme)
        other = scheme == "dark"
        assert not findings(page, ".explorer", colours_only=other, alike=ALIKE)
        assert min(page.evaluate(CONTRAST)) >= 4.5
    sizes = "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    assert min(page.eval_on_selector_all(".explorer svg text", sizes)) >= 12
    heights = "all => all.map(e => e.getBoundingClientRect().height)"
    pressed = ".explorer input, .x-training :is(button, select)"
    assert min(page.eval_on_selector_all(pressed, heights)) >= 24


def test_colours_are_the_book_s(explorers):
    """By day; those of the night are held against the dark figures' in test_dark."""
    page, _ = explorers
    before = page.evaluate("document.documentElement.dataset.theme")
    page.evaluate("document.documentElement.dataset.theme = 'light'")
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
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", before)


def test_drawn_context(explorers):
    """The strip: uniform tokens, and the package's effective number and half-mass angle."""
    page, _ = explorers
    shown = read(page, "window")
    n, d = int(shown["settings"]["n"]), int(shown["settings"]["d"])
    t = torch.tensor(
        page.evaluate("([n, d]) => iclExplorers.tokens(n, d)", [n, d]), dtype=torch.float64
    )
    # a fixed draw; four standard errors of the mean of t and of t²,
    # which are 0 and 1/d with variances 1/d and below 3/d²
    assert abs(float(t.mean())) < 4 / math.sqrt(n * d)
    assert float(t.square().mean()) == pytest.approx(1 / d, abs=4 * math.sqrt(3 / n) / d)
    gamma = torch.softmax(float(shown["values"]["w"]) * t, 0).unsqueeze(-1)
    assert float(attention.effective_number(gamma)) == pytest.approx(
        float(shown["values"]["drawn"]), rel=RELATIVE
    )
    plane = torch.stack([t, (1 - t.square()).sqrt()], -1)
    half = attention.half_mass_cap(gamma, plane, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    assert math.degrees(float(half)) == pytest.approx(float(shown["values"]["half"]), rel=RELATIVE)


def test_closed_form_against_drawn_contexts(page):
    """The promise of the page, a few percent with ten tokens or more in the window.

    The tolerance is 5 %, and four standard errors.
    """
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
    assert felt == {"bias", "noise", "scatter"}  # the comparison would miss none of them


def page_of(name):
    return ALONE.get(name, "book/explorers.html")


def test_without_javascript(browser, address):
    """Each says what it would show."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in SCRIPTS:
        if page.url != address + page_of(name):
            page.goto(address + page_of(name))
        assert "needs JavaScript" in page.inner_text(f".explorer[data-explorer={name}]")
    context.close()


def test_a_page_loads_what_its_explorers_need_and_little_of_it():
    """Pages without an explorer load none of the scripts; the others at most LIGHT bytes."""
    weights, shown = {}, set()
    for page in PAGES:
        text = text_of(page)
        scripts = needed(text)
        shown.update(scripts)
        loaded = re.findall(rf'src="[^"]*_static/{FOLDER}/(\w+)\.js', text)
        assert sorted(loaded) == sorted(scripts), page
        places = [SITE / "_static" / FOLDER / f"{script}.js" for script in scripts]
        weights[page] = sum(place.stat().st_size for place in places)
    assert shown >= set().union(*SCRIPTS.values()), "an explorer that no page has"
    assert weights["book/explorers.html"] > 0
    assert max(weights.values()) <= LIGHT, weights


FIRST = """name => {
  const root = document.querySelector(`.explorer[data-explorer=${name}]`);
  const seen = all => [...root.querySelectorAll(all)].filter(e => e.checkVisibility());
  const [picture] = seen('.x-panels'), said = root.querySelector('.x-summary');
  return {above: picture.getBoundingClientRect().top - root.getBoundingClientRect().top,
    stage: root.querySelector('.x-stage').getBoundingClientRect().height,
    under: said.getBoundingClientRect().top >= picture.getBoundingClientRect().bottom,
    fields: seen('.x-field :is(input, select)').map(e => e.id.split('-').pop()),
    chips: seen('.x-preset').length, numbers: seen('data').length,
    pressed: root.querySelectorAll('.x-preset[aria-pressed=true]').length}; }"""
HEADER = 60  # pixels of the page that stay in sight above what is scrolled


@pytest.mark.parametrize(("width", "height"), [(1366, 900), (390, 844)])
def test_the_picture_comes_first(browser, address, width, height):
    """Picture, one line, one control, three chips; it is all in sight, and the rest is folded."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address + "book/explorers.html")
    wait_until_drawn(page)
    for name in SETTINGS:
        if name in ALONE:  # it stands alone
            continue
        seen = page.evaluate(FIRST, name)
        assert seen["above"] < 20, name
        assert seen["stage"] < height - HEADER, name
        assert seen["under"], name
        assert seen["fields"] == [SETTINGS[name][0]], name
        assert (seen["chips"], seen["numbers"], seen["pressed"]) == (3, 0, 1), name
    page.close()


def test_the_settings_have_the_names_that_pages_may_use(explorers):
    """The table in claimbook/site/pictures/explorers.py against the scripts."""
    page, _ = explorers
    for name, script in page.evaluate(
        "Object.entries(iclExplorers.explorers).map(([n, s]) => [n, s.controls.map(c => c.key)])"
    ):
        own = set(SETTINGS[name]) - {"seed", "play"}
        assert set(script) == own, name
        assert name.startswith("train_") == ("play" in SETTINGS[name])


SET = "[...document.querySelectorAll('[data-set]')].map(e => e.dataset.set)"
WRONG = """all => all.filter(asked => {
    const [name, query] = asked.split('?');
    const controls = [...iclExplorers.explorers[name].controls, {key: 'seed', values: [0, 999999]}];
    return iclExplorers.named(controls, new URLSearchParams(query)).unknown.length; })"""
SETTING = re.compile(r'href="([^"#]+)#explorer-(\w+)\?([^"]*)"')


def links_that_set(site):
    """The links of all pages that set an explorer, as (name, settings) by the page they lead to."""
    found = {site + place: set() for place in PAGES if "data-set=" in text_of(place)}
    for place in PAGES:
        for target, name, query in SETTING.findall(text_of(place)):
            found.setdefault(urljoin(site + place, target), set()).add((name, html.unescape(query)))
    return found


def test_every_button_and_link_that_sets_an_explorer_can_be_shown(browser, address):
    """No setting is refused of a button in a sentence or a link, on any page of the site.

    The explorer that a link names is in sight, where its page is opened by it and where it is open.
    The names are checked by the build.
    """
    page = browser.new_page(viewport={"width": 390, "height": 844})
    asked_for = links_that_set(address)
    assert any(asked_for.values())
    buttons = []
    for target, links in sorted(asked_for.items()):
        settings = [f"{name}?{query}" for name, query in sorted(links)]
        page.goto(f"{target}#explorer-{settings[0]}" if settings else target)
        wait_until_drawn(page)
        page.wait_for_function("!document.querySelector('span[data-set]')")
        buttons += page.evaluate(SET)
        assert not page.evaluate(WRONG, page.evaluate(SET) + settings), target
        for i, asked in enumerate(settings):
            if i:
                page.evaluate("scrollTo(0, 0)")
                page.evaluate("place => { location.hash = place; }", f"explorer-{asked}")
            settle(page)
            root = f".explorer[data-explorer={asked.partition('?')[0]}]"
            box = page.query_selector(root).bounding_box()
            assert -1 <= box["y"] < 300, (target, asked)
    assert buttons
    page.close()


# timers with a time of their own never come: what waits for one is not there when all is drawn
NO_TIMERS = "((own, set) => { own.setTimeout = (act, ms) => ms === undefined && set(act); })"
NO_TIMERS += "(globalThis, setTimeout)"
HEIGHTS = """() => [...document.querySelectorAll('.explorer')].map(e => {
  const reserved = parseFloat(getComputedStyle(e).minHeight);
  const said = e.querySelector('.x-summary').textContent;
  e.style.minHeight = 0;
  return [e.dataset.explorer, said, e.getBoundingClientRect().height - reserved]; })"""
JUMP = 8  # pixels by which a height may grow: fonts of another machine
LINE = 28  # pixels of a line of text, which the fonts of another machine may do without


@pytest.mark.parametrize("width", [1366, 390])
def test_the_height_of_an_explorer_is_reserved(browser, address, width):
    """In the style sheet, so that what follows does not move when the scripts draw.

    Too much is an empty line at most and moves nothing; too little makes the page jump.
    """
    page = browser.new_page(viewport={"width": width, "height": 844}, reduced_motion="reduce")
    page.add_init_script(NO_TIMERS)
    for place in ("book/explorers.html", "book/intro.html"):
        page.goto(address + place)
        wait_until_drawn(page)
        page.evaluate("document.fonts.ready")  # a letter that comes late may wrap a line
        for name, said, more in page.evaluate(HEIGHTS):
            assert said, f"{name} is drawn before it has its sentence, which takes up to four lines"
            assert -LINE <= more <= JUMP, name
    page.close()


STEER = """([words, place]) => {
  const button = document.createElement('span');
  button.dataset.set = words;
  button.append('Make it so');
  document.querySelector(`.explorer[data-explorer=${place}]`).after(button);
  iclExplorers.arm(button); }"""


def test_a_button_in_a_sentence_sets_its_explorer(browser, address):
    """The named settings and the page's own others; it is brought into sight, the focus stays."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.goto(address + "book/explorers.html")
    wait(page)
    press(page, "window", {"d": "ArrowRight"})
    page.evaluate(STEER, ["window?L=5&sigma=0.1", "window"])
    page.evaluate(STEER, ["train_window?sigma=1.2&play=1", "lookup"])
    near, far = page.locator("button.x-set").all()
    near.scroll_into_view_if_needed()
    page.evaluate("document.querySelector('[data-explorer=window]').scrollIntoView()")
    before = page.evaluate("scrollY")
    near.evaluate("button => { button.focus({preventScroll: true}); button.click(); }")
    settle(page)
    seen = read(page, "window")["settings"]
    assert seen | {"L": "5", "sigma": "0.1", "d": "3", "n": "1000"} == seen
    assert page.evaluate("scrollY") == before, "what is in sight stays where it is"
    assert page.evaluate("document.activeElement.className") == "x-set"
    far.focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "Number(document.querySelector('[data-explorer=train_window]').dataset.step) > 3"
    )
    assert page.evaluate("document.activeElement.className") == "x-set"
    box = page.locator("[data-explorer=train_window] .x-stage").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900
    page.close()
