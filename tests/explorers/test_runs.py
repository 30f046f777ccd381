"""The trainings' runs without a page: what they record and show, from a seed, at every preset."""

import json
import math

import pytest
from py_mini_racer import MiniRacer

from tests.explorers import package
from tests.explorers.conftest import BROWSER

NAMES = ("window", "prompts", "stages", "lowrank")
# a run of so many steps on the page, at a preset or at settings; what its view shows then
RUN = """(name, asked, seed, steps, changed) => {
  const X = iclExplorers, spec = X.explorers[`train_${name}`];
  const derived = settings => ({...settings, ...spec.derive?.(settings)});
  const start = {...X.initial(spec), ...asked};
  const run = X.makeRun(name, () => {}), panels = X.panelsOf(spec);
  const advance = () => {
    run.advance(steps);
    settle();
  };
  run.start(derived(start), seed);
  advance();
  if (changed) {
    run.set(derived({...start, ...changed}));
    advance();
  }
  const at = run.length - 1, step = at * run.every;
  const moment = {run, at, step, seed, settings: run.settingsAt(step)};
  const {rows, summary} = spec.view(panels, moment);
  return {rows: Object.fromEntries(rows.map(([key, label, value]) => [key, value])),
    summary: X.words(summary), panels: panels.map(panel => panel.shown), step: run.step,
    record: run.row(at), first: run.settingsAt(0), last: run.settingsAt(step)}; }"""
PRESETS = "name => iclExplorers.explorers[`train_${name}`].presets.map(preset => preset.settings)"
STEPS = 40


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_trains_and_is_shown(v8, name):
    presets = v8(PRESETS, name)
    assert len(presets) >= 4
    for preset in presets:
        seen = v8(RUN, name, preset, 0, STEPS, None)
        assert seen["step"] == STEPS
        assert str(STEPS) in seen["summary"]
        assert "NaN" not in seen["summary"]
        assert all(math.isfinite(value) for value in seen["record"])
        for panel in seen["panels"]:
            assert panel["label"]
            assert "x" not in panel or (panel["x"]["label"] and panel["y"]["label"])


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_one_run(v8, name):
    first, again, other = (v8(RUN, name, {}, seed, STEPS, None) for seed in (0, 0, 1))
    assert json.dumps(first) == json.dumps(again)  # a NaN is like another there
    assert first["record"] != other["record"]


MESSAGES = """const told = [];
globalThis.onmessage = null;
globalThis.postMessage = message => told.push([...message.rows]);
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_worker_takes_the_page_s_steps(v8, name):
    """Made of the numerics' own sources, without another file: so it does from file://, too."""
    page = v8(RUN, name, {}, 3, STEPS, None)
    engine = MiniRacer()
    engine.eval(BROWSER + MESSAGES + v8("() => iclExplorers.workerSource()"))
    start = {"kind": "start", "model": name, "settings": page["first"], "seed": 3, "number": 1}
    advance = {"kind": "advance", "count": STEPS, "budget": 1}
    for message in (start, advance):
        engine.eval(f"onmessage({{data: {json.dumps(message)}}})")
    rows = json.loads(engine.eval("JSON.stringify(told.at(-1))"))
    engine.close()
    assert rows[-len(page["record"]) :] == page["record"]


CHANGES = {"window": {"sigma": 2}, "stages": {"p1": 0.8}, "lowrank": {"link": "affine"}}


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_is_turned_during_the_run(v8, name):
    """It holds from the next step on; what was best before stays beside what was trained before."""
    before = v8(RUN, name, {}, 0, STEPS, None)
    seen = v8(RUN, name, {}, 0, STEPS, CHANGES[name])
    assert seen["step"] == 2 * STEPS
    assert seen["first"] == before["first"]
    assert CHANGES[name].items() <= seen["last"].items()
    if name == "stages":
        return
    steps = [
        {y for _, y in line["points"] if math.isfinite(y)}
        for panel in seen["panels"]
        for line in panel.get("lines", [])
        if line["kind"] == "exact" and line["points"][0][0] == 0 and len(line["points"]) == 6
    ]
    assert steps
    assert all(len(values) == 2 for values in steps)


def test_the_exact_window_is_the_package_s(v8):
    for preset in v8(PRESETS, "window"):
        seen = v8(RUN, "window", preset, 0, 1, None)
        t = package.contexts_of(v8, seen["first"])
        best = package.best_window(t, **seen["first"])
        # a flat curve's lowest place is known to the root of what its values are known to
        assert seen["rows"]["best"] == pytest.approx(best.w, rel=0.03, abs=1e-5)
        assert seen["rows"]["lowest"] == pytest.approx(best.loss, rel=5e-3 if t else 1e-3)


def test_the_mean_field_is_the_package_s(v8):
    for preset in v8(PRESETS, "stages"):
        seen = v8(RUN, "stages", preset, 0, 1, None)
        half = package.passages(seen["first"]["K"], seen["first"]["p1"])["half"]
        assert seen["rows"]["exact"] == pytest.approx(half, rel=1e-6)


def test_the_curve_of_the_sets_is_the_package_s(v8):
    seen = v8(RUN, "prompts", {"kappa": 0.5}, 0, 1, None)
    at = seen["last"]
    for key, name in (("icl", "test error"), ("idg", "practised tasks")):
        [line] = [line for line in seen["panels"][0]["lines"] if line.get("name") == name]
        assert len(line["points"]) > 150
        for tau, error in line["points"][::10]:
            expected = package.two_errors(at["alpha"], 0.5, tau, at["rho"], at["lambda"])
            assert error == pytest.approx(expected[key], rel=1e-6)
