"""The explorers on their pages: what needs a layout, a keyboard or a pointer.

Each kind of control is worked on one explorer that has it. That their numbers, curves and runs are
the package's is in tests/explorers.
"""

import math
import re

import pytest

from claimbook.site.explorers import FILE
from tests.browser.looks import WIDE
from tests.browser.shown import explorer, press, push, reach_every_control, read, settle
from tests.built_site import PAGES, SITE, text_of, turn, unfold, wait_until_drawn

COLLECTION = "book/explorers.html"
SHOWING = [name for name in PAGES if "data-explorer=" in text_of(name)]
LIGHT = 200_000  # bytes of a page's own scripts, uncompressed


@pytest.fixture(scope="module")
def opened(fresh, address):
    """The page of all explorers, wide and light, unfolded, with what goes wrong on it."""
    with fresh(WIDE[0], color_scheme="light") as (page, wrong):
        page.goto(address + COLLECTION)
        wait_until_drawn(page)
        unfold(page)
        settle(page)
        yield page
        assert not wrong


@pytest.fixture
def anew(opened, address):
    """A function: an address opened anew, in the same window."""

    def anew(place=COLLECTION):
        opened.goto("about:blank")
        opened.goto(address + place)
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
  return {name: root.dataset.explorer, said: said.textContent, main: root.dataset.main,
    small: !root.querySelector('.x-more'),
    more: root.getBoundingClientRect().height - reserved,
    above: picture.getBoundingClientRect().top - root.getBoundingClientRect().top,
    stage: root.querySelector('.x-stage').getBoundingClientRect().height,
    under: said.getBoundingClientRect().top >= picture.getBoundingClientRect().bottom,
    fields: seen('.x-field :is(input, select)').map(e => e.id.split('-').pop()),
    letters: Math.min(...seen('svg text').map(e => parseFloat(getComputedStyle(e).fontSize))),
    numbers: seen('data').length}; }"""
JUMP = 8  # pixels by which a height may grow: fonts of another machine
LINE = 28  # pixels of a line of text, which the fonts of another machine may do without
HEADER = 60  # pixels of the page that stay in sight above what is scrolled


@pytest.mark.parametrize("look", [(1366, 900), (390, 844)])
def test_each_is_drawn_whole_its_picture_first_and_nothing_jumps(browser, address, look):
    """On every page that shows one: picture, one line, one control, in sight; its height reserved.

    Too much height is an empty line at most and moves nothing; too little makes the page jump.
    """
    width, height = look
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page.add_init_script(NO_TIMERS)
    for place in SHOWING:
        page.goto(address + place)
        wait_until_drawn(page)
        page.evaluate("document.fonts.ready")  # a letter that comes late may wrap a line
        page.evaluate(
            "document.querySelectorAll('.prediction-rest').forEach(e => { e.open = true; })"
        )
        settle(page)
        for root in page.query_selector_all(".explorer"):
            seen = root.evaluate(FIRST)
            name = (place, seen["name"])
            assert seen["said"], f"{name} is drawn before it has its sentence, of up to four lines"
            assert -LINE <= seen["more"] <= JUMP, (name, seen["more"])
            assert seen["above"] < 20, name
            assert seen["stage"] < height - HEADER, name
            assert seen["under"], name
            assert seen["fields"] == [seen["main"]] or seen["small"], name
            assert seen["numbers"] == 0, name
            assert seen["letters"] >= 12, name
        unfold(page)
        settle(page)
        for root in page.query_selector_all(".explorer"):
            read(page, root.get_attribute("data-explorer"))
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()


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


def test_a_mark_is_pulled(opened):
    """A line that ends in a triangle, to the right: its setting follows, a shadow stays behind."""
    root = explorer("lookup")
    probe = opened.locator(f"{root} .x-probe").first
    probe.scroll_into_view_if_needed()
    box = probe.bounding_box()
    start = math.log(4 / 0.5) / math.log(128)
    opened.mouse.move(box["x"] + start * box["width"], box["y"] + 40)
    opened.mouse.down()
    opened.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 60, steps=4)
    opened.mouse.up()
    settle(opened)
    seen = read(opened, "lookup")["settings"]
    assert float(seen["c"]) == pytest.approx(0.5 * 128**0.9, rel=0.06)
    assert opened.locator(f"{root} .x-line.x-ghost").count() == 2  # curve and legend
    push(opened, "lookup", "Reset")


def test_a_line_of_the_plane_is_turned(opened):
    """Pulled at a place of its course at 45 degrees, the second line is turned to just that."""
    plane = opened.locator(f"{explorer('parallel')} .x-plot").first
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    slope = math.radians(20 - 45)
    away = [1.5 * math.cos(slope), 1.5 * math.sin(slope)]
    shift = [-0.2 * math.sin(slope), 0.2 * math.cos(slope)]  # by the error of its label
    x, y = plane.evaluate(
        "(e, p) => [e.view.placeX(p[0]), e.view.placeY(p[1])]",
        [1 + away[0] + shift[0], 0.5 + away[1] + shift[1]],
    )
    opened.mouse.move(box["x"] + x, box["y"] + y)
    opened.mouse.down()
    opened.mouse.up()
    settle(opened)
    seen = read(opened, "parallel")["settings"]
    assert float(seen["angle"]) == pytest.approx(45, abs=1.5)
    push(opened, "parallel", "Reset")


def copied(page, name):
    """The link that the button gives."""
    page.evaluate("navigator.clipboard.writeText = async text => { window.written = text; }")
    page.focus(f"{explorer(name)} .x-copy")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('{explorer(name)} .x-copied').textContent")
    assert page.evaluate("window.written") == page.url
    return page.url


@pytest.mark.parametrize("name", ["mismatch", "train_window"])
def test_a_link_restores_settings_and_seed(anew, address, name):
    page = anew()
    page.locator(f"{explorer(name)} .x-preset").nth(1).press("Enter")
    press(page, name, {"n": "ArrowLeft"})
    if name == "train_window":
        page.fill("#explorer-train_window-seed", "12")
        page.keyboard.press("Tab")
    before = read(page, name)
    link = copied(page, name)
    page = anew(link.removeprefix(address))
    after = read(page, name)
    assert after["settings"] == before["settings"]
    assert name == "mismatch" or page.input_value("#explorer-train_window-seed") == "12"
    assert -1 <= page.query_selector(explorer(name)).bounding_box()["y"] < 300, "it is in sight"
    wrong = re.sub(r"\bd=\d+", "d=1.5", link)
    page = anew(wrong.removeprefix(address))
    assert "d = 1.5 cannot be shown here" in page.inner_text(f"{explorer(name)} .x-copied")


def test_a_link_without_a_clipboard_is_shown(anew):
    page = anew()
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('none')))")
    page.focus(f"{explorer('lookup')} .x-copy")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{explorer('lookup')} .x-copied input")
    marked = "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.activeElement)"
    assert page.evaluate(marked) == page.url


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


def test_accessible_in_both_themes(opened, findings):
    """Unfolded, exact ones and trainings; what is pressed is large enough; one sentence speaks."""
    for scheme in ("light", "dark"):
        turn(opened, scheme)
        assert not findings(opened, ".explorer", colours_only=scheme == "dark", alike=1)
        assert min(opened.evaluate(CONTRAST)) >= 4.5
    turn(opened, "light")
    heights = "all => all.map(e => e.getBoundingClientRect().height)"
    pressed = ".explorer input, .x-training :is(button, select)"
    assert min(opened.eval_on_selector_all(pressed, heights)) >= 24
    live = "all => all.filter(e => e.getAttribute('aria-live') !== 'off').length"
    outputs = opened.eval_on_selector_all(".explorer output", live)
    assert outputs == opened.locator(".explorer").count()


# ------------------------------------------------------------------ sentences that set an explorer


def test_a_sentence_sets_its_explorer_and_there_is_a_way_back(anew):
    """It is brought into sight, the focus stays, and a button leads back to where one read."""
    page = anew("book/chapters/07_synthesis.html")
    sentence = page.locator("button.x-set").last
    sentence.scroll_into_view_if_needed()
    name, query = sentence.get_attribute("data-set").split("?")
    height = sentence.bounding_box()["y"]
    sentence.press("Enter")
    settle(page)
    key, value = query.split("&")[0].split("=")
    assert read(page, name)["settings"][key] == value
    box = page.locator(f"{explorer(name)} .x-stage").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= page.viewport_size["height"]
    assert page.evaluate("document.activeElement.className") == "x-set"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Back to the text"
    page.keyboard.press("Enter")
    assert sentence.bounding_box()["y"] == pytest.approx(height, abs=2)
    assert page.evaluate("document.activeElement.className") == "x-set"
    assert page.locator(".x-back").count() == 0


def test_a_link_of_another_page_opens_its_explorer(anew):
    pattern = re.compile(r'href="([^"#]+#explorer-(\w+)\?(\w+)=([^"&]+)[^"]*)"')
    place = next(name for name in PAGES if pattern.search(text_of(name)))
    page = anew("book/explorers.html")
    page.goto(page.url.replace(COLLECTION, place))
    link = page.locator("a[href*='#explorer-'][href*='?']").first
    _, name, key, value = pattern.search(f'href="{link.get_attribute("href")}"').groups()
    link.press("Enter")
    page.wait_for_url(f"**#explorer-{name}?**", wait_until="commit")
    wait_until_drawn(page)
    settle(page)
    assert read(page, name)["settings"][key] == value
    assert -1 <= page.query_selector(explorer(name)).bounding_box()["y"] < 300


# ------------------------------------------------------------------ trainings


def reaches(page, name, step):
    page.wait_for_function(
        "([place, step]) => Number(document.querySelector(place).dataset.step) >= step",
        arg=[explorer(name), step],
    )


def test_the_player_by_keyboard(anew):
    """Nothing moves before somebody asks; it plays, rests, is looked back at, and starts again."""
    page, name = anew(), "train_window"
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


def test_sets_are_drawn_from_the_start_and_solved_again(anew):
    """Another ridge on the same sets: those of before stay as a shadow."""
    page, name = anew("book/chapters/05_double_descent.html"), "train_prompts"
    reaches(page, name, 60)
    push(page, name, "Step")
    reaches(page, name, 61)
    press(page, name, {"lambda": "End"})
    reaches(page, name, 61)
    settle(page)
    shadow = page.get_attribute(f"{explorer(name)} path.x-scatter.x-ghost", "d")
    assert shadow.count("M") == 61


@pytest.mark.parametrize(("width", "height"), [(1366, 900), (390, 844)])
def test_the_whole_picture_is_in_sight_while_it_plays(browser, address, width, height):
    """Wherever Play was pressed, at the lower edge of the screen or at the upper one."""
    page, name = browser.new_page(viewport={"width": width, "height": height}), "train_window"
    page.goto(address + COLLECTION)
    wait_until_drawn(page)
    head = page.evaluate("document.querySelector('.bd-header-article')?.offsetHeight ?? 0")
    play = page.locator(f"{explorer(name)} .x-player button").first
    for edge in ("end", "start"):
        play.evaluate("(e, block) => e.scrollIntoView({block})", edge)
        step = read(page, name)["step"]
        play.evaluate("e => { e.focus({preventScroll: true}); e.click(); }")
        reaches(page, name, step + 2)
        box = page.locator(f"{explorer(name)} .x-stage").bounding_box()
        assert head <= box["y"]
        assert box["y"] + box["height"] <= height
        play.evaluate("e => e.click()")  # rests
    page.close()


ROW = 12
WITHOUT_WORKERS = "window.Worker = class { constructor() { throw new Error('none'); } };"


def test_a_seed_is_one_run_with_a_worker_without_one_and_from_a_file(browser, address):
    found, name = [], "train_stages"
    for script, where in (("0", address), (WITHOUT_WORKERS, address), ("0", SITE.as_uri() + "/")):
        context = browser.new_context()
        context.add_init_script(script)
        page = context.new_page()
        page.goto(where + COLLECTION)
        wait_until_drawn(page)
        unfold(page)
        push(page, name, "Play")
        reaches(page, name, ROW + 1)
        push(page, name, "Pause")
        scrub = "(e, row) => { e.value = row; e.dispatchEvent(new Event('input')); }"
        page.eval_on_selector(f"#explorer-{name}-scrub", scrub, ROW)
        settle(page)
        found.append(read(page, name)["values"])
        context.close()
    assert found[0] == found[1] == found[2]


# ------------------------------------------------------------------ the front page

STATE = """() => { const root = document.querySelector('[data-explorer=glimpse]');
  const button = root.querySelector('.x-play');
  return [button.hidden ? '' : button.textContent,
    Number(root.querySelector('.x-field output').dataset.value)]; }"""
SAID = """() => { const root = document.querySelector('[data-explorer=glimpse]');
  const texts = [...root.querySelectorAll('.x-plot svg text')].map(e => e.textContent);
  return [texts.filter(text => text.includes('°')),
    root.querySelector('.x-summary').textContent]; }"""


def test_the_front_page_s_window_runs_when_seen_and_stops_when_told(browser, address):
    """And it does not for those who asked for less motion."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.clock.install()
    page.goto(address + "book/intro.html")
    wait_until_drawn(page)
    page.locator(explorer("glimpse")).scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.x-play').textContent === 'Pause'")
    page.clock.run_for(4000)
    [label], sentence = page.evaluate(SAID)  # while it plays, both of one moment
    assert re.search(r"\d+°", label)[0] in sentence
    page.locator(".x-play").press("Enter")
    button, frame = page.evaluate(STATE)
    assert button == "Play"
    assert 0 < frame < 120
    page.clock.run_for(400)
    assert page.evaluate(STATE) == ["Play", frame]
    page.locator(".x-play").press("Enter")
    page.clock.fast_forward(10_000)  # milliseconds: longer than its run
    page.wait_for_function("document.querySelector('.x-play').textContent === 'Play again'")
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    wait_until_drawn(page)
    before = page.evaluate(STATE)
    page.clock.run_for(800)
    assert page.evaluate(STATE) == before
    assert before[0] == ""
    page.close()


def test_from_the_front_page_to_a_head_that_trains(browser, address):
    """One button, and the training of chapter 1 plays, all of it in sight."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.goto(address + "book/intro.html")
    wait_until_drawn(page)
    page.get_by_text("Train one yourself").click()
    page.wait_for_selector(explorer("train_window"))
    reaches(page, "train_window", 4)
    box = page.locator(f"{explorer('train_window')} .x-stage").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900
    page.close()


# ------------------------------------------------------------------ without scripts; their weight


def test_without_scripts_each_says_what_it_would_show(browser, address):
    page = browser.new_page(java_script_enabled=False)
    page.goto(address + COLLECTION)
    for place in page.locator(".explorer").all():
        assert "needs JavaScript" in place.inner_text()
    page.close()


def test_only_pages_with_an_explorer_load_the_scripts():
    for page in PAGES:
        text = text_of(page)
        assert (f"_static/{FILE}" in text) == ('data-explorer="' in text), page
    assert (SITE / "_static" / FILE).stat().st_size <= LIGHT
