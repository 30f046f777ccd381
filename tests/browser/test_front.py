"""The front page and the ledger's, worked by keyboard in headless Chromium.

The scorecard's numbers lead to the filtered ledger; its filters and their addresses; what a first
visit weighs.
"""

import gzip
import json
import re

import pytest
from built_site import SITE

from claimbook.pages import first_page
from tests.browser.looks import ON_THE_NARROW

SHOWN = """() => [...document.querySelectorAll('details.claim')]
  .filter(e => !e.hidden)
  .map(e => e.id)"""
PRESSED = """() => [...document.querySelectorAll('.score-filters button[aria-pressed=true]')]
  .map(e => e.dataset.value)"""
STOP = """() => {
  const stop = document.activeElement, style = getComputedStyle(stop);
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return {html: stop.outerHTML.slice(0, 120), seen: ring || style.boxShadow !== 'none'};
}"""
ADDRESSES = [
    ("#claims?verdict=fails", {"verdict": "fails"}),
    ("#claims?origin=ours&verdict=holds", {"origin": "ours", "verdict": "holds"}),
    ("#claims?verdict=not-testable", {"verdict": "not-testable"}),
    ("#claims?chapter=05_double_descent&verdict=nonsense", {"chapter": "05_double_descent"}),
]
COMPRESSED = {".html", ".js", ".css", ".svg"}
FIRST_VISIT = 650_000  # bytes of the front page, compressed as a server would


@pytest.fixture(scope="module")
def rows():
    found = json.loads((SITE / "book" / "ledger.json").read_text(encoding="utf8"))
    return [row for row in found if row["verdict"]]  # those of a chapter that was not run have none


@pytest.fixture
def front(window, address):
    page, wrong = window
    wrong.clear()
    page.goto("about:blank")
    page.goto(address + "book/intro.html")
    yield page
    assert not wrong


@pytest.fixture
def ledger(front, address):
    front.goto(address + "book/ledger.html")
    front.wait_for_selector(".score-status:not(:empty)")
    return front


def fitting(rows, **choice):
    def has(row):
        verdict = row["verdict"].replace(" ", "-")
        origin = "ours" if row["document"] == "ours" else "theirs"
        return {
            "verdict": verdict,
            "origin": origin,
            "source": row["document"],
            "chapter": first_page(row["chapter"]),
            "reading": row["reading"] or "",
        }

    return {row["id"] for row in rows if choice.items() <= has(row).items()}


def said(page, words):
    starts = "words => document.querySelector('.score-status').textContent.startsWith(words)"
    page.wait_for_function(starts, arg=words)


def test_filters_by_keyboard(ledger, rows):
    ledger.focus(".score-filters button[data-value=holds-in-part]")
    assert ledger.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    ledger.keyboard.press("Enter")
    wanted = fitting(rows, verdict="holds-in-part")
    said(ledger, f"{len(wanted)} of {len(rows)} claims")
    assert set(ledger.evaluate(SHOWN)) == wanted
    assert ledger.evaluate("location.hash") == "#claims?verdict=holds-in-part"
    ledger.keyboard.press("Tab")  # to the next verdict: buttons stand in the order of the page
    assert ledger.evaluate("document.activeElement.dataset.kind") == "verdict"
    ledger.focus(".score-filters button[data-value=collins2024]")
    ledger.keyboard.press("Space")
    wanted = fitting(rows, verdict="holds-in-part", source="collins2024")
    said(ledger, f"{len(wanted)} of")
    assert set(ledger.evaluate(SHOWN)) == wanted
    read = "all => all.map(e => [e.dataset.value, e.querySelector('.score-count').textContent])"
    counts = ledger.eval_on_selector_all(".score-filters button[data-kind=chapter]", read)
    for chapter, count in counts:
        wanted = fitting(rows, verdict="holds-in-part", source="collins2024", chapter=chapter)
        assert int(count) == len(wanted)
    assert ledger.evaluate(PRESSED) == ["holds-in-part", "collins2024"]
    ledger.focus(".score-filters button[data-value=holds-in-part]")  # once more: it is let go
    ledger.keyboard.press("Enter")
    said(ledger, f"{len(fitting(rows, source='collins2024'))} of")
    ledger.focus(".score-clear")
    ledger.keyboard.press("Enter")
    said(ledger, f"all {len(rows)} claims")
    assert len(ledger.evaluate(SHOWN)) == len(rows)
    assert ledger.evaluate("location.hash") == ""


@ON_THE_NARROW
def test_an_address_restores_the_filters(front, address, rows):
    for place, choice in ADDRESSES:
        front.goto("about:blank")
        front.goto(address + "book/ledger.html" + place)
        said(front, f"{len(fitting(rows, **choice))} of")
        assert set(front.evaluate(SHOWN)) == fitting(rows, **choice)
        assert set(front.evaluate(PRESSED)) == set(choice.values())


def test_a_number_of_the_table_leads_to_its_claims(front, rows):
    link = ".scorecard a[href$='verdict=holds-in-part&origin=theirs&source=collins2024']"
    number = front.inner_text(link)
    front.focus(link)
    front.keyboard.press("Enter")
    front.wait_for_url("**/ledger.html#claims?*")
    wanted = fitting(rows, verdict="holds-in-part", source="collins2024")
    said(front, f"{number} of")
    assert set(front.evaluate(SHOWN)) == wanted
    assert int(number) == len(wanted)


@ON_THE_NARROW
def test_words_find_rows(ledger, rows):
    ledger.fill(".score-words", "lemma b.5")
    ledger.wait_for_function("location.hash.includes('words=')")
    shown = set(ledger.evaluate(SHOWN))
    assert 0 < len(shown) < len(rows) / 4
    ledger.fill(".score-words", "figure 5")  # side by side, and not in every row with a 5
    ledger.wait_for_function("location.hash.endsWith('figure+5')")
    shown = set(ledger.evaluate(SHOWN))
    wanted = {row["id"] for row in rows if re.search(r"[Ff]igure 5(?!\d)", row["place"])}
    assert wanted <= shown
    assert len(shown) < len(rows) / 8
    ledger.fill(".score-words", "no such words")
    said(ledger, f"0 of {len(rows)} claims")
    ledger.click(".score-clear")
    said(ledger, f"all {len(rows)} claims")


@ON_THE_NARROW
def test_an_address_opens_a_row_of_the_ledger(front, address, rows):
    claim = rows[-1]["id"]
    front.goto("about:blank")
    front.goto(f"{address}book/ledger.html#{claim}")
    front.wait_for_function(f"document.getElementById('{claim}').open")


@ON_THE_NARROW
def test_an_address_leads_to_its_place_whatever_the_filters_hide(front, address, rows):
    hidden = next(row for row in reversed(rows) if row["verdict"] != "fails")
    section = f"ledger-{hidden['chapter'].replace('_', '-')}"
    for place in (hidden["id"], section):
        front.goto("about:blank")
        front.goto(f"{address}book/ledger.html#claims?verdict=fails")
        said(front, f"{len(fitting(rows, verdict='fails'))} of")
        front.evaluate("place => { location.hash = place; }", place)
        near = "place => Math.abs(document.getElementById(place).getBoundingClientRect().top) < 200"
        front.wait_for_function(near, arg=place)


def test_filtered_it_is_still_accessible_and_fits(front, findings, address):
    front.goto(address + "book/ledger.html#claims?verdict=holds-in-part")
    front.reload()
    said(front, "")
    rows = "document.querySelectorAll('details.claim:not([hidden])')"
    front.evaluate(f"for (const row of {rows}) row.open = true")
    assert not findings(front)
    assert front.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_first_visit_is_light_and_has_its_icons(fresh, address):
    sizes = {}

    def weigh(answer):
        name = answer.url.partition("?")[0]
        body = answer.body()
        packed = gzip.compress(body) if name.endswith(tuple(COMPRESSED)) else body
        sizes[name] = len(packed)

    with fresh(1366) as (page, _):
        page.on("response", weigh)
        page.goto(address + "book/intro.html", wait_until="networkidle")
        bare = page.evaluate(
            """() => [...document.querySelectorAll("i[class*=fa-]")].filter(icon =>
                 icon.checkVisibility()
                 && ["none", "normal"].includes(getComputedStyle(icon, "::before").content))
                 .map(icon => icon.outerHTML)"""
        )
    assert sum(sizes.values()) < FIRST_VISIT, sorted(sizes.items(), key=lambda one: -one[1])[:5]
    assert bare == []


def test_skip_link_and_visible_focus(front):
    """The first stop of the Tab key leads past the navigation; every stop shows its focus."""
    front.evaluate("document.activeElement.blur()")
    front.keyboard.press("Tab")
    assert "Skip to main content" in front.evaluate("document.activeElement.textContent")
    # it slides in
    box = "document.activeElement.getBoundingClientRect()"
    front.wait_for_function(f"(r => r.top >= 0 && r.height > 10)({box})")
    front.keyboard.press("Enter")
    assert front.evaluate("location.hash") == "#main-content"
    unseen = []
    for _ in range(25):
        front.keyboard.press("Tab")
        stop = front.evaluate(STOP)
        if not stop["seen"]:
            unseen.append(stop["html"])
    assert not unseen
