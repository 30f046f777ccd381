"""What an explorer on an opened page shows and says, an exact one or a training."""

from tests.browser.conftest import settle

SHOWN = """root => ({
  step: Number(root.dataset.step),
  settings: Object.fromEntries([...root.querySelectorAll('input[type=range], select')].map(e => [
    e.id.split('-').pop(),
    e.closest('.x-field').querySelector('output')?.dataset.value ?? e.value])),
  values: Object.fromEntries([...root.querySelectorAll('data')].map(e => [e.dataset.key, e.value])),
  sentence: root.querySelector('.x-summary').textContent,
  faults: {
    misspoken: [...root.querySelectorAll('input[type=range]')].filter(
      e => e.getAttribute('aria-valuetext')
        !== e.closest('.x-field').querySelector('output').textContent).length,
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
    }).length}})"""
# Before anything is unfolded: picture, one line and one control, in sight. Its room is reserved:
# too much of it is an empty line at most and moves nothing, too little makes the page jump.
FIRST = """limits => [...document.querySelectorAll('.explorer')].flatMap(root => {
  const seen = all => [...root.querySelectorAll(all)].filter(e => e.checkVisibility());
  const box = e => e.getBoundingClientRect();
  const keys = list => list.map(e => e.id.split('-').pop());
  const [picture] = seen('.x-panels'), said = root.querySelector('.x-summary');
  const controls = ".x-field :is(input, select)";
  const reserved = parseFloat(getComputedStyle(root).minHeight);
  root.style.minHeight = 0;
  const more = box(root).height - reserved;
  const main = root.dataset.main ?? keys([root.querySelector(controls)])[0];
  const faults = {
    "no sentence when it is drawn": !said.textContent,
    [`room ${more} px`]: more < -limits.line || more > limits.jump,
    "the picture is not first": box(picture).top - box(root).top >= 20,
    "the picture is not in sight": box(root.querySelector('.x-stage')).height >= limits.stage,
    "no sentence under the picture": box(said).top < box(picture).bottom,
    "not one control": root.querySelector('.x-more') && keys(seen(controls)).join() !== main,
    "numbers": seen('data').length,
    "small letters": seen('svg text').some(e => parseFloat(getComputedStyle(e).fontSize) < 12),
  };
  root.style.minHeight = '';
  return Object.keys(faults).filter(what => faults[what])
    .map(what => `${root.dataset.explorer}, ${innerWidth} px wide: ${what}`);
})"""
INSIDE = """() => [...document.querySelectorAll('.explorer')].every(root =>
  [...root.querySelectorAll('*')].every(e => e.closest('svg')
    || e.getBoundingClientRect().right <= root.getBoundingClientRect().right + 1))"""
# pixels: of a line of text, which the fonts of another machine may do without; by which these may
# let a height grow; of a screen below the page's header
LIMITS = {"line": 28, "jump": 8}
HEADER = 60


def explorer(name):
    """Return the selector of an explorer."""
    return f".explorer[data-explorer={name}]"


def read(page, name):
    """Return what an explorer shows; it must be whole, spoken as written, and inside its frame."""
    seen = page.eval_on_selector(explorer(name), SHOWN)
    assert not any(seen["faults"].values()), (name, seen["faults"], seen["settings"])
    return seen


def first_looks(page):
    """Return what is wrong with the explorers of a page before anything is unfolded."""
    limits = LIMITS | {"stage": page.viewport_size["height"] - HEADER}
    return page.evaluate(FIRST, limits)


def check_unfolded(page):
    """Each explorer is whole with all that it has."""
    page.wait_for_function(INSIDE)  # a new width is drawn some frames after it is set
    for name in page.eval_on_selector_all(".explorer", "all => all.map(e => e.dataset.explorer)"):
        read(page, name)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


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
