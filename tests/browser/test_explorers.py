"""The explorers on their pages: what needs a keyboard, a pointer or a finger.

Each kind of control is worked on one explorer that has it. That they are whole and in sight on
every page is in test_site.py; that their numbers, curves and runs are the package's, in
tests/explorers.
"""

import math
import re

import pytest

from tests.browser.conftest import settle, unfold, visit
from tests.browser.shown import explorer, is_in_sight, press, push, reaches, read

COLLECTION = "book/explorers.html"
FRONT = "book/intro.html"


@pytest.fixture(scope="module")
def page(fresh, address):
    """Open the page of all explorers, unfolded."""
    with fresh(color_scheme="light") as page:
        unfold_at(page, address + COLLECTION)
        yield page


def unfold_at(page, place):
    visit(page, place)
    unfold(page)


def test_sliders_choices_and_presets_by_keyboard(page):
    """Each moves its setting and the numbers; one preset is pressed; Reset goes back."""
    first = before = read(page, "mismatch")
    for walk in (
        {"n": "End"},
        {"family": "r", "d": "ArrowRight"},
        {"ratio": "Home", "sigma": "End"},
    ):
        press(page, "mismatch", walk)
        seen = read(page, "mismatch")
        moved = {key for key, value in seen["settings"].items() if before["settings"][key] != value}
        assert moved == set(walk)
        assert seen["values"] != before["values"]
        before = seen
    presets = page.locator(f"{explorer('mismatch')} .x-preset")
    for button in presets.all():
        button.press("Enter")
        settle(page)
        states = [one.get_attribute("aria-pressed") == "true" for one in presets.all()]
        assert button.get_attribute("aria-pressed") == "true"
        assert sum(states) == 1
        read(page, "mismatch")
    push(page, "mismatch", "Reset")
    assert read(page, "mismatch")["values"] == first["values"]


FOCUS = """all => [[...document.querySelectorAll(all)].indexOf(document.activeElement),
  getComputedStyle(document.activeElement).outlineStyle]"""


@pytest.mark.parametrize("name", ["mismatch", "train_prompts"])
def test_every_control_is_reached_by_tab_and_shows_its_focus(page, name):
    controls = f"{explorer(name)} :is(input, select, button, summary, [tabindex='0']):not([hidden])"
    page.focus(controls)
    for at in range(page.locator(controls).count()):
        found, outline = page.evaluate(FOCUS, controls)
        assert found == at
        assert at == 0 or outline != "none"
        page.keyboard.press("Tab")


def test_the_probe_reads_a_curve_by_keyboard_and_pointer_and_a_mark_is_pulled(page):
    """Pulled to the right a line's setting follows, and a shadow stays behind."""
    probe = page.locator(f"{explorer('lookup')} .x-probe").first
    tip = page.locator(f"{explorer('lookup')} .x-tip").first
    probe.press("Home")
    said = probe.get_attribute("aria-valuetext")
    assert re.fullmatch(r"N/K 0.500: best possible 0.\d+, linear 0.\d+, softmax 1.\d+", said)
    page.keyboard.press("ArrowRight")
    assert float(probe.get_attribute("aria-valuenow")) == pytest.approx(0.5 * 128**0.01, rel=1e-5)
    assert tip.inner_text() == probe.get_attribute("aria-valuetext")
    page.keyboard.press("Tab")
    assert not tip.is_visible()
    probe.hover(position={"x": 30, "y": 30})
    assert tip.is_visible()
    box = probe.bounding_box()
    page.mouse.move(box["x"] + box["width"] * math.log(4 / 0.5) / math.log(128), box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 60, steps=4)
    page.mouse.up()
    settle(page)
    seen = read(page, "lookup")["settings"]
    assert float(seen["c"]) == pytest.approx(0.5 * 128**0.9, rel=0.06)
    ghosts = page.locator(f"{explorer('lookup')} .x-line.x-ghost")
    assert ghosts.count() == 2  # curve and legend
    push(page, "lookup", "Reset")


def test_bars_are_read_by_keyboard_and_a_mark_among_them_is_pulled_by_finger(page, address):
    """A bar reads as the nearest example's, and the marked example is the one that is pulled to."""
    unfold_at(page, address + "book/chapters/08_whole_transformer.html")
    probe = page.locator(f"{explorer('influence')} .x-probe").nth(1)
    probe.press("End")
    said = probe.get_attribute("aria-valuetext")
    assert re.fullmatch(r"place 180: network −?[\d.×⁻\s]+, softmax head [\d.×⁻⁰-⁹\s]+", said)
    box = probe.bounding_box()
    finger = page.context.new_cdp_session(page)
    start = page.locator(f"{explorer('influence')} .x-handle").nth(2).bounding_box()
    for kind, x in (("Start", start["x"] + 6), ("Move", box["x"] + 40), ("Move", box["x"] + 1)):
        at = {"type": f"touch{kind}", "touchPoints": [{"x": x, "y": box["y"] + 20}]}
        finger.send("Input.dispatchTouchEvent", at)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    settle(page)
    assert read(page, "influence")["settings"]["which"] == "1"


@pytest.mark.parametrize("name", ["mismatch", "train_window"])
def test_a_link_restores_settings_and_seed(page, address, name):
    unfold_at(page, address + COLLECTION)
    seed = f"#explorer-{name}-seed"
    page.locator(f"{explorer(name)} .x-preset").nth(1).press("Enter")
    press(page, name, {"n": "ArrowLeft"})
    if trains := page.locator(seed).count():
        page.fill(seed, "12")
        page.keyboard.press("Tab")
    before = read(page, name)
    page.evaluate("navigator.clipboard.writeText = async text => { window.written = text; }")
    page.locator(f"{explorer(name)} .x-copy").press("Enter")
    page.wait_for_function(f"document.querySelector('{explorer(name)} .x-copied').textContent")
    link = page.evaluate("window.written")
    assert link == page.url
    unfold_at(page, link)
    assert read(page, name)["settings"] == before["settings"]
    assert not trains or page.input_value(seed) == "12"
    assert -1 <= page.query_selector(explorer(name)).bounding_box()["y"] < 300, "it is in sight"
    unfold_at(page, re.sub(r"\bd=\d+", "d=1.5", link))
    assert "d = 1.5 cannot be shown here" in page.inner_text(f"{explorer(name)} .x-copied")


def test_a_sentence_sets_its_explorer_and_there_is_a_way_back(page, address):
    """It is brought into sight, the focus stays, and a button leads back to where one read."""
    unfold_at(page, address + "book/chapters/07_synthesis.html")
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


def test_the_player_by_keyboard(page, address):
    """Nothing moves before somebody asks; it plays, rests, is looked back at, and starts again."""
    name = "train_window"
    unfold_at(page, address + COLLECTION)
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


def test_a_training_that_is_drawn_at_its_end_first(page, address):
    """It rests there; Play begins it anew."""
    name = "train_lowrank"
    unfold_at(page, address + COLLECTION)
    reaches(page, name, 1000)
    page.wait_for_timeout(150)
    assert read(page, name)["step"] == 1000
    push(page, name, "Play")
    page.wait_for_function(f"document.querySelector('{explorer(name)}').dataset.step < 1000")


@pytest.mark.parametrize("width", [1366, 390])
def test_from_the_front_page_to_a_head_that_trains_in_sight(fresh, address, width):
    """One button, and the training of chapter 1 plays, all of it in sight.

    So it is wherever Play was pressed, at the lower edge of the screen or at the upper one.
    """
    name = "train_window"
    with fresh(width) as page:
        visit(page, address + FRONT)
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


BUTTON = "words => document.querySelector('.x-play').textContent === words"


def test_the_front_page_s_window_runs_when_seen_and_stops_when_told(fresh, address):
    """And it does not for those who asked for less motion."""
    with fresh(reduced_motion="no-preference") as page:
        page.clock.install()
        visit(page, address + FRONT)
        root = page.locator(explorer("glimpse"))
        root.scroll_into_view_if_needed()
        button, output = (root.locator(which) for which in (".x-play", ".x-field output"))
        page.wait_for_function(BUTTON, arg="Pause")
        page.clock.run_for(4000)
        button.press("Enter")
        page.wait_for_function(BUTTON, arg="Play")
        frame = output.get_attribute("data-value")
        assert 0 < float(frame) < 120
        page.clock.run_for(400)
        assert output.get_attribute("data-value") == frame
        button.press("Enter")
        page.clock.fast_forward(10_000)  # milliseconds: longer than its run
        page.wait_for_function(BUTTON, arg="Play again")
        page.emulate_media(reduced_motion="reduce")
        visit(page, address + FRONT)
        frame = output.get_attribute("data-value")
        page.clock.run_for(800)
        assert output.get_attribute("data-value") == frame
        assert not button.is_visible()
