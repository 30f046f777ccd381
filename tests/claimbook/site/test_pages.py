"""What the pages say of a row of every verdict, reading and kind of control."""

import csv
import html
import io
import json
import math
import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup
from record_page import check_card, check_history, check_line
from small_site import ORIGIN, ROOT, SOUND, Site

from claimbook.ledger import Ledger, Record, format_value, load, outputs, plain
from claimbook.ledger.comparison import greater
from claimbook.runs.notebooks import current
from claimbook.site.downloads import export, portable
from claimbook.site.results import reservation
from iclutils.stats.estimate import Estimate

NOTES = "fair-holds 1 1 0 | holds | 1 2!\nfair-part 1 1 0 | holds in part | 1 2\n"
SEEDS = {
    "fair-holds": {"1": "holds", "2": "not holds"},
    "fair-part": {"1": "holds in part", "2": "holds in part"},
}
EXPLORER = """```{explorer} plateau
:alt: Two curves, "one late".
:settings: done=20&K=100

Turn **it**.
```
"""
COUNTS = ("theirs", "negative", "damaged", "sampled-parts", "false-alarms")


def checked(path):
    """The records of the rows of ``tests/fixtures/fair_claims.yml``."""
    ledger = Ledger(SOUND, path=path, seed=0, trials=400)
    up, down, noisy = (Estimate(value, 0.05, 9) for value in (1.02, -1.07, 0.01))
    slope = Estimate(0.43, 0.004, 9)
    ledger.check("fair-holds", up, controls={"reversed": down, "other-draws": noisy})
    parts = {"affine": up, "ReLU": down, "cosine": noisy}
    ledger.check("fair-part", parts, controls={"reversed": down}, value=up)
    ledger.check("fair-fails", slope, controls={"flat": slope, "corrected": slope})
    wide = Estimate(0.05, 0.1, 9)
    ledger.check("fair-undecided", wide, controls={"shifted": wide})
    ledger.check("fair-blunt", Estimate(-1.02, 0.05, 9), controls={"smaller": noisy})
    turned = Ledger(SOUND, path=path, seed=0, trials=300)  # a run with a turned knob
    turned.check("fair-ours", 1.02, controls={"other": 1.02})
    return [*ledger.records.values(), *turned.records.values()]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("pages"))
    (site.root / "book" / "claims.yml").write_text(
        (ROOT / "tests" / "fixtures" / "fair_claims.yml").read_text(encoding="utf8")
    )
    numbers = "\n\n".join(f"{name} is {{ledger-count}}`{name}`." for name in COUNTS)
    (site.root / "book" / "notes.md").write_text(
        f"# Notes\n\n{numbers}\n\nOne row: {{claim-verdict}}`fair-fails`.\n\n"
        "Its picture: {claim-picture}`fair-fails`.\n\n"
        "Value {claim-value}`fair-part`, factor {claim-value}`fair-part|factor`.\n\n"
        f"{EXPLORER}"
    )
    text = site.chapter.read_text(encoding="utf8")
    site.chapter.write_text(f"{text}\nSee: {{claim-verdict}}`fair-fails`.\n", encoding="utf8")
    (site.root / "tests").mkdir(exist_ok=True)
    (site.root / "tests" / "rows.txt").write_text(NOTES)
    site.ran(checked(site.root / "book" / "claims.yml"))
    return site, site.build().pages


@pytest.fixture(scope="module")
def pages(site):
    """The pages that show verdicts, parsed."""
    names = ("book/ledger", "book/intro", f"book/chapters/{SOUND}")
    return {name: BeautifulSoup(site[1][name], "html.parser") for name in names}


def words(text):
    """The words of a piece of a page."""
    inline = re.sub(r"</?(?:a|code|em|span|p|dt)\b[^>]*>", "", text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", inline)).split())


def card(site, claim, page="book/ledger"):
    text = site[1][page]
    start = text.index(f'id="claim-{claim}"')
    end = text.find('class="claim"', start)
    return words(text[start : end if end > 0 else None])


def test_the_ledger_opens_with_its_filters(site):
    page = site[1]["book/ledger"]
    assert 0 < page.index('class="score-filters"') < page.index("The sources that the rows name")
    assert "<h2>0. " in page


def test_a_card_says_first_what_was_found(site):
    for page in ("book/ledger", f"book/chapters/{SOUND}"):
        said = card(site, "fair-part", page)
        finding = "1 of 3 parts hold. Contradicted: ReLU. Undecided: cosine."
        assert said.index("holds in part") < said.index(finding) < said.index("It does for every")


@pytest.fixture(scope="module")
def records(site):
    small, _ = site
    run = current(small.chapter, small.root)
    return outputs.records(run.notebook)


@pytest.fixture(scope="module")
def rows(site):
    found = plain(load(site[0].root / "book" / "claims.yml"))["chapters"][SOUND]["claims"]
    return {row["id"]: row for row in found}


def test_some_verdicts_are_not_those_that_were_expected(records, rows):
    """Without this the tests below could not tell the one from the other."""
    assert len(rows) == len(records) == 6
    assert any(records[name].verdict != row["expected"] for name, row in rows.items())


def test_every_card_says_what_was_recorded(pages, records, rows):
    for name, row in rows.items():
        found = pages["book/ledger"].find(id=f"claim-{name}")
        record = records[name]
        if record.parts:
            check_card(found, record, row)
        check_history(found, record, row, SEEDS.get(name, {}))


def test_every_verdict_in_place_says_what_was_recorded(pages, records, rows):
    lines = pages[f"book/chapters/{SOUND}"].select("p.verdict-line")
    assert len(lines) == len(records)
    for line, record in zip(lines, records.values(), strict=True):
        assert line.select_one(f"a[href='#claim-{record.id}']")
        check_line(line, record, rows[record.id])


def test_a_number_in_a_sentence_is_of_its_row_and_in_its_form(site, records):
    """It is a logarithm; the factor that it stands for is above one."""
    said = words(site[1]["book/notes"])
    record = records["fair-part"]
    half = record.half_width
    factor = math.exp(record.value)
    value = format_value(record.value, half)
    assert f"Value {value}, factor {format_value(factor, half * factor)}." in said


def test_a_verdict_in_place_is_one_readable_line(site):
    page = site[1][f"book/chapters/{SOUND}"]
    lines = [words(text) for text in re.findall(r'<p class="verdict-line.*?</p>', page, re.DOTALL)]
    claim = "Steeper tasks have a narrower window."
    assert lines[0].startswith(f"✓ holds {claim} Measured: 1.02 ± 0.33 (")
    claim = "So it is for every class of tasks."
    found = "1 of 3 parts hold. Contradicted: ReLU. Undecided: cosine."
    half = 0.05 * 6.62  # Student's t at 9 degrees of freedom
    ends = [f"{math.exp(end):.2f}" for end in (1.02, 1.02 - half, 1.02 + half)]
    number = f"{ends[0]}, from {ends[1]} to {ends[2]}"  # what was compared is its logarithm
    assert f"damaged text {claim} {found} Measured: {number} (the change for" in lines[1]
    assert lines[1].endswith("Author et al., paper · evidence")
    assert lines[5].endswith("asked by this book · evidence")
    assert "fair-holds ·" not in words(page)
    assert 'href="#claim-fair-part"' in page


def test_a_reservation_is_made_where_parts_came_out_differently():
    up, down = greater(1.0), greater(-1.0)
    rest = {"value": 1.0, "half_width": 0.0, "controls": {}, "settings": {}}

    def said(parts, why=""):
        record = Record("c", "i", "holds", parts=parts, default_settings=True, why=why, **rest)
        return reservation(record)

    for simple in ({"": up}, {"": down}, {"a": up, "b": up}):
        assert said(simple) == ""
    assert said({"a": up, "b": down}) == "1 of 2 parts hold. Contradicted: b."
    assert said({"a": up, "b": up}, "a control holds")


def test_a_verdict_in_place_shows_its_interval_beside_what_was_allowed(site):
    page = site[1][f"book/chapters/{SOUND}"]
    pictures = re.findall(r'<svg class="interval".*?</svg>', page)
    (fails,) = [one for one in pictures if "to be = 0.2222 to within 0.05" in one]
    assert "Measured 0.430 ± " in fails
    assert any('aria-label="The logarithm 1.02 ± 0.33, to be' in one for one in pictures)
    assert 'within 0.05: outside the allowed range"' in fails
    assert "<title>dot and bar: measured, with its interval; shaded: the allowed range" in fails
    assert f"Its picture: {fails}." in site[1]["book/notes"]


def test_the_first_verdict_of_a_page_leads_to_how_such_a_line_is_read(site):
    page = site[1][f"book/chapters/{SOUND}"]
    lines = re.findall(r'<p class="verdict-line.*?</p>', page, re.DOTALL)
    leading = [line for line in lines if "how to read this line" in line]
    assert leading == lines[:1]
    assert 'href="../intro.html#reading-a-verdict"' in leading[0]
    assert "(reading-a-verdict)=" in (ROOT / "book/intro.md").read_text(encoding="utf8")


def test_the_source_s_own_words_stand_as_they_are_printed(site):
    said = card(site, "fair-holds")
    assert "the window *widens* with _decreasing_ Lipschitzness [1](x)" in said
    assert "Author et al., paper (arXiv, code): Theorem 3.4" in said
    assert "The text is legible in the copy that we read." in said
    assert 'href="https://arxiv.org/abs/0000.00000"' in site[1]["book/ledger"]
    assert "partly our repair" in card(site, "fair-part")
    assert "our reconstruction" in card(site, "fair-fails")


def test_what_rests_on_damaged_text_says_so_beside_its_verdict(site, pages):
    assert "✗ fails illegible text fair-fails" in words(site[1]["book/notes"])
    # a main page is read, so that there stands a mark, with a ring for the text
    (mark,) = pages[f"book/chapters/{SOUND}"].select("a.judged[href='#claim-fair-fails']")
    assert mark["aria-label"].startswith("fails: ")
    assert "sign-damaged" in mark.select_one(".sign")["class"]
    front = words(site[1]["book/intro"])
    assert "illegible text Author, talk: slide 7" in front
    assert "damaged text Author et al., paper: Figure 3" in front
    counts = "Of those that do not hold in full, 2 rest on words that our copy of the source shows"
    assert counts in words(site[1][f"book/chapters/{SOUND}"])


def test_a_row_of_ours_says_who_asks(site):
    said = card(site, "fair-ours")
    assert "Asked by this book (section 2); suggested by paper, Section 4." in said
    assert "“" not in said


def test_each_control_says_what_was_demanded_and_what_happened(site):
    said = card(site, "fair-holds")
    assert "wrong on purpose, must be contradicted: the same with" in said
    assert "→ −1.07 ± 0.33 > 0: rejected: contradicted, as it must be" in said
    assert "no effect is there, must be left unsupported: the same" in said
    assert "→ 0.01 ± 0.33 > 0: undecided: no effect found, as it must be" in said
    said = card(site, "fair-fails")
    assert "the corrected statement, must be supported: the exponent" in said
    assert "to within 0.05: supported, as it must be" in said
    assert "Let stand by the audit the edge is a coincidence" in said
    said = card(site, "fair-blunt")
    assert "undecided: not told from the truth, which makes the row not testable" in said
    assert "rejected" not in said


def test_changes_are_listed_with_date_reason_and_commit(site):
    said = card(site, "fair-part")
    assert "2026-11-21: the margin, from" in said
    assert "; because: the first was a guess (abc1234)" in said
    assert "2026-11-22: ten trials more; because: undecided before" in said
    assert "Changed after" not in card(site, "fair-holds")




def test_the_notebook_has_the_verdicts_in_words(site):
    path = site[0].html / "book" / "downloads" / f"{SOUND}.ipynb"
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    shown = [output["data"] for cell in cells for output in cell.get("outputs", [])]
    said = ["".join(data["text/markdown"]) for data in shown if "text/markdown" in data]
    claim = "Steeper tasks have a narrower window."
    assert said[0].startswith(f"**✓ holds** **{claim}** Measured: 1.02 ± 0.33")
    assert len(said) == 6
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    claim = "So it is for every class of tasks."
    assert f"**◐ holds in part** `fair-part`: {claim} 1 of 3 parts hold." in text
    assert not portable.RAW.search(text)


def test_an_explorer_brings_its_scripts_to_its_page_alone(site):
    page = site[1]["book/notes"]
    scripts = re.findall(r'<script defer="defer" src="\.\./_static/explorers/(\w+)\.js', page)
    assert scripts[0] == "numbers"
    assert scripts[-3:] == ["stages_theory", "plateau", "start"]
    assert "_static/explorers.css" in page
    assert "<p>Turn <strong>it</strong>.</p>" in page
    (place,) = re.findall(r'<div class="explorer" data-explorer="plateau"[^>]*>', page)
    assert 'data-settings="done=20&amp;K=100"' in place
    assert 'Two curves, &quot;one late&quot;.</noscript>' in page
    assert "_static/explorers" not in site[1]["book/intro"]


def test_the_two_scorecards_are_counted_apart(site):
    page = site[1]["book/intro"]
    tables = [words(text) for text in re.findall(r"<table.*?</table>", page, re.DOTALL)]
    assert len(tables) == 4  # by source and by chapter
    assert tables[0].startswith("What the sources print")
    assert tables[1].startswith("What this book adds")
    assert "All" not in tables[1]


def test_the_scorecards_count_and_list_what_was_recorded(pages, records, rows):
    page = pages["book/intro"]
    counts = Counter()
    for link in page.select("table.scorecard td a[data-source]"):
        key = (link["data-origin"], link["data-source"], link["data-verdict"])
        counts[key] += int(re.match(r"\d+", link.get_text())[0])
    expected = Counter()
    for name, row in rows.items():
        source = row["source"]["document"]
        verdict = records[name].verdict.replace(" ", "-")
        if source == "ours":
            expected["ours", source, verdict] += 1
        else:
            expected.update([("theirs", source, verdict), ("theirs", "", verdict)])  # and in all
    assert counts == expected
    for group in page.select(".score-group"):
        listed = {item.get_text() for item in group.select("li code")}
        verdict = group["data-verdict"].replace("-", " ")
        assert listed == {name for name, record in records.items() if record.verdict == verdict}


def test_the_ledger_is_counted_in_sentences(site):
    said = words(site[1]["book/notes"])
    for count in (
        "theirs is 5.",
        "negative is 2.",
        "damaged is 2.",
        "sampled-parts is 7.",
        "false-alarms is 1 book in 2900.",
    ):
        assert count in said


def test_the_data_have_all_of_it(site):
    folder = site[0].html / "book"
    rows = json.loads((folder / "ledger.json").read_text(encoding="utf8"))
    found = {row["id"]: row for row in rows}
    assert found["fair-holds"]["printed"][1] == "at the rate $L^{2/9}$ … [or faster]"
    assert found["fair-part"]["printed"] == ["for [all] tasks"]
    assert (found["fair-ours"]["printed"], found["fair-ours"]["reading"]) == ([], None)
    assert found["fair-ours"]["suggested_by"] == "paper, Section 4"
    assert found["fair-part"]["amended"][0]["date"] == "2026-11-21"
    assert found["fair-part"]["finding"].startswith("1 of 3 parts hold.")
    control = found["fair-fails"]["controls"]["corrected"]
    assert (control["kind"], control["outcome"]) == ("right", "supported")
    assert found["fair-fails"]["quantity"].startswith("exponent of")
    small = current(site[0].chapter, site[0].root)
    for name, row in found.items():
        assert row["seeds"] == SEEDS.get(name, {})
        assert row["chapter_seconds"] == small.seconds == 45.0
        assert {key: row[key] for key in export.ORIGIN} == {
            key: ORIGIN[key] for key in export.ORIGIN
        }
    lines = list(csv.DictReader(io.StringIO((folder / "ledger.csv").read_text(encoding="utf8"))))
    assert [line["id"] for line in lines] == list(found)
    assert json.loads(lines[0]["printed"]) == found["fair-holds"]["printed"]
