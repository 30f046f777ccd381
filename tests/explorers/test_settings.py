"""Settings in links and sentences: the names that pages may use, and what a link may ask for."""

import re
from urllib.parse import parse_qsl

import pytest

from claimbook.files import ROOT
from tests.explorers.conftest import V8

BOOK = ROOT / "book"
NAMED = """(name, query) => {
  const seed = {key: 'seed', values: [0, 999999], whole: true};
  return iclExplorers.named([...iclExplorers.explorers[name].controls, seed], new Map(query)); }"""
ASKED = re.compile(r"\{set\}`[^`<]*<(?:([\w/]+)/)?(\w+):\s*([^<>`\s]+)>`")
PLACED = re.compile(r"^`{3,}\{explorer\} (\w+)$", re.MULTILINE)
SETTINGS = re.compile(r"```\{explorer\} (\w+)\n(?:(?!```).*\n)*?:settings: (\S+)")
MAIN = re.compile(r"```\{explorer\} (\w+)\n(?:(?!```).*\n)*?:main: (\S+)")
PAGES = {path: path.read_text(encoding="utf8") for path in sorted(BOOK.rglob("*.md"))}
SHOWN = sorted({tuple(PLACED.findall(text)) for text in PAGES.values()} - {()})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_sentences_and_directives_set_what_there_is_on_a_page(v8, path):
    asked = [(path.stem, *found) for found in SETTINGS.findall(PAGES[path])]
    for page, name, query in [*asked, *ASKED.findall(PAGES[path])]:
        there = path.parent / f"{page}.md" if page else path
        assert name in PLACED.findall(PAGES[there]), (there, query)
        found = v8(NAMED, name, parse_qsl(query))
        assert found["unknown"] == [], (name, query)
        assert found["settings"].keys() == dict(parse_qsl(query)).keys() - {"play"}, (name, query)


def test_every_explorer_is_on_a_page_with_a_setting_of_its_own_in_sight(v8):
    controls = v8("""() => Object.fromEntries(Object.entries(iclExplorers.explorers)
      .map(([name, spec]) => [name, spec.controls.map(c => c.key)]))""")
    text = "".join(PAGES.values())
    assert set(PLACED.findall(text)) == controls.keys()
    assert all(main in controls[name] for name, main in MAIN.findall(text))
    assert len(ASKED.findall(text)) > 20


RUNS = """name => { const X = iclExplorers, spec = X.explorers[name], at = X.initial(spec);
  if (!spec.model) return X.sketch(name).length;
  const run = X.makeRun(spec.model, () => {});
  run.start({...at, ...spec.derive?.(at)}, 0);
  run.advance(1);
  settle();
  const moment = {run, at: 0, step: 0, seed: 0, settings: run.settingsAt(0)};
  return spec.view(X.panelsOf(spec), moment).rows.length; }"""


@pytest.mark.parametrize("shown", SHOWN, ids=" ".join)
def test_the_scripts_that_a_page_loads_are_enough(shown):
    page = V8(shown)
    assert all(page(RUNS, name) for name in shown)
    page.engine.close()


@pytest.mark.parametrize(
    ("query", "settings", "unknown"),
    [
        ("n=17.5&d=x&sigma=1e400&family=none", {}, ["n = 17.5", "sigma = 1e400", "d = x"]),
        ("n=2017&sigma=0.4003&d=x", {"n": 2017, "sigma": 0.4003}, ["d = x"]),
        ("family=relu&n=1e9", {"family": "relu"}, ["n = 1e9"]),
    ],
)
def test_a_link_with_settings_that_are_none(v8, query, settings, unknown):
    """What a link names wrongly is said, and left as it is; a value off the grid is kept."""
    found = v8(NAMED, "mismatch", parse_qsl(query))
    assert found["settings"] == settings
    assert set(unknown) <= set(found["unknown"])


def test_what_is_set_by_presets_and_pulls_is_within_the_controls(v8):
    wrong = v8("""() => Object.entries(iclExplorers.explorers).flatMap(([name, spec]) =>
      (spec.presets || []).flatMap(preset => {
        const query = new Map(Object.entries(preset.settings).map(([k, v]) => [k, String(v)]));
        return iclExplorers.named(spec.controls, query).unknown.map(text => [name, text]); }))""")
    assert wrong == []
    within = "(name, key, value) => iclExplorers.within(iclExplorers.explorers[name].controls"
    within += ".find(c => c.key === key), value)"
    assert v8(within, "mismatch", "ratio", 1e9) == 10
    assert v8(within, "lookup", "K", 2.6) == 3
    assert v8(within, "offset", "n", 17.3) == 17
