"""The explorers' numbers against the package's, at every preset and at drawn settings."""

import json
import math
import random
import re

import pytest

from tests.browser import explorer_numbers
from tests.browser.shown import FAULTS

COUNT = {"window": 30, "mismatch": 15, "descent": 80, "phases": 40}
COUNT |= {"offset": 12, "directions": 8, "lookup": 30, "parallel": 30}
# relative; a wrong term or exponent moves the numbers by far more. Windows: where a curve is flat
# at its lowest place, that place is known to the root of what its values are known to.
RELATIVE = {"closed": 1e-3, "drawn": 5e-3, "": 1e-6}
PLACE = {"w": 0.03, "pretrained": 0.03, "matched": 0.03}
FLAT = 1e-5  # windows below 0.1, absolute: there the package's grid is linear in w
ROUNDING = 1e-12  # of numbers of order one; what is below has to be shown as 0
SHOWN = 5e-4 + 1e-12  # half a unit in the fourth digit
NUMBER = r"∞|−?\d[\d.]*(?:\u00a0×\u00a010[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
# the phrases of a sentence that hold its numbers, each by its key: a number, a setting, or OTHER
KEY = r"\\{(\w+)\\}"
PHRASES = {
    "window": "w* = {w}, averages over {effective} tokens; the loss is {loss}."
    " | Your window w = {at_w} has {times} times that loss",
    "mismatch": "On tasks {ratio} times as steep | makes {worse} times the least error",
    "descent": "At τ = {tau}: eICL = {icl}, eIDG = {idg}. | peaks at τ = {peak}, with {height}.",
    "phases": "passes {level} at t = {top2}, a rare one’s at {rare2}.",
    "parallel": "At {angle}° the fit’s weights have the size {size}; | truth, have {made}.",
    "offset": "At n = {n} the constant 1 | error by {gained}; | what is left by {left}."
    " | At n = {n} the error of linear attention is {apart} times",
    "lookup": "With {K} letters, noise σ² = {rho} and {tokens} tokens per letter: "
    "linear {linear}, softmax {softmax}, best possible {bayes}. | is better from {crossing} tokens",
    "directions": "with a share of {share} its error is {percent} % lower | a factor of {cost}.",
}
OTHER = {
    "at_w": lambda at, values, t: at["w"],
    "times": lambda at, values, t: explorer_numbers.window_at(t, **at) / values["loss"],
    "made": lambda at, values, t: math.hypot(1, 0.5),
    "level": lambda at, values, t: 0.01,
    "tokens": lambda at, values, t: values["N"] / at["K"],
}
UNHELD = {"share", "percent"}  # of the best share, whose place the package does not compute
SPEC = """name => { const spec = iclExplorers.explorers[name]; return {
  controls: spec.controls.map(c => [c.key, c.options ? c.options.map(o => o[0])
    : c.values.map(String)]),
  start: Object.fromEntries(spec.controls.map(c => [c.key, String(c.start)])),
  presets: (spec.presets || []).map(p => Object.fromEntries(
    Object.entries(p.settings).map(([k, v]) => [k, String(v)])))}; }"""
READ = """name => { const root = document.querySelector(`[data-explorer=${name}]`); return {
  settings: Object.fromEntries([...root.querySelectorAll('input[type=range], select')].map(e => [
    e.id.split('-').pop(), e.tagName === 'SELECT' ? e.value
      : e.closest('.x-field').querySelector('output').dataset.value])),
  values: Object.fromEntries([...root.querySelectorAll('data')]
    .map(e => [e.dataset.key, [e.value, e.textContent]])),
  said: (root.querySelector('svg[aria-label]')?.getAttribute('aria-label') ?? '')
    .split('. ').slice(1).join('. '),
  FAULTS}; }""".replace("FAULTS", FAULTS)
METHOD = """([family, d, n, L, sigma]) => {
  const method = iclExplorers.population(family, d, n, L, sigma).method;
  return JSON.stringify(method === 'drawn' ? [...iclExplorers.drawn(d, n).t] : []); }"""
# thousands of numbers come as one text: as values each is checked by the driver
LOWRANK = "settings => JSON.stringify(iclExplorers.lowrankContexts(...settings))"
TOKENS = "settings => JSON.stringify([...iclExplorers.tokens(...settings)])"
WORDS = ("family", "link", "where", "one")
OPEN = """([name, query]) => new Promise(done => {
  const root = document.querySelector(`[data-explorer=${name}]`);
  const before = root.dataset.drawn;
  history.replaceState(null, '', location.pathname);
  location.hash = `explorer-${name}?${query}`;
  const look = () => root.dataset.drawn !== before ? done() : requestAnimationFrame(look);
  look(); })"""


def settings_of(page, name):
    """Every preset, and settings drawn from the sliders' values."""
    spec = page.evaluate(SPEC, name)
    draws = random.Random(name)
    found = [spec["start"] | preset for preset in spec["presets"]]
    for _ in range(COUNT[name]):
        found.append({key: draws.choice(values) for key, values in spec["controls"]})
    return found


def as_number(text):
    """What a person reads off the page."""
    table = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−\u00a0", "0123456789-- ")
    if text in ("none", "∞"):
        return {"none": math.nan, "∞": math.inf}[text]
    mantissa, times, exponent = text.partition("×")
    power = 10 ** int(exponent.strip()[2:].translate(table)) if times else 1
    return float(mantissa.translate(table)) * power


def said_numbers(name, said):
    """The numbers of an explorer's sentence by their keys; none stands outside of its phrases."""
    found, rest = {}, said
    for phrase in PHRASES[name].split(" | "):
        pattern = re.sub(KEY, lambda key: f"(?P<{key[1]}>{NUMBER})", re.escape(phrase))
        match = re.search(pattern, said)
        if match:
            found |= match.groupdict()
            rest = rest.replace(match[0], "")
    assert not re.search(r"\d", rest), (name, rest)
    return found


def half_a_unit(text):
    """What a written number may differ by from the number that it stands for."""
    mantissa, times, exponent = text.partition("\u00a0×")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * as_number(f"1{times}{exponent}") * 10.0**-decimals * (1 + 1e-9)


def contexts(page, name, at):
    """The page's drawn contexts where it uses them, and the name of its method."""
    if name == "directions":
        drawn = page.evaluate(LOWRANK, [at["where"], at["d"], at["n"]])
        return json.loads(drawn), "drawn"
    if name not in ("window", "mismatch", "offset"):
        return (), ""
    steepness = at.get("L", 1)
    t = json.loads(page.evaluate(METHOD, [at["family"], at["d"], at["n"], steepness, at["sigma"]]))
    return tuple(t), "drawn" if t else "closed"


@pytest.mark.parametrize("name", explorer_numbers.EXPLORERS)
def test_the_numbers_are_the_package_s(page, name):
    worst = 0.0
    for settings in settings_of(page, name):
        page.evaluate(OPEN, [name, "&".join(f"{key}={value}" for key, value in settings.items())])
        seen = page.evaluate(READ, name)
        assert seen["settings"] == settings
        assert (seen["broken"], seen["spill"]) == (0, 0), settings
        whole = ("n", "d", "K")
        at = {
            key: value if key in WORDS else int(value) if key in whole else float(value)
            for key, value in settings.items()
        }
        t, method = contexts(page, name, at)
        if name == "directions":  # the places of the least errors are the page's, and tested
            at |= {key: float(seen["values"][key][0]) for key in ("noneW", "yoursW")}
        if name == "descent":
            at |= {"peak": float(seen["values"]["peak"][0])}
        expected = explorer_numbers.EXPLORERS[name](t, **at)
        if name == "window":
            shown_at = at["w"] or float(seen["values"]["w"][0])
            tokens = json.loads(page.evaluate(TOKENS, [at["n"], at["d"]]))
            expected |= explorer_numbers.one_context(tokens, shown_at)
        assert expected.keys() <= seen["values"].keys()
        for key, (value, text) in seen["values"].items():
            assert float(value) == pytest.approx(as_number(text), rel=SHOWN, nan_ok=True), key
            least = 1e-6 if key in PLACE else ROUNDING
            assert not 0 < abs(float(value)) < least, (key, settings)
        values = {key: float(value) for key, (value, _) in seen["values"].items()}
        for key, text in said_numbers(name, seen["said"]).items():
            if key in UNHELD:
                continue
            known = OTHER[key](at, values, t) if key in OTHER else (at | values)[key]
            near = pytest.approx(known, abs=half_a_unit(text), rel=1e-9)
            assert as_number(text) == near, (key, seen["said"], settings)
        for key, value in expected.items():
            found = float(seen["values"][key][0])
            relative = PLACE.get(key, RELATIVE[method])
            close = pytest.approx(
                value, rel=relative, abs=FLAT if key in PLACE else 1e-9, nan_ok=True
            )
            assert found == close, (key, settings, method)
            if math.isfinite(value) and abs(value) > 1e-6:
                worst = max(worst, abs(found / value - 1)) if key not in PLACE else worst
    print(f"{name}: {COUNT[name]} drawn settings and the presets, largest difference {worst:.1e}")


EXACT_LINES = {  # of a training: what its page shows, and the package's name for it
    "window": {"best": "w", "lowest": "loss"},
    "stages": {"exact": "half"},
}


@pytest.mark.parametrize("name", EXACT_LINES)
def test_the_exact_lines_beside_a_training_at_every_preset(page, name):
    """Those of the low-rank training are in test_training.py."""
    explorer = f"train_{name}"
    spec = page.evaluate(SPEC, explorer)
    assert len(spec["presets"]) >= 4
    for preset in spec["presets"]:
        settings = spec["start"] | preset
        query = "&".join(f"{key}={value}" for key, value in settings.items())
        page.evaluate(OPEN, [explorer, query])
        seen = page.evaluate(READ, explorer)
        at = {k: value if k in WORDS else float(value) for k, value in settings.items()}
        at |= {key: int(at[key]) for key in ("n", "d", "K") if key in at}
        if name == "window":
            t, method = contexts(page, "window", at)
            expected = explorer_numbers.window(t, **at)
        else:
            method = ""
            expected = explorer_numbers.phases(None, **at)
        for key, theirs in EXACT_LINES[name].items():
            relative = PLACE.get(theirs, RELATIVE[method])
            least = FLAT if theirs in PLACE else 0
            close = pytest.approx(expected[theirs], rel=relative, abs=least)
            assert float(seen["values"][key][0]) == close, (key, settings)
