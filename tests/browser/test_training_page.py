"""The trainings on their page, worked by keyboard in headless Chromium.

Nothing moves before somebody asks; a run is the same from the same seed, in a worker, on the page
itself and from a file; what is shown is spoken, legible and inside its frame.
"""

import pytest
from built_site import SITE, unfold, wait_until_drawn

from tests.browser.looks import ON_THE_NARROW
from tests.browser.shown import explorer, reach_every_control, read, settle

PAGE = "book/explorers.html"
NAMES = ("window", "prompts", "stages", "lowrank")


def place(name):
    return explorer(f"train_{name}")


def state(page, name):
    return read(page, f"train_{name}")


def opened(page, address):
    page.goto(address)
    for name in NAMES:
        page.wait_for_selector(f"{place(name)}[data-drawn]", state="attached")
    unfold(page)


def press(page, name, button):
    page.focus(f"{place(name)} button:text-is('{button}')")
    page.keyboard.press("Enter")


def reaches(page, name, step):
    page.wait_for_function(
        "([place, step]) => Number(document.querySelector(place).dataset.step) >= step",
        arg=[place(name), step],
    )


def begins(page, name):
    """Wait until a run stands at its start: until then the page still shows the one before it."""
    page.wait_for_function(
        "place => document.querySelector(place).dataset.step === '0'", arg=place(name)
    )


def looked_at(page, name, row):
    """What is shown at a record of the run so far, found with the scrubber."""
    page.eval_on_selector(
        f"#explorer-train_{name}-scrub",
        "(e, row) => { e.value = row; e.dispatchEvent(new Event('input')); }",
        row,
    )
    settle(page)
    return state(page, name)["values"]


@pytest.fixture(scope="module")
def trainings(window, address):
    page, wrong = window
    wrong.clear()
    opened(page, address + PAGE)
    return page, wrong


@ON_THE_NARROW
@pytest.mark.parametrize("name", NAMES)
def test_the_player_by_keyboard(trainings, name):
    page, wrong = trainings
    first = state(page, name)
    assert first["step"] == 0, "nothing moves before somebody asks"
    press(page, name, "Step")
    reaches(page, name, 1)
    one = state(page, name)["step"]
    begun = looked_at(page, name, 0)  # what is best for the settings comes with the first step
    assert {key: begun[key] for key, value in first["values"].items() if value != "NaN"} == {
        key: value for key, value in first["values"].items() if value != "NaN"
    }
    press(page, name, "Play")
    reaches(page, name, one + 5)
    press(page, name, "Pause")
    page.wait_for_timeout(150)
    settle(page)
    rested = state(page, name)
    page.wait_for_timeout(150)
    assert state(page, name)["step"] == rested["step"], "a paused run rests"
    assert str(rested["step"]) in rested["sentence"]
    page.focus(f"#explorer-train_{name}-scrub")
    page.keyboard.press("Home")
    settle(page)
    assert state(page, name)["values"] == begun
    page.keyboard.press("End")
    settle(page)
    assert state(page, name)["values"] == rested["values"]
    press(page, name, "Start again")
    begins(page, name)
    assert not wrong


@ON_THE_NARROW
@pytest.mark.parametrize("name", NAMES)
def test_settings_are_turned_during_the_run(trainings, name):
    page, wrong = trainings
    press(page, name, "Play")
    reaches(page, name, 5)
    scrubber = f"#explorer-train_{name}-scrub"  # who looks back wants the run to rest
    controls = page.locator(f"{place(name)} .x-controls :is(input, select):not({scrubber})")
    for i in range(controls.count()):
        controls.nth(i).focus()
        page.keyboard.press("ArrowUp")
        settle(page)
        page.keyboard.press("ArrowDown")
        settle(page)
    press(page, name, "Pause")
    page.wait_for_timeout(150)
    settle(page)
    state(page, name)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    press(page, name, "Reset")
    begins(page, name)
    assert page.input_value(f"#explorer-train_{name}-seed") == "0"
    assert not wrong


SETTINGS = """name => {
  const spec = iclExplorers.explorers[name];
  const root = document.querySelector(`.explorer[data-explorer=${name}]`);
  return {
    start: Object.fromEntries(spec.controls.map(c => [c.key, String(c.start)])),
    presets: spec.presets.map(p => Object.fromEntries(
      Object.entries(p.settings).map(([k, v]) => [k, String(v)]))),
    shown: Object.fromEntries(spec.controls.map(c => {
      const input = document.getElementById(`explorer-${name}-${c.key}`);
      return [c.key, c.options ? input.value
        : input.closest('.x-field').querySelector('output').dataset.value];
    })),
    pressed: [...root.querySelectorAll('.x-preset')].map(e => e.ariaPressed)};
}"""


@ON_THE_NARROW
@pytest.mark.parametrize("name", NAMES)
def test_every_preset_by_keyboard(trainings, name):
    """A preset's settings stand in the controls, its run starts, trains and is marked as chosen."""
    page, wrong = trainings
    spec = page.evaluate(SETTINGS, f"train_{name}")
    assert len(spec["presets"]) >= 4
    for i, preset in enumerate(spec["presets"]):
        page.locator(f"{place(name)} .x-preset").nth(i).focus()
        page.keyboard.press("Enter")
        settle(page)
        seen = page.evaluate(SETTINGS, f"train_{name}")
        assert seen["shown"] == spec["start"] | preset
        assert [at for at, chosen in enumerate(seen["pressed"]) if chosen == "true"] == [i]
        before = state(page, name)["step"]
        press(page, name, "Step")
        reaches(page, name, before + 1)
        settle(page)
        state(page, name)
    press(page, name, "Reset")
    settle(page)
    assert page.evaluate(SETTINGS, f"train_{name}")["shown"] == spec["start"]
    assert not wrong


@pytest.mark.parametrize("name", NAMES)
def test_a_link_restores_settings_and_seed(page, name):
    """By keyboard: settings and a seed, the button, and its link opened anew."""
    page.evaluate("navigator.clipboard.writeText = async text => { window.written = text; }")
    page.locator(f"{place(name)} .x-preset").nth(2).focus()
    page.keyboard.press("Enter")
    page.fill(f"#explorer-train_{name}-seed", "12")
    page.keyboard.press("Tab")
    page.focus(f"{place(name)} .x-copy")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('{place(name)} .x-copied').textContent")
    link = page.evaluate("window.written")
    assert link == page.url
    before = page.evaluate(SETTINGS, f"train_{name}")
    page.goto("about:blank")
    opened(page, link)
    settle(page)
    after = page.evaluate(SETTINGS, f"train_{name}")
    assert (after["shown"], after["pressed"]) == (before["shown"], before["pressed"])
    assert page.input_value(f"#explorer-train_{name}-seed") == "12"
    page.evaluate("link => { location.href = link; }", link.replace("seed=12", "seed=1.5"))
    page.wait_for_function(
        f"document.querySelector('{place(name)} .x-copied').textContent.includes('seed = 1.5')"
    )
    assert page.input_value(f"#explorer-train_{name}-seed") == "0"
    press(page, name, "Reset")


def test_the_best_head_stands_beside_the_one_that_learns(page):
    """From the first step on, and anew when the link is another one."""
    press(page, "lowrank", "Reset")
    settle(page)
    assert state(page, "lowrank")["values"]["c"] == "NaN"
    press(page, "lowrank", "Step")
    reaches(page, "lowrank", 1)
    settle(page)
    first = state(page, "lowrank")["values"]
    assert 0 < float(first["e"]) < float(first["c"])
    page.select_option("#explorer-train_lowrank-link", "affine")
    press(page, "lowrank", "Step")
    reaches(page, "lowrank", 2)
    settle(page)
    second = state(page, "lowrank")["values"]
    assert float(second["e"]) < 0.1 * float(second["c"])
    assert looked_at(page, "lowrank", 0)["c"] == first["c"], "each stretch of the run has its own"
    press(page, "lowrank", "Reset")


@ON_THE_NARROW
@pytest.mark.parametrize("name", NAMES)
def test_every_control_is_reached_by_tab(trainings, name):
    page, _ = trainings
    reach_every_control(page, f"train_{name}")


@pytest.mark.parametrize(("width", "height"), [(1366, 900), (390, 844)])
def test_the_whole_picture_is_in_sight_while_it_plays(browser, address, width, height):
    """Wherever Play was pressed, at the lower edge of the screen or at the upper one."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address + PAGE)
    wait_until_drawn(page)
    head = page.evaluate("document.querySelector('.bd-header-article')?.offsetHeight ?? 0")
    for name in NAMES:
        play = page.locator(f"{place(name)} .x-player button").first
        for edge in ("end", "start"):
            play.evaluate("(e, block) => e.scrollIntoView({block})", edge)
            step = state(page, name)["step"]
            play.evaluate("e => { e.focus({preventScroll: true}); e.click(); }")
            reaches(page, name, step + 2)
            top, bottom = page.eval_on_selector(
                f"{place(name)} .x-stage",
                "e => (r => [r.top, r.bottom])(e.getBoundingClientRect())",
            )
            assert head <= top, name
            assert bottom <= height, name
            play.evaluate("e => e.click()")  # rests
    page.close()


ROW = 12
WITHOUT_WORKERS = "window.Worker = class { constructor() { throw new Error('none'); } };"


def runs_of(page, seed):
    """What each training shows at record ROW of its run from a seed."""
    found = {}
    for name in NAMES:
        page.fill(f"#explorer-train_{name}-seed", seed)
        page.keyboard.press("Tab")
        press(page, name, "Start again")
        begins(page, name)
        press(page, name, "Play")
        reaches(page, name, 2 * ROW)
        press(page, name, "Pause")
        found[name] = looked_at(page, name, ROW)
    return found


def test_a_seed_is_one_run(browser, address):
    """From a seed the same run: again, without workers, and from a file; another from another."""
    runs = []
    for script, where in (("0", address), (WITHOUT_WORKERS, address), ("0", SITE.as_uri() + "/")):
        context = browser.new_context()
        context.add_init_script(script)
        page = context.new_page()
        opened(page, where + PAGE)
        if not runs:
            other = runs_of(page, "7")
        runs.append(runs_of(page, "0"))
        context.close()
    first, *rest = runs
    for name in NAMES:
        assert other[name] != first[name]
    assert all(run == first for run in rest)
