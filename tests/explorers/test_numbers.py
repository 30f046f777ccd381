"""The explorers' numbers against the package's, at every preset and at drawn settings."""

import math
import random
import re

import pytest

from tests.explorers import package

COUNT = {"mismatch": 15, "offset": 12, "directions": 8, "lookup": 30, "cloud": 8}
COUNT |= {"parallel": 30, "hill": 30, "plateau": 20, "diversity": 40, "influence": 12}
COUNT |= {"method": 40, "longer": 6, "soften": 40}
# relative; a wrong term or exponent moves the numbers by far more. Windows: where a curve is flat
# at its lowest place, that place is known to the root of what its values are known to.
RELATIVE = {"closed": 1e-3, "drawn": 5e-3, "": 1e-6}
PLACE = {"w": 0.03, "pretrained": 0.03, "matched": 0.03}
PLATEAU = 5e-3  # its curve is straight between the steps of the flow
LOW = 5e-4  # of its axis up to 0.7, absolute: a fifth of a pixel
FLAT = 1e-5  # windows below 0.1, absolute: there the package's grid is linear in w
# absolute: torch's attention is rounded to 1e-8, and labels are up to sixteen units
NETWORK = 1e-6
ROUNDING = 1e-12  # of numbers of order one; what is below has to be shown as 0
SHOWN = 5e-4 + 1e-12  # half a unit in the fourth digit
NUMBER = r"∞|−?\d[\d.]*(?:\u00a0×\u00a010[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
# the numbers of a sentence in their order, each by the key of a number, a setting or a constant
SAID = {
    "mismatch": ["ratio worse"],
    "parallel": ["angle size made"],
    "offset": ["n unit gained left", "n apart"],
    "lookup": ["K rho tokens linear softmax bayes crossing", "K rho tokens linear softmax bayes"],
    "directions": ["yours none"],
    "cloud": ["centre query variance"],
    "hill": ["answer truth off"],
    "plateau": ["done error"],
    "influence": ["answer said truth own"],
    "method": ["slope method list"],
    "diversity": ["kappa idg icl nothing"],
    "longer": ["look here nothing null"],
    "soften": ["label answer multiplied times"],
}
CONSTANT = {"made": math.hypot(1, 0.5), "nothing": 0, "unit": 1, "look": 5000, "null": 1.0625}
CONSTANT |= {"query": 0.2, "label": 0.8}
SPEC = """name => { const spec = iclExplorers.explorers[name]; return {
  values: Object.fromEntries(spec.controls.map(c => [c.key,
    c.options ? c.options.map(o => o[0]) : c.values])),
  start: iclExplorers.initial(spec), presets: (spec.presets || []).map(p => p.settings)}; }"""
ANSWER = """(name, state) => {
  const result = iclExplorers.explorers[name].compute(state);
  return {readings: result.readings, said: iclExplorers.words(result.summary),
    rows: result.rows.map(([key, , value, written = iclExplorers.show]) =>
      [key, value, written(value)])}; }"""


def settings_of(v8, name):
    """Every preset, and settings drawn from the controls' values."""
    spec = v8(SPEC, name)
    draws = random.Random(name)
    for preset in spec["presets"]:
        yield spec["start"] | preset
    for _ in range(COUNT[name]):
        yield {key: draws.choice(values) for key, values in spec["values"].items()}


def as_number(text):
    """Return what a person reads off the page."""
    table = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−\u00a0", "0123456789-- ")
    if text in ("none", "∞"):
        return {"none": math.nan, "∞": math.inf}[text]
    mantissa, times, exponent = text.partition("×")
    power = 10 ** int(exponent.strip()[2:].translate(table)) if times else 1
    return float(mantissa.translate(table)) * power


def half_a_unit(text):
    """Return what a written number may differ by from the number that it stands for."""
    mantissa, times, exponent = text.partition("\u00a0×")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * as_number(f"1{times}{exponent}") * 10.0**-decimals * (1 + 1e-9)


def check_said(name, said, known):
    """Check that the numbers of a sentence are those of its keys."""
    texts = [text.rstrip(".") for text in re.findall(NUMBER, said)]
    [keys] = [keys for keys in map(str.split, SAID[name]) if len(keys) == len(texts)]
    for key, text in zip(keys, texts, strict=True):
        near = pytest.approx(known[key], abs=half_a_unit(text), rel=1e-9)
        assert as_number(text) == near, (key, said)


def contexts(v8, name, at):
    """Return the drawn contexts where the explorer uses them, and the name of its method."""
    if name == "directions":
        where = [at["d"], at["n"]]
        return v8("where => iclExplorers.lowrankContexts(...where)", where), "drawn"
    if name not in ("mismatch", "offset"):
        return (), ""
    t = package.contexts_of(v8, at)
    return t, "drawn" if t else "closed"


@pytest.mark.parametrize("name", package.EXPLORERS)
def test_the_numbers_are_the_package_s(v8, name):
    for at in settings_of(v8, name):
        answer = v8(ANSWER, name, at)
        values = {key: value for key, value, _ in answer["rows"]}
        t, method = contexts(v8, name, at)
        given = dict(at)
        if name == "directions":  # its places of the least errors, which are tested
            given |= {key: values[key] for key in ("noneC", "yoursC")}
        if answer.get("readings"):
            given["readings"] = answer["readings"]
        expected = package.EXPLORERS[name](t, **given)
        assert expected.keys() <= values.keys()
        for key, value, text in answer["rows"]:
            assert value == pytest.approx(as_number(text), rel=SHOWN, nan_ok=True), key
            least = 1e-6 if key in PLACE else ROUNDING
            assert not 0 < abs(value) < least, (key, at)
        tokens = {"tokens": values["N"] / at["K"]} if name == "lookup" else {}
        check_said(name, answer["said"], CONSTANT | at | values | tokens)
        for key, value in expected.items():
            relative = PLATEAU if name == "plateau" else PLACE.get(key, RELATIVE[method])
            least = {"plateau": LOW, "influence": NETWORK}.get(name, 1e-9)
            least = FLAT if key in PLACE else least
            close = pytest.approx(value, rel=relative, abs=least, nan_ok=True)
            assert values[key] == close, (key, at, method)


def test_the_two_errors_are_the_package_s(v8):
    """At settings that the explorers' sliders reach, without a ridge and at endless tasks too."""
    draws = random.Random("two errors")
    for _ in range(80):
        size = {key: 10 ** draws.uniform(*ends) for key, ends in RANGES.items()}
        size["kappa"] = draws.choice([size["kappa"], math.inf])
        lam = draws.choice([0.0, 10 ** draws.uniform(-6, 1)])
        found = v8("(...at) => iclExplorers.descentErrors(...at)", *size.values(), lam)
        expected = package.two_errors(*size.values(), lam)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), (size, lam)
    at_the_peak = v8("() => iclExplorers.descentErrors(10, 0.5, 1, 0.01, 0)")
    assert at_the_peak == {"icl": math.inf, "idg": math.inf, "nu": 0}


RANGES = {"alpha": (-0.7, 2.3), "kappa": (-1, 1.7), "tau": (-1.3, 1.3), "rho": (-3, 0)}
PASSED = """(kind, K, p1) => Object.fromEntries(
  Object.entries(iclExplorers.flow(kind, K, p1).passed).map(([name, {t}]) => [name, t]))"""


@pytest.mark.parametrize("K", [12, 20, 100, 1000, 100_000])
@pytest.mark.parametrize("p1", [0.1, 0.5, 0.85])
def test_the_flow_is_the_package_s(v8, K, p1):
    found = v8(PASSED, "rare", K, p1)
    expected = package.passages(K, p1)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6)


def test_the_front_page_s_window_follows_gradient_flow(v8):
    for time, w in package.window_flow().items():
        assert v8("t => iclExplorers.windowAt(4, t)", time) == pytest.approx(w, rel=3e-3)


def test_what_pages_take_from_records_is_there(v8):
    """Otherwise write it there: ``json.dumps`` of each."""
    for name, value in package.records().items():
        assert v8(f"() => iclExplorers.{name}") == value


def test_between_the_two_ends_lies_a_better_window(v8):
    """The first screen says so: the whole lake and the nearest thermometer are both worse."""
    at = v8(SPEC, "hill")["start"]
    off = [v8(ANSWER, "hill", at | {"w": w})["rows"][2][1] for w in (0, 30, 3000)]
    assert off[1] < off[2] < off[0]
