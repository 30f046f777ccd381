"""The page is the record: all that the site says of a row is what the run recorded."""

import json
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import pytest
from bs4 import BeautifulSoup, SoupStrainer, Tag
from built_site import SITE, text_of
from record_page import (
    check_card,
    check_history,
    check_how,
    check_line,
    check_reservation,
    in_line,
    read,
    said,
)

from claimbook.ledger import Record, amendments, load, outputs, plain
from claimbook.pages import SPECIALIST, chapter_path, first_page, toc_chapters
from claimbook.runs.notebooks import current


@lru_cache
def records() -> dict[str, Record]:
    """What the runs recorded; read where a test asks, not by every worker that collects."""
    found: dict[str, Record] = {}
    for chapter in toc_chapters():
        run = current(chapter_path(chapter))
        assert run is not None, f"{chapter} is not run"
        found |= outputs.records(run.notebook)
    return found


SEEDS = {row: note.by_seed for row, note in amendments.read().items()}
ROWS = {
    row["id"]: (chapter, row)
    for chapter, block in plain(load())["chapters"].items()
    for row in block["claims"]
}
DATA: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((SITE / "book" / "ledger.json").read_text("utf8"))
}


READ = SoupStrainer(class_=["claim", "verdict-line", "checked", "cell_output", "score-group"])


def soup(page: str) -> BeautifulSoup:
    """What the tests read of a page: without the prose, which is half of the parsing."""
    return BeautifulSoup(text_of(page), "lxml", parse_only=READ)


@pytest.fixture(scope="module")
def pages() -> dict[str, BeautifulSoup]:
    names = ["book/ledger.html", "book/intro.html"]
    names += [f"book/chapters/{name}.html" for name in toc_chapters()]
    return {name: soup(name) for name in names}


@pytest.fixture(scope="module")
def cards(pages: dict[str, BeautifulSoup]) -> dict[tuple[str, str], Tag]:
    """The cards of rows by their pages and their ids."""
    return {
        (name, str(card["id"])): card
        for name, page in pages.items()
        for card in page.select(".claim[id]")
    }


def cards_page(chapter: str) -> str:
    second = first_page(chapter) + SPECIALIST
    return f"book/chapters/{second if second in toc_chapters() else chapter}.html"


def test_every_row_was_run():
    assert set(records()) == set(ROWS)


@pytest.mark.parametrize("claim", ROWS)
def test_the_cards_say_what_was_recorded(cards, claim):
    record = records()[claim]
    chapter, row = ROWS[claim]
    for page in ("book/ledger.html", cards_page(chapter)):
        card = cards[page, f"claim-{claim}"]
        check_card(card, record, row)
        check_how(card, row)
        if page == "book/ledger.html":
            check_history(card, record, row, SEEDS.get(claim, {}))


def test_every_verdict_in_place_is_the_recorded_one(pages):
    for chapter in toc_chapters():
        for line in pages[f"book/chapters/{chapter}.html"].select("p.verdict-line"):
            link = line.select_one("a[href*='#claim-']")
            assert link is not None
            record = records()[str(link["href"]).partition("#claim-")[2]]
            assert record.chapter == chapter
            check_line(line, record, ROWS[record.id][1])


def test_every_row_is_listed_on_the_page_that_checks_it(pages):
    listed = []
    for chapter in toc_chapters():
        for row in pages[f"book/chapters/{chapter}.html"].select("table.checked tbody tr"):
            claim = str(row["id"]).removeprefix("checked-")
            listed.append(claim)
            record = records()[claim]
            assert record.chapter == chapter
            sign = row.select_one(".sign")
            assert sign is not None
            assert f"verdict-{record.verdict.replace(' ', '-')}" in sign["class"]
            assert read(row.a) == in_line(ROWS[claim][1]["brief"])
    assert sorted(listed) == sorted(records())


def test_the_front_page_lists_what_was_recorded(pages):
    listed = {}
    for group in pages["book/intro.html"].select(".score-group"):
        for item in group.select("li"):
            listed[said(item.select_one("code"))] = (str(group["data-verdict"]), item)
    assert set(listed) == set(records())
    for claim, (verdict, item) in listed.items():
        record = records()[claim]
        assert verdict == record.verdict.replace(" ", "-")
        assert read(item).startswith(in_line(ROWS[claim][1]["brief"]))
        check_reservation(item.select_one(".score-finding"), record)
        assert item.select_one(f"a[href='{DATA[claim]['anchor']}']"), claim


def test_the_data_hold_what_was_recorded():
    """The table has the same (test_downloads.py)."""
    assert set(DATA) == set(records())
    for row in DATA.values():
        record = records()[row["id"]]
        kept = asdict(record)
        for field in ("verdict", "finding", "value", "half_width", "why", "parts"):
            assert row[field] == kept[field], f"{row['id']}: {field}"
        for name, control in kept["controls"].items():
            assert {key: row["controls"][name][key] for key in control} == control


def test_no_cell_shows_a_record_s_code(pages):
    """A check that ends its cell without a semicolon would show its record as Python has it."""
    for name, page in pages.items():
        shown = [said(output) for output in page.select(".cell_output .output")]
        assert not [text for text in shown if text.startswith("Record(")], name
