"""The ledger's filter, worked by keyboard, and the addresses that lead to it."""

import json

import pytest

from claimbook.pages import first_page
from tests.browser.looks import NARROW, THIN
from tests.built_site import SITE

LEDGER = "book/ledger.html"
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
    ("#claims?verdict=fails", {"verdict": "fails"}),
    ("#claims?origin=ours&verdict=holds", {"origin": "ours", "verdict": "holds"}),
    ("#claims?verdict=not-testable", {"verdict": "not-testable"}),
    ("#claims?chapter=05_double_descent&verdict=nonsense", {"chapter": "05_double_descent"}),
]
ALIKE = [
    ("low rank", "low-rank"),
    ("plateau", "plateaus"),
    ("sigma", "σ"),
    ("in context", "in-context"),
]


@pytest.fixture(scope="module")
def rows():
    return json.loads((SITE / "book" / "ledger.json").read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def page(fresh):
    with fresh(NARROW[0], color_scheme=NARROW[1]) as (opened, wrong):
        yield opened
        assert not wrong


@pytest.fixture
def ledger(page, address):
    """A function: the page of the ledger, opened anew at a place."""

    def ledger(place=""):
        page.goto("about:blank")
        page.goto(address + LEDGER + place)
        said(page, "")
        return page

    return ledger


def said(page, words):
    page.wait_for_selector(".score-status:not(:empty)")
    page.wait_for_function(STARTS, arg=words)


def shown(page):
    return set(page.evaluate(SHOWN))


def fitting(rows, **choice):
    """The ids of the rows that a choice of filters leaves."""

    def has(row):
        return {
            "verdict": row["verdict"].replace(" ", "-"),
            "origin": "ours" if row["document"] == "ours" else "theirs",
            "source": row["document"],
            "chapter": first_page(row["chapter"]),
        }

    return {row["id"] for row in rows if choice.items() <= has(row).items()}


def test_filters_by_keyboard(ledger, findings, rows):
    page = ledger()
    page.focus(".score-filters button[data-value=holds-in-part]")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    wanted = fitting(rows, verdict="holds-in-part")
    said(page, f"{len(wanted)} of {len(rows)} claims")
    assert shown(page) == wanted
    assert page.evaluate("location.hash") == "#claims?verdict=holds-in-part"
    page.keyboard.press("Tab")  # to the next verdict: buttons stand in the order of the page
    assert page.evaluate("document.activeElement.dataset.kind") == "verdict"
    page.focus(".score-filters button[data-value=collins2024]")
    page.keyboard.press("Space")
    choice = {"verdict": "holds-in-part", "source": "collins2024"}
    said(page, f"{len(fitting(rows, **choice))} of")
    assert shown(page) == fitting(rows, **choice)
    for chapter, count in page.eval_on_selector_all("button[data-kind=chapter]", COUNTS):
        assert count == len(fitting(rows, **choice, chapter=chapter))
    assert page.evaluate(PRESSED) == list(choice.values())
    page.focus(".score-filters button[data-value=holds-in-part]")  # once more: it is let go
    page.keyboard.press("Enter")
    said(page, f"{len(fitting(rows, source='collins2024'))} of")
    page.focus(".score-clear")
    page.keyboard.press("Enter")
    said(page, f"all {len(rows)} claims")
    assert len(shown(page)) == len(rows)
    assert page.evaluate("location.hash") == ""


def test_an_address_restores_the_filters(ledger, rows):
    for place, choice in ADDRESSES:
        page = ledger(place)
        said(page, f"{len(fitting(rows, **choice))} of")
        assert shown(page) == fitting(rows, **choice)
        assert set(page.evaluate(PRESSED)) == set(choice.values())


def test_a_number_of_the_front_page_leads_to_its_claims(page, address, rows):
    page.goto(address + "book/intro.html")
    page.click("details:has(.scorecard) > summary")
    link = ".scorecard a[href$='verdict=holds-in-part&origin=theirs&source=collins2024']"
    number = page.inner_text(link)
    page.focus(link)
    page.keyboard.press("Enter")
    page.wait_for_url("**/ledger.html#claims?*")
    said(page, f"{number} of")
    assert shown(page) == fitting(rows, verdict="holds-in-part", source="collins2024")
    assert len(shown(page)) == int(number)


def test_words_find_rows(ledger, rows):
    page = ledger()

    def search(words):
        page.fill(".score-words", words)
        return shown(page)

    assert 0 < len(search("lemma b.5")) < len(rows) / 4
    found = search("figure 5")  # side by side, and not in every row with a 5
    assert {row["id"] for row in rows if row["place"].startswith("Figure 5")} <= found
    assert len(found) < len(rows) / 8
    assert page.evaluate("location.hash").endswith("words=figure+5")
    for words, others in ALIKE:
        assert search(words) == search(others) != set(), words
    assert search(rows[-1]["id"]) == {rows[-1]["id"]}
    assert search("giraffe") == set()
    said(page, f"0 of {len(rows)} claims")
    page.click(".score-clear")
    said(page, f"all {len(rows)} claims")


def test_an_address_leads_to_its_place_whatever_the_filters_hide(ledger, findings, rows):
    hidden = next(row for row in reversed(rows) if row["verdict"] != "fails")
    section = f"ledger-{hidden['chapter'].replace('_', '-')}"
    page = ledger(f"#{hidden['id']}")
    page.wait_for_function(f"document.getElementById('{hidden['id']}').open")
    for place in (hidden["id"], section):
        page = ledger("#claims?verdict=fails")
        said(page, f"{len(fitting(rows, verdict='fails'))} of")
        page.evaluate("place => { location.hash = place; }", place)
        page.wait_for_function(NEAR, arg=place)


def test_what_is_pressed_is_seen_in_the_reader_s_own_colours(fresh, address):
    with fresh(forced_colors="active") as (page, _):
        page.goto(f"{address}{LEDGER}#claims?verdict=fails")
        said(page, "")
        pressed, ground = page.eval_on_selector_all("button[aria-pressed=true], body", GROUNDS)[
            ::-1
        ]
    assert pressed != ground


def test_unfolded_and_filtered_it_passes_axe_and_fits(ledger, findings):
    page = ledger("#claims?verdict=holds-in-part")
    page.evaluate("for (const row of document.querySelectorAll('details')) row.open = true")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.evaluate(THIN)
    assert not findings(page)
