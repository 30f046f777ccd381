"""What an explorer on an opened page shows and says, an exact one or a training."""

SHOWN = """root => ({
  step: Number(root.dataset.step),
  settings: Object.fromEntries([...root.querySelectorAll('input[type=range], select')].map(e => [
    e.id.split('-').pop(),
    e.closest('.x-field').querySelector('output')?.dataset.value ?? e.value])),
  spoken: [...root.querySelectorAll('input[type=range]')].map(e => [
    e.getAttribute('aria-valuetext'),
    e.closest('.x-field').querySelector('output').textContent]),
  values: Object.fromEntries([...root.querySelectorAll('data')].map(e => [e.dataset.key, e.value])),
  unnamed: [...root.querySelectorAll('svg[role=img]')]
    .filter(e => !e.getAttribute('aria-label')).length,
  broken: [...root.querySelectorAll('svg *')].filter(
    e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).length,
  spill: [...root.querySelectorAll('*')].filter(e => !e.closest('svg')
    && e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).length,
  crossed: [...root.querySelectorAll('.x-plot > svg')].filter(svg => {
    const [names, others] = ['text[transform]', 'text:not([transform])'].map(each =>
      [...svg.querySelectorAll(each)].map(e => e.getBoundingClientRect()));
    return names.some(a => others.some(b => a.right > b.left + 1 && b.right > a.left
      && a.bottom > b.top && b.bottom > a.top));
  }).length,
  sentence: root.querySelector('.x-summary').textContent})"""
FOCUS = """all => [[...document.querySelectorAll(all)].indexOf(document.activeElement),
  getComputedStyle(document.activeElement).outlineStyle]"""


def explorer(name):
    """The selector of an explorer."""
    return f".explorer[data-explorer={name}]"


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def read(page, name):
    """What an explorer shows; it must be whole, spoken as it is written, and inside its frame."""
    seen = page.eval_on_selector(explorer(name), SHOWN)
    faults = {key: seen[key] for key in ("broken", "unnamed", "spill", "crossed")}
    assert not any(faults.values()), (name, faults, seen["settings"])
    assert all(spoken == shown for spoken, shown in seen["spoken"]), seen["spoken"]
    return seen


def press(page, name, walk):
    """Press keys on controls, each given by its setting."""
    for key, strokes in walk.items():
        page.focus(f"#explorer-{name}-{key}")
        for stroke in strokes.split():
            page.keyboard.press(stroke)
    settle(page)


def push(page, name, button):
    """Press a button of an explorer by keyboard."""
    page.focus(f"{explorer(name)} button:text-is('{button}')")
    page.keyboard.press("Enter")
    settle(page)


def reach_every_control(page, name):
    """By the Tab key, from the first to the last; each shows that it has the focus."""
    controls = f"{explorer(name)} :is(input, select, button, summary, [tabindex='0']):not([hidden])"
    page.focus(controls)
    for at in range(page.locator(controls).count()):
        found, outline = page.evaluate(FOCUS, controls)
        assert found == at
        assert at == 0 or outline != "none", "a control must show that it has the focus"
        page.keyboard.press("Tab")


def reaches(page, name, step):
    """Wait until a training has taken so many steps."""
    page.wait_for_function(
        "([place, step]) => Number(document.querySelector(place).dataset.step) >= step",
        arg=[explorer(name), step],
    )


def is_in_sight(page, name):
    """Whether all of an explorer's picture is, below what the page keeps at its head."""
    head = page.evaluate("document.querySelector('.bd-header-article')?.offsetHeight ?? 0")
    box = page.locator(f"{explorer(name)} .x-stage").bounding_box()
    return head <= box["y"] and box["y"] + box["height"] <= page.viewport_size["height"]
