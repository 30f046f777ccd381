"""Every page of the built site, read without a browser.

Links and places, ids, headings, alternative texts, formulas, outside addresses, raw markup; and
the page of the ledger, row by row, against what the runs recorded.
"""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from claimbook.ledger.record import records
from claimbook.pages import chapter_path, first_page, is_second, toc_chapters, toc_pages
from claimbook.runs.notebooks import current
from claimbook.site.cells import LAST
from claimbook.site.lecture import FOLDER, scripts
from tests.built_site import SITE, rows, text_of, words

CHAPTERS = toc_chapters()
ID = re.compile(r'\sid="([^"]*)"')
FILTERS = re.compile(r"claims\?|explorer-\w+\?")  # places that a script makes
NOSCRIPT = re.compile(r"</?noscript>")
RAW = re.compile(r"\{[a-z][\w:-]*\}`|:::\{|``|\$\$|\{\{|\\\(")  # roles, directives, TeX
LOADED = {"script": "src", "img": "src", "link": "href", "source": "srcset", "iframe": "src"}
LIGHT, ALL = 200_000, 300_000  # bytes of a page's explorers' scripts; one page shows all of them
CARD_FACTS = {"Measured", "Chapter", "Expected before measuring", "Statistic", "Parts"}
STAMP = re.compile(r"computed on [\d-]{10}.*, in \d+ (s|min) on one core")


@cache
def ids(name):
    return ID.findall(text_of(name))


def parsed(name):
    """Parse a page, with what it keeps as text for its scripts."""
    return BeautifulSoup(NOSCRIPT.sub("", text_of(name)), "lxml")


def article(name):
    return parsed(name).select_one("article.bd-article")


def leads_nowhere(name, address):
    """Tell whether a link of a page has no place in the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return False
    target = (SITE / name).parent / unquote(parts.path) if parts.path else SITE / name
    target = target.resolve()
    if target.suffix != ".html" or not parts.fragment or FILTERS.match(parts.fragment):
        return not target.exists()
    place = target.relative_to(SITE).as_posix()
    return not target.exists() or unquote(parts.fragment) not in ids(place)


@pytest.mark.parametrize("name", [f"{name}.html" for name in toc_pages()])
def test_a_page_is_whole(name):
    page = parsed(name)
    assert not [a["href"] for a in page.select("a[href]") if leads_nowhere(name, a["href"])]
    assert len(ids(name)) == len(set(ids(name))), "an id names one place"
    for kind, attribute in LOADED.items():
        for node in page.select(f"{kind}[{attribute}]"):
            if node.get("rel") not in (["canonical"], ["next"], ["prev"], ["author"]):
                assert not urlsplit(node[attribute]).netloc, node
    assert STAMP.search(page.select_one(".run-stamp").get_text())
    check_words(page.select_one("article.bd-article"))
    check_scripts(page, ALL if name == "book/explorers.html" else LIGHT)


def check_words(article):
    """Check headings, names of pictures and controls, formulas, and that no markup is raw."""
    levels = [int(node.name[1]) for node in article.select("h1, h2, h3, h4, h5, h6")]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    for image in article.select("img"):
        assert image.get("alt", "").strip(), image
    for picture in article.select("svg[role=img]"):
        assert picture.get("aria-label", "").strip()
    for control in article.select("a[href], button, summary"):
        label = control.get_text().strip() or control.get("aria-label") or control.get("title")
        assert label or control.select("img[alt]"), control
    for formula in article.select(".math"):
        assert formula.select_one(".katex .katex-html"), formula.get_text()[:80]
        assert formula.select_one(".katex math"), "a screen reader needs it"
    assert not article.select(".katex-error, .MathJax")
    for section in article.select("section"):
        assert not "".join(section.find_all(string=True, recursive=False)).strip(), "stray words"
    meant = ("pre", "code", "script", "annotation")
    raw = article.find_all(string=RAW)
    assert not [text for text in raw if not text.find_parent(meant)]


def check_scripts(page, most):
    """Check that a page loads what its explorers need."""
    explorers = page.select(".explorer")
    loaded = [Path(urlsplit(each["src"]).path) for each in page.select("script[src]")]
    loaded = [FOLDER / path.name for path in loaded if path.parent.name == FOLDER.name]
    assert loaded == (scripts({one["data-explorer"] for one in explorers}) if explorers else [])
    assert all("needs JavaScript" in explorer.get_text() for explorer in explorers)
    assert sum(path.stat().st_size for path in loaded) <= most


# ---------------------------------------------------------------- the ledger


def test_the_page_of_the_ledger_has_a_card_with_its_facts_for_every_record():
    recorded = {}
    for name in CHAPTERS:
        recorded |= records(current(chapter_path(name)).notebook)
    cards = {card["id"]: card for card in article("book/ledger.html").select("details.claim")}
    assert list(cards) == [row["id"] for row in rows()]
    assert set(cards) == set(recorded)
    for row in rows():
        card, record = cards[row["id"]], recorded[row["id"]]
        assert row["verdict"] == record.verdict
        assert (row["value"], row["half_width"]) == (record.value, record.half_width)
        assert f"verdict-{record.verdict.replace(' ', '-')}" in card.select_one(".verdict")["class"]
        assert len(card.find("dt", string="Parts").parent.select("li")) == len(record.parts)
        assert len(card.select(".control-result")) == len(record.controls)
        assert {term.get_text() for term in card.select("dt")} >= CARD_FACTS, row["id"]
        assert bool(card.blockquote) == bool(row["printed"])


def test_every_row_of_a_source_leads_to_functions_and_to_its_cell():
    """That these are there, the test of the links sees."""
    lines = {
        line.select_one("a[href*='ledger.html#']").get_text(): line
        for line in article("book/code_index.html").select("tbody tr")
    }
    theirs = {row["id"]: row for row in rows() if row["document"] != "ours"}
    assert lines.keys() == theirs.keys()
    without = {claim for claim, line in lines.items() if not line.select("a[href*='reference/']")}
    assert without == {"ch5c-transition"}, "its numbers were published by others"
    for claim, line in lines.items():
        cell = f"chapters/{theirs[claim]['chapter']}.html#check-{claim}"
        assert line.find("a", href=cell), claim
    for tower in ("window", "regression", "stages"):
        assert article(f"book/reference/{tower}.html").find(string=re.compile("^Serves "))


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_page_shows_its_rows_with_their_verdicts_and_leads_to_them(name):
    shown = article(f"book/chapters/{name}.html")
    by_id = {row["id"]: row for row in rows()}
    for line in shown.select("p.verdict-line"):
        row = by_id[line.select_one("a[aria-label^=evidence]")["href"].partition("#")[2]]
        assert words(line.select_one(".verdict")).endswith(row["verdict"])
    for mark in shown.select("a.judged[data-line]"):
        line = shown.find(id=mark["data-line"])
        row = by_id[mark["data-line"].removeprefix("line-")]
        assert line.has_attr("hidden") <= (row["verdict"] == "holds")
        assert mark["aria-label"].startswith(f"{row['verdict']}: ")
    listed = {line["id"].removeprefix("checked-") for line in shown.select("table.checked tr[id]")}
    own = {row["id"] for row in rows() if row["chapter"] == name}
    assert listed == own
    for claim in own:
        assert shown.find(id=f"check-{claim}").find_parent("details", class_="page-fold")
    assert not shown.select(".page-fold .verdict-line"), "the table has them"
    assert shown.find("a", href=f"../ledger.html#claims?chapter={first_page(name)}")
    if not is_second(name):  # the last sections are folded under their headings
        whose, checked = shown.select("details.section-fold:not([open])")
        assert [words(fold.select_one("summary > h2")) for fold in (whose, checked)] == list(LAST)
        assert whose.select_one(".chapter-card")
        assert "seed = 0" in words(shown.select_one("#run-it > .page-fold"))  # behind all else
        assert checked.select_one(".checked")
