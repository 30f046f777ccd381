"""The page is the record: all that the site says of a row is what the run recorded."""

import csv
import json
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from built_site import SITE, text_of

from iclutils.book.ledger import Record, format_value, load
from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT
from iclutils.ground.statistics import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison

SIGNS = {
    "holds": "✓",
    "holds in part": "◐",
    "fails": "✗",
    "superseded": "↻",
    "undecided": "?",
    "not testable": "–",
}
OUTCOMES = {SUPPORTED: "✓", CONTRADICTED: "✗", UNDECIDED: "?"}
MARKS = {"clear": "", "mangled": "damaged text", "illegible": "illegible text"}


def recorded() -> dict[str, Record]:
    found: dict[str, Record] = {}
    for chapter in cache.toc_chapters():
        run = cache.cached_run(cache.chapter_path(chapter), cache.cache_path())
        assert run is not None, f"{chapter} is not run"
        found |= cache.records(run.notebook)
    return found


RECORDS = recorded()
ROWS = {
    row["id"]: (chapter, row)
    for chapter, block in load()["chapters"].items()
    for row in block["claims"]
}


def soup(page: str) -> BeautifulSoup:
    return BeautifulSoup(text_of(page), "html.parser")


@pytest.fixture(scope="module")
def pages() -> dict[str, BeautifulSoup]:
    names = ["book/ledger.html", "book/intro.html"]
    names += [f"book/chapters/{name}.html" for name in cache.toc_chapters()]
    return {name: soup(name) for name in names}


def said(node: Tag | None) -> str:
    assert node is not None
    return " ".join(node.get_text().split())


def cards_page(chapter: str) -> str:
    second = cache.first_page(chapter) + cache.SPECIALIST
    return f"book/chapters/{second}.html"


def number(record: Record) -> str:
    if record.value is None:
        return "no value"
    return format_value(record.value, record.half_width or 0.0)


def test_every_row_was_run():
    assert set(RECORDS) == set(ROWS)


def check_badge(node: Tag, verdict: str) -> None:
    badge = node.select_one(".verdict")
    assert said(badge) == f"{SIGNS[verdict]} {verdict}"
    assert badge is not None
    assert badge["class"] == ["verdict", f"verdict-{verdict.replace(' ', '-')}"]


def check_comparison(text: str, part: Comparison) -> None:
    assert format_value(part.value, part.half_width) in text
    assert part.against in text


@pytest.mark.parametrize("claim", RECORDS)
def test_the_cards_say_what_was_recorded(pages, claim):
    record = RECORDS[claim]
    chapter, row = ROWS[claim]
    for page in ("book/ledger.html", cards_page(chapter)):
        card = pages[page].find(id=f"claim-{claim}")
        assert isinstance(card, Tag), f"{claim} has no card on {page}"
        head = card.select_one(".claim-head")
        assert head is not None
        check_badge(head, record.verdict)
        mark = head.select_one(".reading")
        reading = row["source"].get("reading", "clear")
        assert (said(mark) if mark else "") == MARKS[reading]
        finding = said(card.select_one(".claim-finding"))
        assert record.finding.startswith(finding)
        assert finding
        facts = {said(line.dt): line.dd for line in card.select("dl.claim-facts > div")}
        assert said(facts["Measured"]).endswith(f": {number(record)}")
        check_parts(facts["Parts"], record)
        check_controls(card, record)
        if page == "book/ledger.html":
            expected = row["expected"]
            otherwise = f"; found otherwise: {record.verdict}"
            other = "" if expected == record.verdict else otherwise
            assert said(facts["Expected before measuring"]) == expected + other
            check_seeds(said(facts["Other master seeds"]), claim)


def check_parts(shown: Tag | None, record: Record) -> None:
    assert shown is not None
    items = [said(item) for item in shown.select("li")]
    assert len(items) == len(record.parts)
    for text, (name, part) in zip(items, record.parts.items(), strict=True):
        label = f"{name}: " if name else ""
        assert text.startswith(f"{OUTCOMES[part.outcome]} {' '.join(label.split())}")
        assert text.endswith(f"({part.outcome})")
        check_comparison(text, part)


def check_controls(card: Tag, record: Record) -> None:
    shown = [said(node) for node in card.select(".control-result")]
    assert len(shown) == len(record.controls)
    for text, part in zip(shown, record.controls.values(), strict=True):
        check_comparison(text, part)
        assert part.outcome in text


def check_seeds(text: str, claim: str) -> None:
    seeds = json.loads((ROOT / cache.SEEDS_FILE).read_text(encoding="utf8")).get(claim, {})
    for seed, verdict in seeds.items():
        assert seed in text
        assert verdict in text
    assert seeds or text == "none recorded"


def test_every_verdict_in_place_is_the_recorded_one(pages):
    shown = []
    for chapter in cache.toc_chapters():
        for line in pages[f"book/chapters/{chapter}.html"].select("p.verdict-line"):
            link = line.select_one("a[href*='#claim-']")
            assert link is not None
            claim = str(link["href"]).partition("#claim-")[2]
            shown.append(claim)
            record = RECORDS[claim]
            assert record.chapter == chapter
            check_badge(line, record.verdict)
            assert record.finding.startswith(said(line.select_one(".line-finding")))
            if record.value is not None:
                assert said(line.select_one(".line-number")) == number(record).replace("-", "−")
    assert sorted(shown) == sorted(RECORDS)


def test_the_front_page_lists_what_was_recorded(pages):
    listed = {}
    for group in pages["book/intro.html"].select(".score-group"):
        for item in group.select("li"):
            listed[said(item.select_one("code"))] = (str(group["data-verdict"]), item)
    assert set(listed) == set(RECORDS)
    for claim, (verdict, item) in listed.items():
        record = RECORDS[claim]
        assert verdict == record.verdict.replace(" ", "-")
        assert record.finding.startswith(said(item.select_one(".score-finding")))
        assert number(record) in said(item.select_one(".claim-link"))


def test_the_data_hold_what_was_recorded():
    rows: list[dict[str, Any]] = json.loads((SITE / "book" / "ledger.json").read_text("utf8"))
    with (SITE / "book" / "ledger.csv").open(encoding="utf8", newline="") as file:
        lines = {line["id"]: line for line in csv.DictReader(file)}
    assert {row["id"] for row in rows} == set(lines) == set(RECORDS)
    for row in rows:
        record = RECORDS[row["id"]]
        kept = json.loads(record.to_json())
        for field in ("verdict", "finding", "value", "half_width", "why", "parts"):
            assert row[field] == kept[field], f"{row['id']}: {field}"
        for name, control in kept["controls"].items():
            assert {key: row["controls"][name][key] for key in control} == control
        assert lines[row["id"]]["verdict"] == record.verdict
        assert lines[row["id"]]["finding"] == record.finding
        if record.value is not None:
            assert float(lines[row["id"]]["value"]) == record.value
