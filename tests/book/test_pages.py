"""Every page of the built site, read without a browser.

Links and places, ids, headings, alternative texts, formulas, outside addresses, raw markup; and
the page of the ledger, row by row, against what the runs recorded.
"""

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from claimbook.files import ROOT
from claimbook.ledger.record import records
from claimbook.pages import chapter_path, first_page, is_second, toc_chapters, toc_pages
from claimbook.runs.notebooks import current
from claimbook.site.cells import LAST
from claimbook.site.lecture import FOLDER, scripts

SITE = ROOT / "_build" / "html"
PAGES = [f"{name}.html" for name in toc_pages()]
CHAPTERS = toc_chapters()
FILTERS = re.compile(r"claims\?|explorer-\w+\?")  # places that a script makes
NOSCRIPT = re.compile(r"</?noscript>")
RAW = re.compile(r"\{[a-z][\w:-]*\}`|:::\{|``|\$\$|\{\{|\\\(")  # roles, directives, TeX
LOADED = {"script": "src", "img": "src", "link": "href", "source": "srcset", "iframe": "src"}
LIGHT, ALL = 200_000, 300_000  # bytes of a page's explorers' scripts; one page shows all of them
CARD_FACTS = {"Measured", "Chapter", "Expected before measuring", "Statistic", "Parts"}


@cache
def page(name):
    """Read a page, with what it keeps as text for its scripts."""
    text = (SITE / name).read_text(encoding="utf8")
    return BeautifulSoup(NOSCRIPT.sub("", text), "lxml")


@cache
def ids(name):
    return [node["id"] for node in page(name).select("[id]")]


def article(name):
    return page(name).select_one("article.bd-article")


def words(node):
    """Return the words of a piece of a page, without glyphs and TeX of its formulas."""
    copy = BeautifulSoup(str(node), "lxml")
    for hidden in copy.select(".katex-html, annotation, script, style"):
        hidden.decompose()
    return " ".join(copy.get_text().split())


def test_the_site_has_every_page():
    assert not [name for name in PAGES if not (SITE / name).exists()], "build it: make book"


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_place(name):
    dead = []
    for link in page(name).select("a[href]"):
        parts = urlsplit(link["href"])
        if parts.scheme or parts.netloc:
            continue
        target = (SITE / name).parent / unquote(parts.path) if parts.path else SITE / name
        target = Path(*target.resolve().parts)
        if not target.exists():
            dead.append(link["href"])
        elif target.suffix == ".html" and parts.fragment and not FILTERS.match(parts.fragment):
            known = ids(target.relative_to(SITE).as_posix())
            dead += [link["href"]] if unquote(parts.fragment) not in known else []
    assert not dead


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_ids_headings_and_words_for_its_pictures(name):
    assert len(ids(name)) == len(set(ids(name))), "an id names one place"
    levels = [int(node.name[1]) for node in article(name).select("h1, h2, h3, h4, h5, h6")]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    for image in article(name).select("img"):
        assert image.get("alt", "").strip(), image
    for picture in article(name).select("svg[role=img]"):
        assert picture.get("aria-label", "").strip()
    for control in article(name).select("a[href], button, summary"):
        label = control.get_text().strip() or control.get("aria-label") or control.get("title")
        assert label or control.select("img[alt]"), control


@pytest.mark.parametrize("name", PAGES)
def test_formulas_are_typeset_and_no_markup_is_left_raw(name):
    for formula in article(name).select(".math"):
        assert formula.select_one(".katex .katex-html"), formula.get_text()[:80]
        assert formula.select_one(".katex math"), "a screen reader needs it"
    assert not article(name).select(".katex-error, .MathJax")
    meant = ("pre", "code", "script", "annotation")
    raw = article(name).find_all(string=RAW)
    assert not [text for text in raw if not text.find_parent(meant)]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_loaded_from_elsewhere_and_the_run_is_named(name):
    for kind, attribute in LOADED.items():
        for node in page(name).select(f"{kind}[{attribute}]"):
            if node.get("rel") not in (["canonical"], ["next"], ["prev"], ["author"]):
                assert not urlsplit(node[attribute]).netloc, node
    stamp = page(name).select_one(".run-stamp").get_text()
    assert re.search(r"computed on [\d-]{10}.*, in \d+ (s|min) on one core", stamp)


@pytest.mark.parametrize("name", [name for name in CHAPTERS if not is_second(name)])
def test_a_chapter_folds_its_last_sections_under_their_headings(name):
    folds = article(f"book/chapters/{name}.html").select("details.section-fold:not([open])")
    assert [words(fold.select_one("summary > h2")) for fold in folds] == list(LAST)
    assert [fold["id"] for fold in folds] == ["whose-is-what", "how-it-was-checked"]
    assert folds[0].select_one(".chapter-card")
    assert folds[1].select_one(".checked")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_what_its_explorers_need(name):
    explorers = page(name).select(".explorer")
    loaded = [Path(urlsplit(each["src"]).path) for each in page(name).select("script[src]")]
    loaded = [FOLDER / path.name for path in loaded if path.parent.name == FOLDER.name]
    needed = scripts({each["data-explorer"] for each in explorers}) if explorers else []
    assert loaded == needed
    assert all("needs JavaScript" in explorer.get_text() for explorer in explorers)
    size = sum(path.stat().st_size for path in loaded)
    assert size <= (ALL if name == "book/explorers.html" else LIGHT)


# ---------------------------------------------------------------- the ledger


@pytest.fixture(scope="module")
def rows():
    return json.loads((SITE / "book" / "ledger.json").read_text(encoding="utf8"))


def test_the_page_of_the_ledger_has_a_card_with_its_facts_for_every_record(rows):
    runs = {name: current(chapter_path(name)) for name in CHAPTERS}
    assert all(runs.values()), "some chapter has no current run"
    recorded = {}
    for run in runs.values():
        recorded |= records(run.notebook)
    cards = {card["id"]: card for card in article("book/ledger.html").select("details.claim")}
    assert list(cards) == [row["id"] for row in rows]
    assert set(cards) == set(recorded)
    for row in rows:
        card, record = cards[row["id"]], recorded[row["id"]]
        assert row["verdict"] == record.verdict
        assert (row["value"], row["half_width"]) == (record.value, record.half_width)
        assert f"verdict-{record.verdict.replace(' ', '-')}" in card.select_one(".verdict")["class"]
        assert len(card.find("dt", string="Parts").parent.select("li")) == len(record.parts)
        assert len(card.select(".control-result")) == len(record.controls)
        assert {term.get_text() for term in card.select("dt")} >= CARD_FACTS, row["id"]
        assert bool(card.blockquote) == bool(row["printed"])


def test_the_counts_of_the_front_page_are_those_of_the_rows(rows):
    theirs, ours = article("book/intro.html").select("table.scorecard")
    for table, is_ours in ((theirs, False), (ours, True)):
        half = [row for row in rows if (row["document"] == "ours") == is_ours]
        heads = [words(head).split(" ", 1)[1] for head in table.select("thead th")[1:]]
        last = table.select("tbody tr")[-1]
        counts = [int(cell.get_text()) for cell in last.select("td")]
        assert dict(zip(heads, counts, strict=True)) == {
            verdict: sum(row["verdict"] == verdict for row in half) for verdict in heads
        }
        assert sum(counts) == len(half)


def test_every_row_of_a_source_leads_to_functions_and_to_its_cell(rows):
    """That these are there, test_every_link_leads_to_a_place sees."""
    lines = {
        line.select_one("a[href*='ledger.html#']").get_text(): line
        for line in article("book/code_index.html").select("tbody tr")
    }
    theirs = {row["id"]: row for row in rows if row["document"] != "ours"}
    assert lines.keys() == theirs.keys()
    without = {claim for claim, line in lines.items() if not line.select("a[href*='reference/']")}
    assert without == {"ch5c-transition"}, "its numbers were published by others"
    for claim, line in lines.items():
        cell = f"chapters/{theirs[claim]['chapter']}.html#check-{claim}"
        assert line.find("a", href=cell), claim
    for tower in ("window", "regression", "stages"):
        assert page(f"book/reference/{tower}.html").find(string=re.compile("^Serves "))


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_page_shows_its_rows_with_their_verdicts_and_leads_to_them(name, rows):
    shown = article(f"book/chapters/{name}.html")
    by_id = {row["id"]: row for row in rows}
    for line in shown.select("p.verdict-line"):
        row = by_id[line.select_one("a[aria-label^=evidence]")["href"].partition("#")[2]]
        assert words(line.select_one(".verdict")).endswith(row["verdict"])
    for mark in shown.select("a.judged[data-line]"):
        line = shown.find(id=mark["data-line"])
        row = by_id[mark["data-line"].removeprefix("line-")]
        assert line.has_attr("hidden") <= (row["verdict"] == "holds")
        assert mark["aria-label"].startswith(f"{row['verdict']}: ")
    listed = {line["id"].removeprefix("checked-") for line in shown.select("table.checked tr[id]")}
    own = {row["id"] for row in rows if row["chapter"] == name}
    assert listed == own if listed else is_second(name)
    assert shown.find("a", href=f"../ledger.html#claims?chapter={first_page(name)}")


def test_the_search_finds_a_row_by_its_name(rows):
    index = (SITE / "searchindex.js").read_text(encoding="utf8")
    assert not [row["id"] for row in rows if f'"{row["id"]}"' not in index]
