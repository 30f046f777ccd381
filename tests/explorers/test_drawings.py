"""What the explorers would draw: curves against the package's, their names, and what can be pulled.

Each picture is taken from what the scripts hand to the function that draws.
"""

import math
import re

import pytest

from iclutils.stages.theory.equal_features import Lookup
from iclutils.window import function_classes
from iclutils.window.theory import linear_attention
from tests.explorers import package

NAMES = [*package.EXPLORERS, "glimpse"]
SKETCH = "(name, settings) => iclExplorers.sketch(name, settings)"
LISTED = """name => { const spec = iclExplorers.explorers[name];
  return {rows: spec.compute(iclExplorers.initial(spec)).rows.map(row => row.slice(0, 2)),
    legends: spec.panels.map(panel => panel.legend.map(([, kind]) => kind))}; }"""
ENDS = """name => iclExplorers.explorers[name].controls.flatMap(c =>
  c.values ? [{[c.key]: c.values[0]}, {[c.key]: c.values.at(-1)}]
    : c.options.map(([value]) => ({[c.key]: value})))"""


def named(panel):
    """Return the curves of a panel that have names."""
    return [line for line in panel["lines"] if line.get("name")]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_has_its_name_and_what_the_legend_names_is_drawn(v8, name):
    """A curve has a name, by which the probe reads it, where its panel has an axis."""
    listed, panels = v8(LISTED, name), v8(SKETCH, name, {})
    keys, labels = zip(*listed["rows"], strict=True)
    assert all(labels)
    assert len(set(labels)) == len(set(keys)) == len(keys)
    for panel, signs in zip(panels, listed["legends"], strict=True):
        parts = [*panel["lines"], *panel.get("dots", []), *panel.get("marks", [])]
        assert set(signs) - {"ghost"} <= {part.get("kind") for part in parts}
        assert panel["label"]
        assert panel["x"]["label"]
        assert panel["y"].get("label") or panel["y"]["hidden"]
        curves = [line for line in panel["lines"] if line["kind"] not in ("thin", "ghost")]
        assert {line["kind"] for line in curves} <= set(signs) or not signs
        unread = panel["y"].get("hidden") or panel["y"]["label"] == "second weight"  # a plane
        assert unread or all(line.get("name") for line in curves)


def is_seen(panel, point):
    """Tell whether a point lies in its panel."""
    for value, axis in zip(point, (panel["x"], panel["y"]), strict=True):
        low, high = axis["range"]
        if value is None or not low <= float(value) <= high:
            return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_stays_whole_and_within_reach(v8, name):
    """At both ends of every control: sentences, curves, upright lines that can be pulled."""

    def pulled(panels):
        for panel in panels:
            low, high = panel["x"]["range"]
            reached = [mark for mark in panel.get("marks", []) if mark.get("drag")]
            yield [mark["drag"] for mark in reached if low <= mark["at"] <= high]

    there = list(pulled(v8(SKETCH, name, {})))
    for settings in v8(ENDS, name):
        panels = v8(SKETCH, name, settings)
        assert list(pulled(panels)) == there, settings
        for panel in panels:
            assert not re.search("NaN|undefined", panel["label"]), (settings, panel["label"])
            for line in named(panel):
                seen = any(is_seen(panel, point) for point in line["points"])
                assert seen or name == "parallel", (settings, line["name"])


RELU = linear_attention.LinearUnit.of(function_classes.ReLU(5))
EXACT = {
    ("offset", 0, "linear"): lambda n: RELU.minimum(n, 0.01),
    ("offset", 0, "with a constant"): lambda n: RELU.minimum_with_constant(n, 0.01),
    ("lookup", 1, "error"): lambda w: Lookup(8, 32).loss(w, 1.0),
    ("diversity", 0, "new tasks"): lambda at: package.diversity((), at, 5)["icl"],
    ("diversity", 0, "practised tasks"): lambda at: package.diversity((), at, 5)["idg"],
    ("plateau", 0, "rare"): lambda t: package.error_at("rare", 100, 0.5, t),
    ("plateau", 0, "dominant"): lambda t: package.error_at("dominant", 100, 0.5, t),
}
DRAWN = {"plateau": 1e-4}  # relative; others 1e-9


@pytest.mark.parametrize("curve", EXACT, ids=lambda curve: f"{curve[0]}-{curve[2]}")
def test_a_curve_that_is_drawn_is_the_package_s(v8, curve):
    """At the first settings, at every twentieth of its points."""
    name, panel, line = curve
    shown = v8(SKETCH, name, {})[panel]
    [points] = [each["points"] for each in named(shown) if each["name"] == line]
    points = [(x, y) for x, y in points[1:-1] if math.isfinite(y)]  # the last may be a pen's lift
    assert len(points) > 20
    for x, y in points[:: len(points) // 20]:
        assert y == pytest.approx(EXACT[curve](x), rel=DRAWN.get(name, 1e-9), abs=1e-12), x
