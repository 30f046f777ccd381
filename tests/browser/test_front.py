"""The front page, worked by keyboard in headless Chromium: the scorecard's counts, filters and address; what is shown without
JavaScript; and that every number that a page shows from the run is the ledger's."""

import csv
import html
import io
import json
import re
import sys

import pytest
import test_site
import yaml

from iclutils import claims

address, browser, window = test_site.address, test_site.browser, test_site.window
SITE, ROOT = test_site.SITE, test_site.SITE.parents[1]
SHOWN = """() => [...document.querySelectorAll('.score-list li')].filter(e => !e.hidden && e.closest('details').open)
  .map(e => e.querySelector('code').textContent)"""
PRESSED = """() => [...document.querySelectorAll('.score-filters button[aria-pressed=true]')].map(e => e.dataset.value)"""


@pytest.fixture(scope="module")
def rows():
    found = json.loads((SITE / "book" / "ledger.json").read_text(encoding="utf8"))
    return [row for row in found if row["verdict"]]    # those of a chapter that was not run have none


@pytest.fixture
def front(window, address):
    page, wrong = window
    wrong.clear()
    page.goto("about:blank")
    page.goto(address + "book/intro.html")
    page.wait_for_selector(".score-filters:not([hidden])")
    yield page
    assert not wrong


def fitting(rows, **choice):
    def has(row):
        return {"verdict": row["verdict"].replace(" ", "-"), "source": row["document"], "chapter": row["chapter"]}
    return {row["id"] for row in rows if choice.items() <= has(row).items()}


def said(page, words):
    page.wait_for_function("words => document.querySelector('.score-status').textContent.startsWith(words)", arg=words)


def test_the_table_counts_the_rows(front, rows):
    cells = front.eval_on_selector_all(".scorecard a[data-verdict]",
                                       "all => all.map(e => [{...e.dataset}, parseInt(e.textContent)])")
    for kind in ("source", "chapter"):
        assert sum(number for data, number in cells if data.get(kind)) == len(rows)
    for data, number in cells:
        assert number == len(fitting(rows, **{kind: value for kind, value in data.items() if value})), data


def test_filters_by_keyboard(front, rows):
    front.focus(".score-filters button[data-value=fails]")
    assert front.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    front.keyboard.press("Enter")
    wanted = fitting(rows, verdict="fails")
    said(front, f"{len(wanted)} of {len(rows)} claims")
    assert set(front.evaluate(SHOWN)) == wanted
    assert front.evaluate("location.hash") == "#claims?verdict=fails"
    front.keyboard.press("Tab")    # to the next verdict: buttons stand in the order of the page
    assert front.evaluate("document.activeElement.dataset.kind") == "verdict"
    front.focus(".score-filters button[data-value=collins2024]")
    front.keyboard.press("Space")
    wanted = fitting(rows, verdict="fails", source="collins2024")
    said(front, f"{len(wanted)} of")
    assert set(front.evaluate(SHOWN)) == wanted
    counts = front.eval_on_selector_all(".score-filters button[data-kind=chapter]",
                                        "all => all.map(e => [e.dataset.value, e.querySelector('.score-count').textContent])")
    for chapter, n in counts:
        assert int(n) == len(fitting(rows, verdict="fails", source="collins2024", chapter=chapter))
    assert front.evaluate(PRESSED) == ["fails", "collins2024"]
    front.focus(".score-filters button[data-value=fails]")    # once more: it is let go
    front.keyboard.press("Enter")
    said(front, f"{len(fitting(rows, source='collins2024'))} of")
    front.focus(".score-clear")
    front.keyboard.press("Enter")
    said(front, f"all {len(rows)} claims")
    assert front.evaluate(SHOWN) == []
    assert front.evaluate("location.hash") == ""


def test_an_address_restores_the_filters(front, address, rows):
    for place, choice in (("#claims?verdict=fails", {"verdict": "fails"}), ("#score-fails", {"verdict": "fails"}),
                          ("#claims?source=ours&verdict=holds", {"source": "ours", "verdict": "holds"}),
                          ("#claims?chapter=05_double_descent&verdict=nonsense", {"chapter": "05_double_descent"})):
        front.goto("about:blank")
        front.goto(address + "book/intro.html" + place)
        said(front, f"{len(fitting(rows, **choice))} of")
        assert set(front.evaluate(SHOWN)) == fitting(rows, **choice)
        assert set(front.evaluate(PRESSED)) == set(choice.values())


def test_a_number_of_the_table_leads_to_its_claims(front, rows):
    front.focus(".scorecard a[data-verdict=fails][data-source=collins2024]")
    front.keyboard.press("Enter")
    said(front, f"{len(fitting(rows, verdict='fails', source='collins2024'))} of")
    assert set(front.evaluate(SHOWN)) == fitting(rows, verdict="fails", source="collins2024")
    assert front.evaluate("document.activeElement.className") == "score-status"
    front.goto(front.url.split("#")[0])


def test_filtered_it_is_still_accessible_and_fits(front, address):
    front.goto(address + "book/intro.html#claims?verdict=holds-in-part")
    front.reload()
    said(front, "")
    front.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert not [(v["id"], v["nodes"][0]["html"]) for v in front.evaluate(test_site.RUN_AXE)["violations"]]
    assert front.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_without_javascript(browser, address, rows):
    """Folded lists by verdict, a table that leads into them, and no button that would do nothing."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + "book/intro.html")
    assert not page.is_visible(".score-filters")
    page.click(".scorecard tr.total a[data-verdict=fails] >> nth=0")
    assert page.url.endswith("#score-fails")
    page.wait_for_selector("#score-fails li", state="visible")    # the browser unfolds the list that the address names
    assert page.locator("#score-fails li").count() == len(fitting(rows, verdict="fails"))
    context.close()


def test_every_evidence_link_leads_to_its_row(rows):
    page = (SITE / "book" / "intro.html").read_text(encoding="utf8")
    for row in rows:
        assert f'href="chapters/{row["chapter"]}.html#claim-{row["id"]}"' in page, row["id"]


def test_numbers_in_sentences_are_the_ledger_s(rows):
    """{claim-value} on the front page and the page of sources: value and half-width as the ledger has them."""
    found = {row["id"]: row for row in rows}
    link = re.compile(r'<a class="claim-value[^"]*" href="[^"#]*#claim-([\w-]+)">([^<]*)</a>')
    for name in ("intro", "sources"):
        shown = link.findall((SITE / "book" / f"{name}.html").read_text(encoding="utf8"))
        asked = re.findall(r"\{claim-value\}`([^`]*)`", (ROOT / "book" / f"{name}.md").read_text(encoding="utf8"))
        assert len(shown) == len(asked) > 3
        for (claim, text), wanted in zip(shown, asked, strict=True):
            row_id, part, form = (*(piece.strip() for piece in wanted.split("|")), "", "")[:3]
            assert claim == row_id
            row = found[claim]
            shown_of = row["parts"][part] if part else row
            value, half = shown_of["value"], shown_of["half_width"]
            text = html.unescape(text).replace("−", "-").removesuffix(" (at your settings)")
            if form != "factor" and half >= 1e-5 * abs(value):
                assert text == claims.format_value(value, half), wanted
            elif form != "factor":
                assert float(text) == pytest.approx(value, rel=1e-4), wanted    # five digits


def test_the_citation_is_the_file_s():
    entry = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    page = html.unescape(re.sub(r"<[^>]+>", "", (SITE / "book" / "intro.html").read_text(encoding="utf8")))
    assert f"version {entry['version']}" in page
    assert f"title = {{{{{entry['title']}}}}}" in page
    for person in entry["authors"]:
        assert person["name"] in page


def test_the_readme_s_picture_shows_what_the_run_shows():
    """The data inside the committed picture against those of the run's figure: the same series, and numbers that nobody could
    tell apart in it (a hundredth of each axis; machines differ by far less)."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    import bookpicture
    old = list(csv.DictReader(io.StringIO(bookpicture.data_of(bookpicture.PICTURE.read_text(encoding="utf8")))))
    run = bookpicture.FIGURE.with_suffix(".csv").read_text(encoding="utf8")
    new = list(csv.DictReader(io.StringIO(bookpicture.nine_of_each(run))))
    assert "book/_static/overview.svg" in (ROOT / "README.md").read_text(encoding="utf8")
    words = [key for key in new[0] if key not in ("x", "x_low", "x_high", "y", "y_low", "y_high", "value")]
    assert [[row[key] for key in words] for row in old] == [[row[key] for key in words] for row in new], "run: make picture"
    for panel in {row["panel"] for row in new}:
        for key in new[0].keys() - set(words):
            pairs = [(float(a[key]), float(b[key])) for a, b in zip(old, new, strict=True) if b["panel"] == panel and b[key]]
            if pairs:
                extent = max(b for _, b in pairs) - min(b for _, b in pairs)
                assert max(abs(a - b) for a, b in pairs) <= 0.01 * extent + 1e-9, f"panel {panel}, {key}; run: make picture"


def test_the_picture_s_data_survive_the_way():
    import bookpicture
    table = "panel,title,y\n1,a -- b,-0.5\n"
    assert bookpicture.data_of(bookpicture.with_data('<?xml?><svg width="1"><g/></svg>', table)) == table


def test_skip_link_and_visible_focus(front):
    """The first stop of the Tab key leads past the navigation; every stop shows that it has the focus."""
    front.evaluate("document.activeElement.blur()")
    front.keyboard.press("Tab")
    assert "Skip to main content" in front.evaluate("document.activeElement.textContent")
    front.wait_for_function("(r => r.top >= 0 && r.height > 10)(document.activeElement.getBoundingClientRect())")  # slides in
    front.keyboard.press("Enter")
    assert front.evaluate("location.hash") == "#main-content"
    unseen = []
    for _ in range(25):
        front.keyboard.press("Tab")
        stop = front.evaluate("""(e => { const s = getComputedStyle(e);
            const ring = s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0;
            return [e.outerHTML.slice(0, 120), ring || s.boxShadow !== 'none'] })(document.activeElement)""")
        if not stop[1]:
            unseen.append(stop[0])
    assert not unseen
