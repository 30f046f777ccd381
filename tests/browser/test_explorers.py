"""The explorers on their pages: what needs a layout, a keyboard or a pointer.

Each kind of control is worked on one explorer that has it. That their numbers, curves and runs are
the package's is in tests/explorers.
"""

import math
import re

import pytest

from tests.browser.looks import WIDE
from tests.browser.shown import (
    explorer,
    is_in_sight,
    press,
    push,
    reach_every_control,
    reaches,
    read,
    settle,
)
from tests.built_site import PAGES, text_of, turn, unfold, wait_until_drawn

COLLECTION = "book/explorers.html"
FRONT = "book/intro.html"
SHOWING = [name for name in PAGES if "data-explorer=" in text_of(name)]


@pytest.fixture(scope="module")
def opened(fresh, address):
    """The page of all explorers, unfolded, with what goes wrong on it."""
    with fresh(WIDE[0], color_scheme="light") as (page, wrong):
        page.goto(address + COLLECTION)
        wait_until_drawn(page)
        unfold(page)
        settle(page)
        yield page
        assert not wrong


@pytest.fixture
def anew(opened):
    """A function: an address opened anew, in the same window."""

    def anew(place):
        opened.goto("about:blank")
        opened.goto(place)
        wait_until_drawn(opened)
        unfold(opened)
        settle(opened)
        return opened

    return anew


# timers with a time of their own never come: what waits for one is not there when all is drawn
NO_TIMERS = """(set => {
  globalThis.setTimeout = (act, ms) => ms === undefined && set(act); })(setTimeout)"""
FIRST = """root => {
  const seen = all => [...root.querySelectorAll(all)].filter(e => e.checkVisibility());
  const [picture] = seen('.x-panels'), said = root.querySelector('.x-summary');
  const reserved = parseFloat(getComputedStyle(root).minHeight);
  root.style.minHeight = 0;
  const [first] = [...root.querySelectorAll('.x-field :is(input, select)')].map(
    e => e.id.split('-').pop());
  const found = {name: root.dataset.explorer, said: said.textContent,
    main: root.dataset.main ?? first,
    small: !root.querySelector('.x-more'),
    more: root.getBoundingClientRect().height - reserved,
    above: picture.getBoundingClientRect().top - root.getBoundingClientRect().top,
    stage: root.querySelector('.x-stage').getBoundingClientRect().height,
    under: said.getBoundingClientRect().top >= picture.getBoundingClientRect().bottom,
    fields: seen('.x-field :is(input, select)').map(e => e.id.split('-').pop()),
    letters: Math.min(...seen('svg text').map(e => parseFloat(getComputedStyle(e).fontSize))),
    numbers: seen('data').length};
  root.style.minHeight = '';
  return found; }"""
INSIDE = """() => [...document.querySelectorAll('.explorer')].every(root =>
  [...root.querySelectorAll('*')].every(e => e.closest('svg')
    || e.getBoundingClientRect().right <= root.getBoundingClientRect().right + 1))"""
ASK_NOTHING = "for (const e of document.querySelectorAll('.prediction-rest')) e.open = true"
JUMP = 8  # pixels by which a height may grow: fonts of another machine
LINE = 28  # pixels of a line of text, which the fonts of another machine may do without
HEADER = 60  # pixels of the page that stay in sight above what is scrolled
SIZES = [(1366, 900), (390, 844)]


@pytest.fixture(scope="module")
def drawing(fresh):
    with fresh() as (page, wrong):
        page.add_init_script(NO_TIMERS)
        yield page
        assert not wrong


@pytest.mark.parametrize("place", SHOWING)
def test_each_is_drawn_whole_its_picture_first_and_nothing_jumps(drawing, address, place):
    """Picture, one line, one control, in sight; its height reserved.

    Too much height is an empty line at most and moves nothing; too little makes the page jump.
    """
    drawing.goto(address + place)
    wait_until_drawn(drawing)
    drawing.evaluate("document.fonts.ready")  # a letter that comes late may wrap a line
    drawing.evaluate(ASK_NOTHING)
    for width, height in SIZES:
        drawing.set_viewport_size({"width": width, "height": height})
        settle(drawing)
        for root in drawing.query_selector_all(".explorer"):
            seen = root.evaluate(FIRST)
            name = (width, seen["name"])
            assert seen["said"], f"{name} is drawn before it has its sentence"
            assert -LINE <= seen["more"] <= JUMP, (name, seen["more"])
            assert seen["above"] < 20, name
            assert seen["stage"] < height - HEADER, name
            assert seen["under"], name
            assert seen["fields"] == [seen["main"]] or seen["small"], name
            assert seen["numbers"] == 0, name
            assert seen["letters"] >= 12, name
    unfold(drawing)
    for width, height in SIZES:
        drawing.set_viewport_size({"width": width, "height": height})
        settle(drawing)
        drawing.wait_for_function(INSIDE)  # a new width is drawn some frames after it is set
        for root in drawing.query_selector_all(".explorer"):
            read(drawing, root.get_attribute("data-explorer"))
        assert drawing.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_sliders_and_choices_by_keyboard(opened):
    """Each moves its setting and the numbers; Reset brings the first back."""
    first = before = read(opened, "mismatch")
    for walk in (
        {"n": "End"},
        {"family": "r", "d": "ArrowRight"},
        {"ratio": "Home", "sigma": "End"},
    ):
        press(opened, "mismatch", walk)
        seen = read(opened, "mismatch")
        moved = {key for key, value in seen["settings"].items() if before["settings"][key] != value}
        assert moved == set(walk)
        assert seen["values"] != before["values"]
        before = seen
    push(opened, "mismatch", "Reset")
    assert read(opened, "mismatch")["values"] == first["values"]


def test_presets_by_keyboard(opened):
    presets = opened.locator(f"{explorer('lookup')} .x-preset")
    for button in presets.all():
        button.press("Enter")
        settle(opened)
        assert button.get_attribute("aria-pressed") == "true"
        assert opened.locator(f"{explorer('lookup')} .x-preset[aria-pressed=true]").count() == 1
        read(opened, "lookup")
    push(opened, "lookup", "Reset")


@pytest.mark.parametrize("name", ["mismatch", "train_prompts"])
def test_every_control_is_reached_by_tab(opened, name):
    reach_every_control(opened, name)


def test_the_probe_reads_a_curve_by_keyboard_and_pointer(opened):
    probe = opened.locator(f"{explorer('lookup')} .x-probe").first
    probe.focus()
    opened.keyboard.press("Home")
    assert probe.get_attribute("aria-valuenow") == "0.5"
    said = probe.get_attribute("aria-valuetext")
    assert re.fullmatch(r"N/K 0.500: best possible 0.\d+, linear 0.\d+, softmax 1.\d+", said)
    opened.keyboard.press("ArrowRight")
    assert float(probe.get_attribute("aria-valuenow")) == pytest.approx(0.5 * 128**0.01, rel=1e-5)
    tip = opened.locator(f"{explorer('lookup')} .x-tip").first
    assert tip.inner_text() == probe.get_attribute("aria-valuetext")
    opened.keyboard.press("Tab")
    assert not tip.is_visible()
    probe.hover(position={"x": 30, "y": 30})
    assert tip.is_visible()


def pull(page, start, end):
    """Press the pointer at one place, let it go at another."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()
    settle(page)


def test_a_mark_is_pulled(opened):
    """A line that ends in a triangle, to the right: its setting follows, a shadow stays behind."""
    probe = opened.locator(f"{explorer('lookup')} .x-probe").first
    probe.scroll_into_view_if_needed()
    box = probe.bounding_box()
    first = box["x"] + box["width"] * math.log(4 / 0.5) / math.log(128)
    pull(opened, (first, box["y"] + 40), (box["x"] + 0.9 * box["width"], box["y"] + 60))
    seen = read(opened, "lookup")["settings"]
    assert float(seen["c"]) == pytest.approx(0.5 * 128**0.9, rel=0.06)
    ghosts = opened.locator(f"{explorer('lookup')} .x-line.x-ghost")
    assert ghosts.count() == 2  # curve and legend
    push(opened, "lookup", "Reset")


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
HEIGHTS = "all => all.map(e => e.getBoundingClientRect().height)"
LIVE = "all => all.filter(e => e.getAttribute('aria-live') !== 'off').length"


def test_words_stand_out_and_what_is_pressed_is_large_enough(opened):
    """Axe passes words of drawings by; each explorer speaks with one voice."""
    for scheme in ("dark", "light"):
        turn(opened, scheme)
        assert min(opened.evaluate(CONTRAST)) >= 4.5
    pressed = ".explorer input, .x-training :is(button, select)"
    assert min(opened.eval_on_selector_all(pressed, HEIGHTS)) >= 24
    spoken = opened.eval_on_selector_all(".explorer output", LIVE)
    assert spoken == opened.locator(".explorer").count()


# ------------------------------------------------------------------ links and sentences


@pytest.mark.parametrize("name", ["mismatch", "train_window"])
def test_a_link_restores_settings_and_seed(anew, address, name):
    page = anew(address + COLLECTION)
    page.locator(f"{explorer(name)} .x-preset").nth(1).press("Enter")
    press(page, name, {"n": "ArrowLeft"})
    if name == "train_window":
        page.fill("#explorer-train_window-seed", "12")
        page.keyboard.press("Tab")
    before = read(page, name)
    page.evaluate("navigator.clipboard.writeText = async text => { window.written = text; }")
    page.locator(f"{explorer(name)} .x-copy").press("Enter")
    page.wait_for_function(f"document.querySelector('{explorer(name)} .x-copied').textContent")
    link = page.evaluate("window.written")
    assert link == page.url
    page = anew(link)
    assert read(page, name)["settings"] == before["settings"]
    assert name == "mismatch" or page.input_value("#explorer-train_window-seed") == "12"
    assert -1 <= page.query_selector(explorer(name)).bounding_box()["y"] < 300, "it is in sight"
    page = anew(re.sub(r"\bd=\d+", "d=1.5", link))
    assert "d = 1.5 cannot be shown here" in page.inner_text(f"{explorer(name)} .x-copied")


def test_a_sentence_sets_its_explorer_and_there_is_a_way_back(anew, address):
    """It is brought into sight, the focus stays, and a button leads back to where one read."""
    page = anew(address + "book/chapters/07_synthesis.html")
    sentence = page.locator("button.x-set").last
    sentence.scroll_into_view_if_needed()
    name, query = sentence.get_attribute("data-set").split("?")
    height = sentence.bounding_box()["y"]
    sentence.press("Enter")
    settle(page)
    key, value = query.split("&")[0].split("=")
    assert read(page, name)["settings"][key] == value
    assert is_in_sight(page, name)
    assert page.evaluate("document.activeElement.className") == "x-set"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Back to the text"
    page.keyboard.press("Enter")
    assert sentence.bounding_box()["y"] == pytest.approx(height, abs=2)
    assert page.evaluate("document.activeElement.className") == "x-set"
    assert page.locator(".x-back").count() == 0


# ------------------------------------------------------------------ trainings


def test_the_player_by_keyboard(anew, address):
    """Nothing moves before somebody asks; it plays, rests, is looked back at, and starts again."""
    page, name = anew(address + COLLECTION), "train_window"
    first = read(page, name)
    assert first["step"] == 0
    push(page, name, "Step")
    reaches(page, name, 1)
    push(page, name, "Play")
    reaches(page, name, 6)
    press(page, name, {"sigma": "ArrowUp"})
    push(page, name, "Pause")
    page.wait_for_timeout(150)
    rested = read(page, name)
    page.wait_for_timeout(150)
    assert read(page, name)["step"] == rested["step"], "a paused run rests"
    assert str(rested["step"]) in rested["sentence"]
    press(page, name, {"scrub": "Home"})
    assert read(page, name)["values"]["w"] == first["values"]["w"]
    press(page, name, {"scrub": "End"})
    assert read(page, name)["values"] == rested["values"]
    push(page, name, "Reset")
    page.wait_for_function(f"document.querySelector('{explorer(name)}').dataset.step === '0'")
    settle(page)
    assert read(page, name)["values"] == first["values"]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_from_the_front_page_to_a_head_that_trains_in_sight(fresh, address, width, height):
    """One button, and the training of chapter 1 plays, all of it in sight.

    So it is wherever Play was pressed, at the lower edge of the screen or at the upper one.
    """
    name = "train_window"
    with fresh(width, height) as (page, wrong):
        page.goto(address + FRONT)
        wait_until_drawn(page)
        page.get_by_text("Train one yourself").click()
        page.wait_for_selector(explorer(name))
        reaches(page, name, 4)
        assert is_in_sight(page, name)
        play = page.locator(f"{explorer(name)} .x-player button").first
        play.evaluate("e => e.click()")  # rests
        for edge in ("end", "start"):
            play.evaluate("(e, block) => e.scrollIntoView({block})", edge)
            step = read(page, name)["step"]
            play.evaluate("e => { e.focus({preventScroll: true}); e.click(); }")
            reaches(page, name, step + 2)
            assert is_in_sight(page, name)
            play.evaluate("e => e.click()")
        assert not wrong


GLIMPSE = """() => { const root = document.querySelector('[data-explorer=glimpse]');
  const button = root.querySelector('.x-play');
  return [button.hidden ? '' : button.textContent,
    Number(root.querySelector('.x-field output').dataset.value)]; }"""
BUTTON = "words => document.querySelector('.x-play').textContent === words"


def test_the_front_page_s_window_runs_when_seen_and_stops_when_told(fresh, address):
    """And it does not for those who asked for less motion."""
    with fresh(reduced_motion="no-preference") as (page, wrong):
        page.clock.install()
        page.goto(address + FRONT)
        wait_until_drawn(page)
        page.locator(explorer("glimpse")).scroll_into_view_if_needed()
        page.wait_for_function(BUTTON, arg="Pause")
        page.clock.run_for(4000)
        page.locator(".x-play").press("Enter")
        button, frame = page.evaluate(GLIMPSE)
        assert button == "Play"
        assert 0 < frame < 120
        page.clock.run_for(400)
        assert page.evaluate(GLIMPSE) == ["Play", frame]
        page.locator(".x-play").press("Enter")
        page.clock.fast_forward(10_000)  # milliseconds: longer than its run
        page.wait_for_function(BUTTON, arg="Play again")
        page.emulate_media(reduced_motion="reduce")
        page.reload()
        wait_until_drawn(page)
        before = page.evaluate(GLIMPSE)
        page.clock.run_for(800)
        assert page.evaluate(GLIMPSE) == before
        assert before[0] == ""
        assert not wrong
