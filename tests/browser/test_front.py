"""The front page, worked by keyboard in headless Chromium.

The scorecard's counts, filters and address; what is shown without JavaScript; and that every number
that a page shows from the run is the ledger's.
"""

import gzip
import html
import json
import re

import pytest
import yaml
from built_site import ROOT, SITE, text_of

from claimbook.ledger import format_value
from claimbook.pages import first_page
from claimbook.site.verdicts import sentences
from tests.browser.looks import ON_THE_NARROW

SHOWN = """() => [...document.querySelectorAll('.score-list li')]
  .filter(e => !e.hidden && e.closest('details').open)
  .map(e => e.querySelector('code').textContent)"""
PRESSED = """() => [...document.querySelectorAll('.score-filters button[aria-pressed=true]')]
  .map(e => e.dataset.value)"""
STOP = """() => {
  const stop = document.activeElement, style = getComputedStyle(stop);
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return {html: stop.outerHTML.slice(0, 120), seen: ring || style.boxShadow !== 'none'};
}"""
ADDRESSES = [
    ("#claims?verdict=fails", {"verdict": "fails"}),
    ("#score-fails", {"verdict": "fails"}),
    ("#claims?origin=ours&verdict=holds", {"origin": "ours", "verdict": "holds"}),
    ("#claims?source=ours&verdict=holds", {"origin": "ours", "verdict": "holds"}),  # as it was
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
    page.wait_for_selector(".score-status:not(:empty)")
    yield page
    assert not wrong


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


def test_the_table_counts_the_rows(front, rows):
    read = "all => all.map(e => [{...e.dataset}, parseInt(e.textContent)])"
    cells = front.eval_on_selector_all(".scorecard a[data-verdict]", read)
    for kind in ("source", "chapter"):
        for origin in ("theirs", "ours"):
            counted = [n for data, n in cells if data.get(kind) and data["origin"] == origin]
            assert sum(counted) == len(fitting(rows, origin=origin)), (kind, origin)
    assert len(fitting(rows, origin="theirs")) + len(fitting(rows, origin="ours")) == len(rows)
    for data, number in cells:
        choice = {kind: value for kind, value in data.items() if value}
        assert number == len(fitting(rows, **choice)), data


def test_filters_by_keyboard(front, rows):
    front.focus(".score-filters button[data-value=holds-in-part]")
    assert front.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    front.keyboard.press("Enter")
    wanted = fitting(rows, verdict="holds-in-part")
    said(front, f"{len(wanted)} of {len(rows)} claims")
    assert set(front.evaluate(SHOWN)) == wanted
    assert front.evaluate("location.hash") == "#claims?verdict=holds-in-part"
    front.keyboard.press("Tab")  # to the next verdict: buttons stand in the order of the page
    assert front.evaluate("document.activeElement.dataset.kind") == "verdict"
    front.focus(".score-filters button[data-value=collins2024]")
    front.keyboard.press("Space")
    wanted = fitting(rows, verdict="holds-in-part", source="collins2024")
    said(front, f"{len(wanted)} of")
    assert set(front.evaluate(SHOWN)) == wanted
    read = "all => all.map(e => [e.dataset.value, e.querySelector('.score-count').textContent])"
    counts = front.eval_on_selector_all(".score-filters button[data-kind=chapter]", read)
    for chapter, count in counts:
        wanted = fitting(rows, verdict="holds-in-part", source="collins2024", chapter=chapter)
        assert int(count) == len(wanted)
    assert front.evaluate(PRESSED) == ["holds-in-part", "collins2024"]
    front.focus(".score-filters button[data-value=holds-in-part]")  # once more: it is let go
    front.keyboard.press("Enter")
    said(front, f"{len(fitting(rows, source='collins2024'))} of")
    front.focus(".score-clear")
    front.keyboard.press("Enter")
    said(front, f"all {len(rows)} claims")
    assert front.evaluate(SHOWN) == []
    assert front.evaluate("location.hash") == ""


@ON_THE_NARROW
def test_an_address_restores_the_filters(front, address, rows):
    for place, choice in ADDRESSES:
        front.goto("about:blank")
        front.goto(address + "book/intro.html" + place)
        said(front, f"{len(fitting(rows, **choice))} of")
        assert set(front.evaluate(SHOWN)) == fitting(rows, **choice)
        assert set(front.evaluate(PRESSED)) == set(choice.values())


def test_a_number_of_the_table_leads_to_its_claims(front, rows):
    front.focus(".scorecard a[data-verdict=holds-in-part][data-source=collins2024]")
    front.keyboard.press("Enter")
    said(front, f"{len(fitting(rows, verdict='holds-in-part', source='collins2024'))} of")
    wanted = fitting(rows, verdict="holds-in-part", source="collins2024")
    assert set(front.evaluate(SHOWN)) == wanted
    assert front.evaluate("document.activeElement.className") == "score-status"
    front.goto(front.url.split("#")[0])


@ON_THE_NARROW
def test_words_find_rows(front, rows):
    front.fill(".score-words", "lemma b.5")
    front.wait_for_function("location.hash.includes('words=')")
    shown = set(front.evaluate(SHOWN))
    assert 0 < len(shown) < len(rows) / 4
    front.fill(".score-words", "figure 5")  # side by side, and not in every row with a 5
    front.wait_for_function("location.hash.endsWith('figure+5')")
    shown = set(front.evaluate(SHOWN))
    printed = [row for row in rows if row["document"] != "ours"]  # of ours no place is shown here
    wanted = {row["id"] for row in printed if re.search(r"[Ff]igure 5(?!\d)", row["place"])}
    assert wanted <= shown
    assert len(shown) < len(rows) / 8
    front.fill(".score-words", "no such words")
    said(front, f"0 of {len(rows)} claims")
    front.click(".score-clear")
    said(front, f"all {len(rows)} claims")


OPEN_ROWS = "() => [...document.querySelectorAll('details.claim')].filter(e => !e.hidden)"


@ON_THE_NARROW
def test_the_page_of_the_ledger_has_the_same_filters(front, address, rows):
    front.goto(address + "book/ledger.html")
    front.wait_for_selector(".score-status:not(:empty)")
    said(front, f"all {len(rows)} claims")
    front.click(".score-filters button[data-value=fails]")
    wanted = fitting(rows, verdict="fails")
    said(front, f"{len(wanted)} of")
    shown = front.evaluate(f"({OPEN_ROWS})().map(e => e.id.replace('claim-', ''))")
    assert set(shown) == wanted
    seen = front.evaluate(f"({OPEN_ROWS})().every(e => e.checkVisibility())")
    assert seen


@ON_THE_NARROW
def test_an_address_opens_a_row_of_the_ledger(front, address, rows):
    claim = rows[-1]["id"]
    front.goto("about:blank")
    front.goto(f"{address}book/ledger.html#claim-{claim}")
    front.wait_for_function(f"document.getElementById('claim-{claim}').open")


@ON_THE_NARROW
def test_an_address_leads_to_its_place_whatever_the_filters_hide(front, address, rows):
    hidden = next(row for row in reversed(rows) if row["verdict"] != "fails")
    section = f"ledger-{hidden['chapter'].replace('_', '-')}"
    for place in (f"claim-{hidden['id']}", section):
        front.goto("about:blank")
        front.goto(f"{address}book/ledger.html#claims?verdict=fails")
        said(front, f"{len(fitting(rows, verdict='fails'))} of")
        front.evaluate("place => { location.hash = place; }", place)
        near = "place => Math.abs(document.getElementById(place).getBoundingClientRect().top) < 200"
        front.wait_for_function(near, arg=place)


def test_filtered_it_is_still_accessible_and_fits(front, findings, address):
    front.goto(address + "book/intro.html#claims?verdict=holds-in-part")
    front.reload()
    said(front, "")
    front.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
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


def test_without_javascript(browser, address, rows):
    """Folded lists by verdict, a table that leads into them, no button that would do nothing."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + "book/intro.html")
    assert not page.is_visible(".score-filters")
    page.click(".scorecard tr.total a[data-verdict=fails] >> nth=0")
    assert page.url.endswith("#score-fails")
    # the browser unfolds the list that the address names
    page.wait_for_selector("#score-fails li", state="visible")
    assert page.locator("#score-fails li").count() == len(fitting(rows, verdict="fails"))
    context.close()


def test_numbers_in_sentences_are_the_ledger_s(rows):
    """{claim-value} on two pages: value and half-width as the ledger has them."""
    found = {row["id"]: row for row in rows}
    link = re.compile(r'<a class="claim-value[^"]*" href="[^"#]*#claim-([\w-]+)">([^<]*)</a>')
    for name in ("intro", "sources"):
        shown = link.findall(text_of(f"book/{name}.html"))
        source = (ROOT / "book" / f"{name}.md").read_text(encoding="utf8")
        asked = re.findall(r"\{claim-value\}`([^`]*)`", source)
        assert len(shown) == len(asked)
        for (claim, text), wanted in zip(shown, asked, strict=True):
            role = sentences.parse(wanted)
            assert role is not None
            assert claim == role.claim
            row = found[claim]
            value, half_width = row["value"], row["half_width"]
            text = html.unescape(text).replace("−", "-").removesuffix(" (at your settings)")
            if role.form != "factor" and half_width > 0 and half_width >= 1e-5 * abs(value):
                assert text == format_value(value, half_width), wanted
            elif role.form != "factor":
                assert float(text) == pytest.approx(value, rel=1e-4), wanted  # five digits


def test_the_citation_is_the_file_s():
    entry = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    page = html.unescape(re.sub(r"<[^>]+>", "", text_of("book/intro.html")))
    assert f"version = {{{entry['version']}}}" in page
    assert f"title = {{{{{entry['title']}}}}}" in page
    for person in entry["authors"]:
        assert person["name"] in page


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
