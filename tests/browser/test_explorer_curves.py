"""What the explorers draw: curves read back from the page against the package, and their names."""

import functools
import itertools
import math
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from iclutils.regression.phase import Phase
from iclutils.regression.theory import asymptotics
from iclutils.stages.theory import meanfield
from iclutils.stages.theory.lookup import Lookup
from iclutils.window import functions
from iclutils.window.theory import linear
from tests.browser.explorer_numbers import closed
from tests.browser.test_explorer_numbers import OPEN

DRAWN = 0.012  # relative: a tenth of a pixel of a logarithmic axis of four decades, twice
LINEAR = {("phases", 1): 4e-4}  # a tenth of a pixel of an axis that is not logarithmic
PLACED = 0.006  # relative: a tenth of a pixel of the longest logarithmic axis, eleven decades
CURVE = """([name, panel, line]) => {
  const frame = document.querySelector(`[data-explorer=${name}] [data-panel="${panel}"]`);
  const d = frame.querySelector(`path[data-name="${line}"]`).getAttribute('d');
  const {placeX, placeY, box} = frame.view;
  return d.slice(1).split(/[ML]/).map(p => p.split(' ').map(Number))
    .filter(([, y]) => y > box.top && y < box.bottom)
    .map(([x, y]) => [placeX.back(x), placeY.back(y)]); }"""
# of each explorer: the names of its curves by panel, and of its numbers
NAMES = {
    "window": (
        [["bias²", "noise", "scatter", "loss"], ["the window there"]],
        "w loss bias noise scatter effective drawn half",
    ),
    "mismatch": ([["ratio"], ["loss"]], "pretrained matched moved best worse"),
    "descent": ([["practised tasks", "fresh tasks"]], "icl idg gap nu peak height"),
    "phases": (
        [
            ["on the dominant feature", "on its target"],
            ["on all others", "on the dominant feature", "on its target"],
            ["dominant query", "rare query"],
        ],
        "lead overtake half rare1 rare2 top2 B1lead Ahalf wait",
    ),
    "offset": (
        [["linear", "with a constant", "softmax"]],
        "linear constant softmax floor gained left",
    ),
    "directions": (
        [["all alike", "ignored", "your share"], ["least error"]],
        "none noneW yours yoursW all cost",
    ),
    "lookup": (
        [["best possible", "linear", "softmax"], ["error"]],
        "N linear softmax bayes w law crossing",
    ),
    "parallel": ([[], ["size"]], "w1 w2 size off"),
}
SEEN = """name => { const root = document.querySelector(`[data-explorer=${name}]`); return {
  curves: [...root.querySelectorAll('.x-plot')]
    .sort((a, b) => a.dataset.panel - b.dataset.panel).map(frame =>
    [...frame.querySelectorAll('path[data-name]')].map(e => e.dataset.name).filter(Boolean)),
  rows: [...root.querySelectorAll('data')].map(e => e.dataset.key),
  labels: [...root.querySelectorAll('dt')].map(e => e.textContent)}; }"""
LEGENDS = """() => [...document.querySelectorAll('[data-explorer] .x-panel')].map(panel => ({
  curves: [...panel.querySelectorAll('path[data-name]')].filter(e => e.dataset.name)
    .map(e => [e.dataset.name, e.getAttribute('class').split('x-').at(-1)]),
  legend: [...panel.querySelectorAll('.x-legend li')].map(e => [e.textContent, e.dataset.kind])}))
  .filter(panel => panel.legend.length)"""
OFF = """name => [...document.querySelectorAll(`[data-explorer=${name}] .x-plot > svg`)]
  .flatMap((svg, panel) => [...svg.querySelectorAll('circle.x-dot:not(.x-recorded)')].map(dot => {
    const at = [dot.cx.baseVal.value, dot.cy.baseVal.value];
    const curves = [...svg.querySelectorAll('path[data-name]')].filter(e => e.dataset.name);
    const away = curves.map(path => {
      const points = path.getAttribute('d').slice(1).split(/[ML]/)
        .map(p => p.split(' ').map(Number));
      return Math.min(...points.slice(1).map((b, i) => {
        const a = points[i], u = [b[0] - a[0], b[1] - a[1]], v = [at[0] - a[0], at[1] - a[1]];
        const along = (u[0] * v[0] + u[1] * v[1]) / (u[0] ** 2 + u[1] ** 2 || 1);
        const t = Math.min(1, Math.max(0, along));
        return Math.hypot(v[0] - t * u[0], v[1] - t * u[1]); })); });
    return [panel, dot.getAttribute('class'), Math.min(...away)]; }))"""
PULLED = """name => [...document.querySelectorAll(`[data-explorer=${name}] .x-plot`)]
  .map(frame => frame.querySelectorAll('.x-pulled').length)"""
ENDS = """name => iclExplorers.explorers[name].controls.filter(c => c.values)
  .map(c => [c.key, [c.values[0], c.values.at(-1)].map(String)])"""
NEAR = 1.5  # pixels: between two points of a curve it is drawn straight


@pytest.mark.parametrize("name", NAMES)
def test_curves_and_numbers_have_their_names(page, name):
    seen = page.evaluate(SEEN, name)
    curves, rows = NAMES[name]
    assert seen["curves"] == curves
    assert seen["rows"] == rows.split()
    assert all(seen["labels"])
    assert len(set(seen["labels"])) == len(seen["labels"])


def test_a_legend_s_words_stand_at_the_line_that_has_them(page):
    """No entry says more of a curve's name than the one whose line looks like the curve."""
    compared = 0
    for panel in page.evaluate(LEGENDS):
        for name, kind in panel["curves"]:
            shared = [(len(named(name) & named(text)), of) for text, of in panel["legend"]]
            own = max((count for count, of in shared if of == kind), default=None)
            assert own is not None, f"{name} is drawn as {kind}, which the legend lacks"
            assert own == max(count for count, _ in shared), (name, panel["legend"])
            compared += own > 0
    assert compared >= 30


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"phases", "parallel"}))
def test_a_dot_lies_on_a_curve(page, name):
    """Dots show where the settings are; those of phases are upright lines, and records are data."""
    dots = page.evaluate(OFF, name)
    assert dots
    assert [dot for dot in dots if dot[-1] > NEAR] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_pulled_stays_within_reach(page, name):
    """At both ends of every control the upright lines that move settings are drawn."""
    there = page.evaluate(PULLED, name)
    assert there
    for key, values in page.evaluate(ENDS, name):
        for value in values:
            page.evaluate(OPEN, [name, f"{key}={value}"])
            assert page.evaluate(PULLED, name) == there, f"{key} = {value}"
    page.evaluate(OPEN, [name, ""])


def named(text):
    """The words of a label."""
    return set(re.findall(r"[\w²]+", text.replace("~", "").replace("_{", " ")))


def window_loss(w):
    loss = closed(3, 1000)
    return float(loss.at(functions.Affine(3), 0.4, w)[0])


FEATURES = 1000
P1 = 0.5


@functools.cache
def rare_flow():
    return meanfield.flow("rare", FEATURES, P1)


def rare_error(t):
    flow = rare_flow()
    return float(np.interp(math.log(t), np.log(flow.t[1:]), flow.error[1:]))


def rare_attention(entry):
    """The attention of a rare query on its target, the dominant feature and all others together.

    Against time in units of K²/(1 − p₁).
    """
    rare = (1 - P1) / (FEATURES - 1)
    shares = np.array([rare, P1, (FEATURES - 2) * rare])

    def at(time):
        flow = rare_flow()
        t = min(max(time * FEATURES**2 / (1 - P1), flow.t[0]), flow.t[-1])
        attention = shares * np.exp(flow.solution(t))
        return float(attention[entry] / attention.sum())

    return at


EXACT = {
    ("window", 0, "loss"): window_loss,
    ("descent", 0, "fresh tasks"): lambda t: asymptotics.errors(Phase(10, 0.5, t, 0.01), 1e-5).icl,
    ("descent", 0, "practised tasks"): lambda t: (
        asymptotics.errors(Phase(10, 0.5, t, 0.01), 1e-5).idg
    ),
    ("offset", 0, "linear"): lambda n: linear.LinearUnit.of(functions.ReLU(5)).minimum(n, 0.01),
    ("offset", 0, "with a constant"): lambda n: linear.LinearUnit.of(
        functions.ReLU(5)
    ).minimum_with_constant(n, 0.01),
    ("phases", 1, "on its target"): rare_attention(0),
    ("phases", 1, "on the dominant feature"): rare_attention(1),
    ("phases", 1, "on all others"): rare_attention(2),
    ("phases", 2, "rare query"): rare_error,
    ("lookup", 1, "error"): lambda w: Lookup(8, 32).loss(w, 1.0),
}


@pytest.mark.parametrize("curve", EXACT, ids=lambda curve: f"{curve[0]}-{curve[2]}")
def test_a_curve_that_is_drawn_is_the_package_s(page, curve):
    """At the first settings, wherever the curve is not too steep to be read."""
    points = page.evaluate(CURVE, list(curve))
    assert len(points) > 20
    read = 0
    for x, y in points[:: max(1, len(points) // 25)]:
        off = PLACED * x + LINEAR.get(curve[:2], 0.0)
        near = [EXACT[curve](place) for place in (x - off, x, x + off)]
        if max(near) > 1.1 * min(near):  # too steep to be read
            continue
        read += 1
        assert min(near) * (1 - DRAWN) <= y <= max(near) * (1 + DRAWN), (curve, x)
    assert read > 10


PHASES = """() => [...document.querySelectorAll('[data-explorer=phases] .x-plot')].map(frame =>
  [...frame.querySelectorAll('svg text')].filter(e => /^[IV]+$/.test(e.textContent))
    .map(e => [e.textContent, e.getBoundingClientRect()])
    .sort(([, a], [, b]) => a.left - b.left)
    .map(([text, box]) => [text, box.left, box.right]))"""


@pytest.mark.parametrize("K", [100, 1000, 100_000])
def test_the_phases_are_named_in_their_order(page, K):
    """All four, none over another, even where a phase is thinner than its name."""
    page.evaluate(OPEN, ["phases", f"K={K}&p1=0.5"])
    panels = page.evaluate(PHASES)
    assert len(panels) == 3
    for names in panels:
        assert [text for text, *_ in names] == ["I", "II", "III", "IV"]
        for (_, _, end), (_, start, _) in itertools.pairwise(names):
            assert end < start


FRONT = "book/intro.html"
LASTS = 10_000  # milliseconds: longer than its run
STATE = """() => { const root = document.querySelector('[data-explorer=glimpse]'); return {
  frame: root.querySelector('.x-field output').dataset.value, drawn: root.dataset.drawn,
  button: root.querySelector('.x-play').hidden ? '' : root.querySelector('.x-play').textContent};
}"""

SAID = """() => { const root = document.querySelector('[data-explorer=glimpse]');
  const texts = [...root.querySelectorAll('.x-plot svg text')].map(e => e.textContent);
  return [texts.filter(text => text.includes('°')),
    root.querySelector('.x-summary').textContent]; }"""


@pytest.fixture
def front(browser, address):
    """The front page, whose clock the test puts on."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.clock.install()
    page.goto(address + FRONT)
    page.wait_for_selector("[data-explorer=glimpse][data-drawn]")
    yield page
    page.close()


def test_the_front_page_s_window_follows_gradient_flow(front):
    loss = closed(2, 60)
    task = functions.Affine(2, 4.0)

    def speed(_, w):
        h = 1e-4 * (1 + w[0])
        low = max(float(w[0]) - h, 0.0)
        high = float(w[0]) + h
        ends = [float(loss.at(task, 1.0, place)[0]) for place in (low, high)]
        return [(ends[0] - ends[1]) / (high - low)]

    times = [0.3, 10.0, 1000.0]
    found = solve_ivp(speed, (0, 1000), [0.0], t_eval=times, rtol=1e-7, atol=1e-9)
    for t, w in zip(times, found.y[0], strict=True):
        assert front.evaluate(f"iclExplorers.windowAt(4, {t})") == pytest.approx(w, rel=3e-3)


def test_the_front_page_s_window_runs_when_seen_and_stops_when_told(front):
    front.locator("[data-explorer=glimpse]").scroll_into_view_if_needed()
    front.wait_for_function("document.querySelector('.x-play').textContent === 'Pause'")
    front.clock.run_for(4000)
    labels, sentence = front.evaluate(SAID)  # while it plays, both of one moment
    assert len(labels) == 1
    assert re.search(r"\d+°", labels[0])[0] in sentence
    front.focus(".x-play")
    front.keyboard.press("Enter")
    stopped = front.evaluate(STATE)
    assert stopped["button"] == "Play"
    assert 0 < int(stopped["frame"]) < 120
    front.clock.run_for(400)
    assert front.evaluate(STATE)["frame"] == stopped["frame"]
    front.keyboard.press("Enter")
    front.clock.fast_forward(LASTS)
    front.wait_for_function("document.querySelector('.x-play').textContent === 'Play again'")
    assert front.evaluate(STATE)["frame"] == "120"
    front.focus("#explorer-glimpse-frame")
    front.keyboard.press("Home")
    summary = "document.querySelector('[data-explorer=glimpse] .x-summary').textContent"
    front.wait_for_function(f"{summary}.includes('all examples count alike')")
    assert "#" not in front.url


def test_nothing_moves_for_those_who_asked_for_less_motion(front):
    front.emulate_media(reduced_motion="reduce")
    front.reload()
    front.wait_for_selector("[data-explorer=glimpse][data-drawn]")
    front.locator("[data-explorer=glimpse]").scroll_into_view_if_needed()
    before = front.evaluate(STATE)
    front.clock.run_for(800)
    assert front.evaluate(STATE) == before
    assert before["button"] == ""


def test_from_the_front_page_to_a_head_that_trains(browser, address):
    """One button, and the training of chapter 1 plays, all of it in sight."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.goto(address + FRONT)
    page.wait_for_selector("[data-explorer=glimpse][data-drawn]")
    page.get_by_text("Train one yourself").click()
    page.wait_for_function(
        "Number(document.querySelector('[data-explorer=train_window]')?.dataset.step) > 3"
    )
    box = page.locator("[data-explorer=train_window] .x-stage").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900
    page.close()
