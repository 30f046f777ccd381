"""The explorers' scripts in V8, without a page: what they compute, and what they would draw.

All scripts but the last, which works on a page, are loaded in the order of the site. In place of
what draws stand functions that keep what they are asked to draw.
"""

import json

import pytest
from py_mini_racer import MiniRacer

from claimbook.site.lecture import LAST, OF_TRAININGS, SHARED, scripts

# what the scripts find in a browser: a clock that stands, and a queue of what is to be done later
BROWSER = """
globalThis.performance = {now: () => 0};
globalThis.queue = [];
globalThis.setTimeout = act => queue.push(act);
globalThis.settle = () => { while (queue.length) queue.shift()(); };
"""
# a panel keeps what it is asked to draw, and is its own surroundings
PANELS = """((X) => {
  const keep = (panel, options) => { panel.shown = options; };
  const place = Object.assign(value => value, {back: value => value});
  X.plot = X.replot = (panel, options) => {
    keep(panel, options);
    panel.view = {...options, box: {left: 0, right: 1, top: 0, bottom: 1}, placeX: place,
      placeY: place};
  };
  X.heat = keep;
  X.draw = () => ({});
  X.widthOf = () => 600;
  X.initial = spec => Object.fromEntries(spec.controls.map(c => [c.key, c.start]));
  X.panelsOf = spec => spec.panels.map(() => {
    const panel = {dataset: {height: 250}, style: {}, append() {}, closest: () => panel,
      querySelector: () => panel};
    return Object.assign(panel, {parentElement: panel});
  });
  X.sketch = (name, settings = {}, before = null) => {
    const spec = X.explorers[name], panels = X.panelsOf(spec);
    const state = {...X.initial(spec), ...settings};
    const result = spec.compute(state);
    spec.draw(panels, state, result, before && {state: before, result: spec.compute(before)});
    return panels.map(panel => panel.shown);
  };
})(iclExplorers);"""
# numbers that JSON has no words for, and typed arrays
TELL = """value => JSON.stringify(value, (_, x) => ArrayBuffer.isView(x) ? [...x]
  : typeof x === 'number' && !Number.isFinite(x) ? {number: String(x)} : x)"""


def as_told(found):
    """Read an object of V8's answer; the numbers that JSON has no words for are objects there."""
    return (
        float(found["number"].replace("Infinity", "inf")) if found.keys() == {"number"} else found
    )


class V8:
    """The scripts in an engine of their own: all, or those that a page loads for some explorers."""

    def __init__(self, names=None):
        self.engine = MiniRacer()
        self.engine.eval(BROWSER)
        loaded = [script for script in scripts(names) if script.stem != LAST]
        shared = [script for script in loaded if script.stem in (*SHARED, *OF_TRAININGS)]
        texts = [script.read_text(encoding="utf8") for script in loaded]
        for text in [*texts[: len(shared)], PANELS, *texts[len(shared) :]]:
            self.engine.eval(text)

    def __call__(self, function, *given):
        """Return the answer of a JavaScript function to what is given, which are plain values."""
        handed = ", ".join(json.dumps(each) for each in given)
        return json.loads(
            self.engine.eval(f"({TELL})(({function})({handed}))"), object_hook=as_told
        )


@pytest.fixture(scope="session")
def v8():
    return V8()
