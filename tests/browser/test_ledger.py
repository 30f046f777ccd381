"""The ledger's filter, worked by keyboard, and the addresses that lead to it."""

from urllib.parse import parse_qsl

import pytest

from claimbook.pages import first_page
from tests.browser.conftest import NARROW, findings, visit
from tests.built_site import rows

LEDGER = "book/ledger.html"
BUTTON = ".score-filters button[data-value={}]"
SHOWN = "[...document.querySelectorAll('details.claim')].filter(e => !e.hidden).map(e => e.id)"
PRESSED = """[...document.querySelectorAll('.score-filters button[aria-pressed=true]')]
  .map(e => e.dataset.value)"""
COUNTS = (
    "all => all.map(e => [e.dataset.value, Number(e.querySelector('.score-count').textContent)])"
)
GROUNDS = "all => all.map(e => getComputedStyle(e).backgroundColor)"
STARTS = "words => document.querySelector('.score-status')?.textContent.startsWith(words)"
NEAR = "place => Math.abs(document.getElementById(place).getBoundingClientRect().top) < 200"
ADDRESSES = [
    # where a number of the front page leads (tests/claimbook/site/test_views.py)
    "verdict=holds-in-part&origin=theirs&source=collins2024",
    "verdict=not-testable",
    "chapter=05_double_descent&verdict=nonsense",
]


@pytest.fixture(scope="module")
def page(fresh):
    with fresh(NARROW[0], color_scheme=NARROW[1]) as opened:
        yield opened


@pytest.fixture
def ledger(page, address):
    """Return a function: the page of the ledger, opened anew at a place."""

    def ledger(place=""):
        visit(page, address + LEDGER + place)
        page.wait_for_selector(".score-status:not(:empty)")
        return page

    return ledger


def fitting(**choice):
    """Return the ids of the rows that a choice of filters leaves."""

    def has(row):
        return {
            "verdict": row["verdict"].replace(" ", "-"),
            "origin": "ours" if row["document"] == "ours" else "theirs",
            "source": row["document"],
            "chapter": first_page(row["chapter"]),
        }

    return {row["id"] for row in rows() if choice.items() <= has(row).items()}


def shown(page):
    return set(page.evaluate(SHOWN))


def check_shown(page, **choice):
    """Require the buttons, what is said of their number, and the rows in sight of a choice."""
    wanted, all_rows = fitting(**choice), len(rows())
    said = f"{len(wanted)} of {all_rows} claims" if choice else f"all {all_rows} claims"
    page.wait_for_function(STARTS, arg=said)
    assert shown(page) == wanted
    assert set(page.evaluate(PRESSED)) == set(choice.values())


def test_filters_by_keyboard(ledger):
    page = ledger()
    page.focus(BUTTON.format("holds-in-part"))
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    check_shown(page, verdict="holds-in-part")
    assert page.evaluate("location.hash") == "#claims?verdict=holds-in-part"
    page.keyboard.press("Tab")  # to the next verdict: buttons stand in the order of the page
    assert page.evaluate("document.activeElement.dataset.kind") == "verdict"
    page.press(BUTTON.format("collins2024"), "Space")
    choice = {"verdict": "holds-in-part", "source": "collins2024"}
    check_shown(page, **choice)
    for chapter, count in page.eval_on_selector_all("button[data-kind=chapter]", COUNTS):
        assert count == len(fitting(**choice, chapter=chapter))
    assert not list(findings(page, ".score-filters"))
    page.press(BUTTON.format("holds-in-part"), "Enter")  # once more: it is let go
    check_shown(page, source="collins2024")
    page.press(".score-clear", "Enter")
    check_shown(page)
    assert page.evaluate("location.hash") == ""


@pytest.mark.parametrize("query", ADDRESSES)
def test_an_address_restores_the_filters(ledger, query):
    choice = {kind: value for kind, value in parse_qsl(query) if value != "nonsense"}
    check_shown(ledger(f"#claims?{query}"), **choice)


def test_words_find_rows(ledger):
    page = ledger()

    def search(words):
        page.fill(".score-words", words)
        return shown(page)

    assert 0 < len(search("lemma b.5")) < len(rows()) / 4
    found = search("figure 5")  # side by side, and not in every row with a 5
    assert {row["id"] for row in rows() if row["place"].startswith("Figure 5")} <= found
    assert len(found) < len(rows()) / 8
    assert page.evaluate("location.hash").endswith("words=figure+5")
    assert search("low rank") == search("low-rank") != set()  # as in tests/book/test_search.py
    assert search("ch7-one-world") == {"ch7-one-world"}
    assert search("giraffe") == set()
    page.wait_for_function(STARTS, arg=f"0 of {len(rows())} claims")
    page.click(".score-clear")
    check_shown(page)


def test_an_address_leads_to_its_place_whatever_the_filters_hide(ledger):
    hidden = next(row for row in reversed(rows()) if row["verdict"] != "fails")
    page = ledger(f"#{hidden['id']}")
    page.wait_for_function(f"document.getElementById('{hidden['id']}').open")
    for place in (hidden["id"], f"ledger-{hidden['chapter'].replace('_', '-')}"):
        page = ledger("#claims?verdict=fails")
        check_shown(page, verdict="fails")
        page.evaluate("place => { location.hash = place; }", place)
        page.wait_for_function(NEAR, arg=place)


def test_what_is_pressed_is_seen_in_the_reader_s_own_colours(fresh, address):
    with fresh(forced_colors="active") as page:
        page.goto(f"{address}{LEDGER}#claims?verdict=fails")
        page.wait_for_selector(".score-status:not(:empty)")
        ground, pressed = page.eval_on_selector_all("body, button[aria-pressed=true]", GROUNDS)
    assert pressed != ground
