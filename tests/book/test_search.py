"""The search of the built site, in V8: what a reader asks for stands among the first results."""

import json

import pytest
from py_mini_racer import MiniRacer

from tests.built_site import SITE

# as much of a browser as the search asks for before anything is shown
BROWSER = """
var window = globalThis, _ = text => text, _ready = () => {}, SPHINX_HIGHLIGHT_ENABLED = false;
var document = {readyState: "loading", addEventListener() {}, getElementById: () => null};
window.addEventListener = () => {};
"""
SCRIPTS = ("_static/scorecard.js", "_static/searchtools.js", "_static/language_data.js")
SEARCH = "Search._performSearch(...Search._parseQuery({}))"
FIRST = 10
FOUND = [  # words, and where one of the first results leads
    ("overfitting", "book/chapters/05_double_descent"),
    ("memorization", "book/chapters/05c_task_diversity"),
    ("Lipschitz", "book/chapters/01_attention_window"),
    ("a ridge removes the peak", "book/chapters/05_double_descent#a-ridge-removes-the-peak"),
    ("how far to look", "book/chapters/01_attention_window"),
    ("how to cite", "book/intro"),
    ("pdf", "book/downloads"),
    ("ch6-rare-exponent", "book/ledger#ch6-rare-exponent"),
    ("half_mass_cap", "book/reference/window#iclutils.window.evaluation.half_mass_cap"),
]
ALIKE = [  # spellings, and the page that they lead to first of all chapters
    ("low rank", "low-rank", "book/chapters/04_low_rank"),
    ("plateau", "plateaus", "book/chapters/06_stagewise_dynamics"),
    ("sigma", "σ", "book/chapters/01_attention_window"),
    ("in context", "in-context", "book/chapters/01_attention_window"),
]


@pytest.fixture(scope="module")
def search():
    """Return a function: the places that words lead to, the best first."""
    engine = MiniRacer()
    engine.eval(BROWSER)
    for name in (*SCRIPTS, "searchindex.js"):
        engine.eval((SITE / name).read_text(encoding="utf8"))

    def search(words):
        results = SEARCH.format(json.dumps(words))
        addresses = engine.eval(f"JSON.stringify({results}.map(([page, , at]) => page + at))")
        return json.loads(addresses)[::-1]

    yield search
    engine.close()


@pytest.mark.parametrize(("words", "address"), FOUND)
def test_words_lead_to_their_place(search, words, address):
    first = search(words)[:FIRST]
    assert [one for one in first if one.startswith(address)], first


@pytest.mark.parametrize(("words", "others", "address"), ALIKE)
def test_spellings_find_the_same(search, words, others, address):
    results = search(words)
    assert search(others) == results
    first = next(page for page in results if page.startswith("book/chapters/"))
    assert first.partition("#")[0] == address


@pytest.mark.parametrize(("words", "chapter"), [("covariates", "01_"), ("low rank tasks", "04_")])
def test_a_chapter_stands_before_the_module_that_serves_it(search, words, chapter):
    kinds = [page.removeprefix("book/").split("/") for page in search(words)]
    of_chapter = [at for at, kind in enumerate(kinds) if kind[-1].startswith(chapter)]
    modules = [at for at, kind in enumerate(kinds) if kind[0] == "reference"]
    assert of_chapter[0] < modules[0]
