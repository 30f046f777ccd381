"""The explorers, worked by keyboard in headless Chromium; their numbers against the package's.

Both sides evaluate the same closed forms in double precision: the browser by continued fractions,
bisection and an explicit Runge-Kutta method, the package by SciPy's Bessel functions, Brent's
method and LSODA. What differs is the package's cubic spline through its grid of w (1e-5 of w* on
the grid used here) and the steps of the flow (1e-8 each). RELATIVE leaves these a wide margin; a
wrong term or exponent moves the numbers by far more.
"""

import functools
import math

import pytest
import torch

from iclutils.book.figures import style as figures
from iclutils.ground.randomness import stream
from iclutils.regression.phase import Phase
from iclutils.regression.theory import asymptotics
from iclutils.stages.theory import meanfield
from iclutils.window import attention, functions
from iclutils.window.theory import curves, isotropic

RELATIVE = 1e-3
# windows, absolute: below w = 0.1 the package's grid is linear in w
FLAT = {"w": 1e-5, "pretrained": 1e-5, "matched": 1e-5}
SHOWN = 5e-4 + 1e-12  # half a unit in the fourth digit

# Explorer, then the keys pressed on its controls, starting where the keys before left them.
WALKS = {
    "window": [
        {},
        {"n": "End", "L": "ArrowRight ArrowRight", "sigma": "ArrowLeft ArrowLeft ArrowLeft"},
        {"family": "r", "d": "ArrowRight ArrowRight ArrowRight"},
        {"n": "Home", "sigma": "End", "L": "Home", "d": "End"},
        {"n": "End", "sigma": "Home", "L": "End", "d": "Home"},
    ],
    "mismatch": [
        {},
        {"ratio": "Home"},
        {"family": "r", "ratio": "End", "n": "ArrowLeft", "d": "ArrowRight"},
        {"sigma": "Home", "n": "End", "d": "Home"},
    ],
    "descent": [
        {},
        {"kappa": "End", "tau": "Home", "rho": "ArrowRight ArrowRight"},
        {"lambda": "Home", "kappa": "Home"},
        {"alpha": "ArrowRight", "tau": "End"},
        {"lambda": "End", "rho": "End"},
        {"lambda": "Home", "tau": "ArrowLeft " * 9},
    ],
    "phases": [
        {},
        {"K": "Home", "p1": "Home"},
        {"K": "End", "p1": "End"},
        {"K": "ArrowLeft ArrowLeft", "p1": "ArrowLeft"},
    ],
}

READ = """([root]) => ({
  settings: Object.fromEntries([...root.querySelectorAll('input, select')].map(e => [
    e.id.split('-').pop(),
    e.tagName === 'SELECT' ? e.value
      : e.closest('.x-field').querySelector('output').dataset.value])),
  spoken: [...root.querySelectorAll('input')].map(e => [e.getAttribute('aria-valuetext'),
    e.closest('.x-field').querySelector('output').textContent]),
  values: Object.fromEntries([...root.querySelectorAll('data')]
    .map(e => [e.dataset.key, [e.value, e.textContent]])),
  broken: [...root.querySelectorAll('svg *')].filter(
    e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).length,
  unnamed: [...root.querySelectorAll('svg[role=img]')]
    .filter(e => !e.getAttribute('aria-label')).length,
  drawings: root.querySelectorAll('svg[role=img]').length})"""
AXE = "axe.run('.explorer', {preload: false})"
FOCUS = """all => [[...document.querySelectorAll(all)].indexOf(document.activeElement),
  getComputedStyle(document.activeElement).outlineStyle]"""
SPILL = """([root]) => [...root.querySelectorAll('*')].filter(
  e => !e.closest('svg')
    && e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).length"""
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


@functools.cache
def parts(d, n, sampling=True):
    return isotropic.limit(d, n, w=curves.grid(3000, 321), sampling=sampling)


@functools.cache
def window_numbers(family, n, sigma, L, d):
    loss = parts(d, n)
    task = functions.by_name(family, d, L)
    best = loss.best_window(task, sigma)
    bias = float(parts(d, n, sampling=False).at(task, 0.0, best.w)[0])
    signal = float(loss.at(task, 0.0, best.w)[0])
    spread = float(loss.at(task, 1.0, best.w)[0]) - signal
    return {
        "w": best.w,
        "loss": best.loss,
        "bias": bias,
        "scatter": signal - bias,
        "noise": sigma**2 * spread,
        "effective": 1 / spread,
    }


@functools.cache
def mismatch_numbers(ratio, family, n, sigma, d):
    loss = parts(d, n)
    here = functions.by_name(family, d, 1.0)
    there = functions.by_name(family, d, ratio)
    trained = loss.best_window(here, sigma)
    best = loss.best_window(there, sigma)
    moved = float(loss.at(there, sigma, trained.w)[0])
    return {
        "pretrained": trained.w,
        "matched": best.w,
        "moved": moved,
        "best": best.loss,
        "worse": moved / best.loss,
    }


@functools.cache
def descent_numbers(alpha, kappa, rho, lam, tau):
    found = asymptotics.errors(Phase(alpha, kappa, tau, rho), lam)
    gap = found.gap if math.isfinite(found.icl) else math.nan
    return {"icl": found.icl, "idg": found.idg, "gap": gap, "nu": found.nu}


@functools.cache
def phases_numbers(K, p1):
    rare = meanfield.flow("rare", K, p1, errors=(0.1, 0.01))
    top = meanfield.flow("dominant", K, p1, errors=(0.01,))
    # a boundary that lies behind the start has t = 0 in the package and reads "none" on the page
    marks = {name: mark for name, mark in rare.boundaries.items() if mark.t > 0}
    log = math.log(K)
    numbers = {
        name: marks[name].t if name in marks else math.nan for name in ("lead", "overtake", "half")
    }
    numbers |= {
        "rare1": rare.times[0.1],
        "rare2": rare.times[0.01],
        "top2": top.times[0.01],
        "Ahalf": marks["half"].A / log,
    }
    numbers["B1lead"] = marks["lead"].B1 / log if "lead" in marks else math.nan
    return numbers | {"wait": marks["half"].t * (1 - p1) / K**2}


def python_numbers(name, settings):
    number = {key: value if key == "family" else float(value) for key, value in settings.items()}
    if name == "window":
        return window_numbers(
            number["family"], int(number["n"]), number["sigma"], number["L"], int(number["d"])
        )
    if name == "mismatch":
        return mismatch_numbers(
            number["ratio"], number["family"], int(number["n"]), number["sigma"], int(number["d"])
        )
    if name == "descent":
        return descent_numbers(
            number["alpha"], number["kappa"], number["rho"], number["lambda"], number["tau"]
        )
    return phases_numbers(int(number["K"]), number["p1"])


def as_number(text):
    """What a person reads off the page."""
    table = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−\u00a0", "0123456789-- ")
    mantissa, _, exponent = (
        text.replace("10", "", 1).partition("×") if "×" in text else (text, "", "")
    )
    if exponent:
        mantissa, exponent = text.split("×")[0], text.split("×")[1].strip()[2:]
        return float(mantissa.translate(table)) * 10 ** int(exponent.translate(table))
    return math.inf if text == "∞" else math.nan if text == "none" else float(text.translate(table))


def settle(page):
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def press(page, name, walk):
    for key, strokes in walk.items():
        page.focus(f"#explorer-{name}-{key}")
        for stroke in strokes.split():
            page.keyboard.press(stroke)
    settle(page)


@pytest.fixture(scope="module")
def explorers(window, address):
    """The explorers' page of one look, and the list of what went wrong on it."""
    page, wrong = window
    wrong.clear()
    page.goto(address + "book/explorers.html")
    page.wait_for_selector(".explorer[data-drawn]")
    return page, wrong


@pytest.mark.parametrize("name", WALKS)
def test_numbers_by_keyboard(explorers, name):
    page, wrong = explorers
    for walk in WALKS[name]:
        press(page, name, walk)
        root = page.query_selector(f".explorer[data-explorer={name}]")
        seen = page.evaluate(READ, [root])
        assert seen["drawings"] >= 1
        assert (seen["broken"], seen["unnamed"]) == (0, 0), seen["settings"]
        assert all(spoken == shown for spoken, shown in seen["spoken"]), seen["spoken"]
        expected = python_numbers(name, seen["settings"])
        assert expected.keys() <= seen["values"].keys()
        for key, (value, text) in seen["values"].items():
            assert float(value) == pytest.approx(as_number(text), rel=SHOWN, nan_ok=True), (
                key,
                text,
            )
            if key in expected:
                close = pytest.approx(
                    expected[key], rel=RELATIVE, abs=FLAT.get(key, 1e-12), nan_ok=True
                )
                assert float(value) == close, (key, seen["settings"])
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, seen[
            "settings"
        ]
        assert page.evaluate(SPILL, [root]) == 0, seen["settings"]
    page.focus(f".explorer[data-explorer={name}] button")
    page.keyboard.press("Enter")
    settle(page)
    again = page.evaluate(READ, [root])
    page.reload()
    page.wait_for_selector(".explorer[data-drawn]")
    fresh = page.evaluate(READ, [page.query_selector(f".explorer[data-explorer={name}]")])
    assert (again["settings"], again["values"]) == (fresh["settings"], fresh["values"])
    assert not wrong


@pytest.mark.parametrize("name", WALKS)
def test_every_control_is_reached_by_tab(explorers, name):
    page, _ = explorers
    controls = f".explorer[data-explorer={name}] :is(input, select, button)"
    page.focus(controls)
    for place in range(page.locator(controls).count()):
        found, outline = page.evaluate(FOCUS, controls)
        assert found == place
        assert place == 0 or outline != "none", "a control must show that it has the focus"
        page.keyboard.press("Tab")


PERMALINK = {
    "window": {"family": "r", "n": "End", "L": "ArrowRight", "d": "Home"},
    "mismatch": {"ratio": "ArrowLeft"},
    "descent": {"lambda": "Home", "kappa": "End", "tau": "Home"},
    "phases": {"K": "ArrowRight", "p1": "Home"},
}


@pytest.mark.parametrize("name", PERMALINK)
def test_a_permalink_restores_the_settings(explorers, name):
    """By keyboard: settings, the button, its link opened anew; the copied text is the address."""
    page, _ = explorers
    page.evaluate(
        "navigator.clipboard.writeText = async text => { window.written = text; }"
    )  # not the system's
    root = f".explorer[data-explorer={name}]"
    press(page, name, PERMALINK[name])
    page.wait_for_function(f"location.hash.startsWith('#explorer-{name}?')")
    page.wait_for_timeout(400)  # the address is written when the sliders have come to rest
    before, address = (
        page.evaluate(READ, [page.query_selector(root)]),
        page.evaluate("location.href"),
    )
    page.focus(f"{root} button[type=button]")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('{root} .x-copied').textContent === 'Copied.'")
    assert page.evaluate("[window.written, location.href]") == [address, address]
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(f"{root}[data-drawn]")
    settle(page)
    after = page.evaluate(READ, [page.query_selector(root)])
    assert (after["settings"], after["values"]) == (before["settings"], before["values"])
    box = page.query_selector(root).bounding_box()
    assert -1 <= box["y"] < 300, "the explorer that the link names is in sight"


def test_a_link_with_settings_that_are_none(browser, address):
    """What a link names wrongly starts as ever; what it names rightly does not."""
    page = browser.new_page()
    settings = []
    for query in (
        "",
        "#explorer-window?n=17&d=x&L=&sigma=1e400&family=none",
        "#explorer-window?n=40&d=x",
    ):
        page.goto("about:blank")
        page.goto(address + "book/explorers.html" + query)
        page.wait_for_selector(".explorer[data-drawn]")
        settle(page)
        settings.append(
            page.evaluate(READ, [page.query_selector("[data-explorer=window]")])["settings"]
        )
    page.close()
    assert settings[0] == settings[1]
    assert settings[2] == settings[0] | {"n": "40"}


def test_a_link_without_a_clipboard_is_shown(browser, address):
    context = browser.new_context()
    context.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page = context.new_page()
    page.goto(address + "book/explorers.html")
    page.wait_for_selector(".explorer[data-drawn]")
    page.focus("[data-explorer=phases] button[type=button]")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-explorer=phases] .x-copied input")
    marked = page.evaluate(
        "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.activeElement)"
    )
    assert marked == page.url
    assert "#explorer-phases?K=1000&p1=0.5" in page.url
    context.close()


def test_one_sentence_is_spoken(explorers):
    page, _ = explorers
    press(page, "descent", {"lambda": "End"})
    summary = "document.querySelector('[data-explorer=descent] .x-summary')"
    page.wait_for_function(f"{summary}.textContent.includes('no peak')")
    live = "all => all.filter(e => e.getAttribute('aria-live') !== 'off').length"
    assert page.eval_on_selector_all(".explorer output", live) == len(WALKS)


def test_accessible_and_legible(explorers):
    page, _ = explorers
    found = page.evaluate(AXE)
    assert not [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]]
    assert min(page.evaluate(CONTRAST)) >= 4.5
    sizes = page.eval_on_selector_all(
        ".explorer svg text", "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12
    assert (
        min(
            page.eval_on_selector_all(
                ".explorer input", "all => all.map(e => e.getBoundingClientRect().height)"
            )
        )
        >= 24
    )


def test_colours_are_the_book_s(explorers):
    page, _ = explorers
    for name in ("signal", "noise", "softmax", "ICL", "IDG", "dominant", "target", "other"):
        colour = page.evaluate(
            f"getComputedStyle(document.documentElement).getPropertyValue('--x-{name}').trim()"
        )
        assert colour == figures.COLOURS[name]


def test_drawn_context(explorers):
    """The strip: uniform tokens, and the package's effective number and half-mass angle."""
    page, _ = explorers
    shown = page.evaluate(READ, [page.query_selector(".explorer[data-explorer=window]")])
    n, d = int(shown["settings"]["n"]), int(shown["settings"]["d"])
    t = torch.tensor(
        page.evaluate("([n, d]) => explorers.tokens(n, d)", [n, d]), dtype=torch.float64
    )
    # a fixed draw; four standard errors of the mean of t and of t²,
    # which are 0 and 1/d with variances 1/d and below 3/d²
    assert abs(float(t.mean())) < 4 / math.sqrt(n * d)
    assert float(t.square().mean()) == pytest.approx(1 / d, abs=4 * math.sqrt(3 / n) / d)
    gamma = torch.softmax(float(shown["values"]["w"][0]) * t, 0).unsqueeze(-1)
    assert float(attention.effective_number(gamma)) == pytest.approx(
        float(shown["values"]["drawn"][0]), rel=RELATIVE
    )
    plane = torch.stack([t, (1 - t.square()).sqrt()], -1)
    half = attention.half_mass_cap(gamma, plane, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    assert math.degrees(float(half)) == pytest.approx(
        float(shown["values"]["half"][0]), rel=RELATIVE
    )


def test_closed_form_against_drawn_contexts(browser, address):
    """The promise of the page, a few percent with ten tokens or more in the window.

    The tolerance is 5 %, and four standard errors.
    """
    page = browser.new_page()
    page.goto(address + "book/explorers.html")
    felt = set()
    for w, d, n, sigma in ((4.0, 3, 400, 0.5), (11.0, 5, 400, 0.2), (12.0, 2, 100, 0.1)):
        found = page.evaluate(f"explorers.population('affine', {d}, {n}).at({w}, 1, {sigma})")
        assert found["effective"] > 10
        grid, degrees, task = (
            torch.tensor([0.8, 0.9, 1.0, 1.1]).double() * w,
            torch.tensor([1]),
            functions.Affine(d),
        )
        drawn = isotropic.sampled(
            d, n, stream(0, "explorers", d), contexts=1000, w=grid, degrees=degrees
        )
        mean, se = (float(value) for value in drawn.at(task, sigma, w))
        assert found["loss"] == pytest.approx(mean, abs=0.05 * mean + 4 * se)
        felt |= {
            part
            for part in ("bias", "noise", "scatter")
            if found[part] > 2 * (0.05 * mean + 4 * se)
        }
    page.close()
    assert felt == {"bias", "noise", "scatter"}  # the comparison would miss none of them


def test_without_javascript(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + "book/explorers.html")
    for name in WALKS:
        assert "needs JavaScript" in page.inner_text(f".explorer[data-explorer={name}]")
    context.close()
