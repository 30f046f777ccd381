"""Each template over a ledger with a row of every verdict, reading and kind of control."""

import math
import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from claimbook.site.content import Content
from claimbook.site.views import SIGNS, WIDTH, picture, substitutions

CHAPTER = "00_mini"
PAGE = f"book/chapters/{CHAPTER}"
OUTCOMES = {"supported": "✓", "contradicted": "✗", "undecided": "?"}
ROWS = ("fair-holds", "fair-part", "fair-fails", "fair-undecided", "fair-blunt", "fair-ours")
BADGES = {
    "fair-holds": "✓ holds",
    "fair-part": "◐ holds in part damaged text",
    "fair-fails": "✗ fails illegible text",
    "fair-undecided": "? undecided",
    "fair-blunt": "– not testable",
    "fair-ours": "✓ holds",
}


def said(node):
    """The words of a piece of a page, without the glyphs of formulas."""
    for glyphs in node.select(".katex-html, annotation"):
        glyphs.decompose()
    return " ".join(node.get_text().split())


@pytest.fixture
def show(views):
    """What a template makes for a page, parsed; a card as it is once it is opened."""

    def show(template, page=PAGE, **given):
        html = views(template, page, **given)
        return BeautifulSoup(re.sub("</?noscript>", "", html), "html.parser")

    return show


@pytest.fixture
def card(show, content):
    return lambda claim: show("card.html", "book/ledger", row=content.by_id[claim])


@pytest.fixture
def line(show, content):
    def line(claim, **given):
        given = {"anchor": "", "hidden": False, "explained": False} | given
        return show("line.html", row=content.by_id[claim], **given)

    return line


def facts(card):
    return {said(line.dt): said(line.dd) for line in card.select("dl.claim-facts > div")}


# ---------------------------------------------------------------- the rows


def test_the_rows_hold_what_was_written_and_what_was_found(content):
    assert tuple(content.by_id) == ROWS
    row = content.by_id["fair-part"]
    assert row["anchor"] == "ledger.html#fair-part"
    assert (row["verdict"], row["expected"]) == ("holds in part", "holds")
    assert row["criterion"] == {"*": "> 0"}
    assert row["printed"] == ["for [all] tasks"]
    assert [change["date"] for change in row["amended"]] == ["2026-11-21", "2026-11-22"]
    assert row["controls"]["reversed"]["outcome"] == "contradicted"
    assert (row["seed"], row["commit"], row["chapter_seconds"]) == (0, "abc1234567", 61.2)


def test_a_row_without_a_verdict_stops_the_build(content):
    other = Content()
    known = {name: vars(content)[name] for name in ("claims", "chapters", "runs")}
    vars(other).update(known, records={})
    with pytest.raises(Exception, match="no verdict on fair-holds"):
        other.rows  # noqa: B018


# ---------------------------------------------------------------- the card


@pytest.mark.parametrize("claim", ROWS)
def test_a_card_opens_by_its_id_and_says_verdict_and_claim(card, content, claim):
    found, row = card(claim), content.by_id[claim]
    assert said(found.select_one(".claim-head")) == f"{BADGES[claim]} {claim}"
    assert said(found.select_one(".claim-brief"))
    given = {"chapter": CHAPTER, "source": row["document"], "reading": row["reading"] or ""}
    assert given.items() <= {key[5:]: value for key, value in found.details.attrs.items()}.items()
    assert found.details["id"] == claim


@pytest.mark.parametrize("claim", ROWS)
def test_a_card_has_every_comparison_with_its_outcome(card, content, claim):
    found, row = card(claim), content.by_id[claim]
    items = [said(item) for item in found.find("dt", string="Parts").parent.select("li")]
    for text, (name, part) in zip(items, row["parts"].items(), strict=True):
        assert text.startswith(f"{OUTCOMES[part['outcome']]} {name}")
        assert text.endswith(f"({part['outcome']})")
    results = [said(node) for node in found.select(".control-result")]
    for text, control in zip(results, row["controls"].values(), strict=True):
        assert control["outcome"] in text


def test_a_card_says_what_holds_and_what_was_expected(card):
    found = card("fair-part")
    finding = "1 of 3 parts hold. Contradicted: ReLU. Undecided: cosine."
    assert said(found.select_one(".claim-finding")) == finding
    assert facts(found)["Expected before measuring"] == "holds; found otherwise: holds in part"
    assert facts(card("fair-fails"))["Expected before measuring"] == "fails"
    assert "cannot tell right from wrong" in said(card("fair-blunt"))
    assert facts(card("fair-ours"))["Measured"].endswith("1.02 (at your settings)")


def test_a_card_lists_other_seeds_and_changes(card):
    other = "Other master seeds"
    assert facts(card("fair-holds"))[other] == "seed 1: holds; seed 2: not holds"
    assert facts(card("fair-part"))[other] == "holds in part for seeds 1, 2"
    assert facts(card("fair-fails"))[other] == "none recorded"
    changes = facts(card("fair-part"))["Changed after a first number was seen"]
    assert "2026-11-21: the margin" in changes
    assert "because: the first was a guess (abc1234)" in changes
    assert facts(card("fair-fails"))["Let stand by the audit"] == "the edge is a coincidence"
    assert facts(card("fair-blunt"))["Note"] == "too noisy"


def test_the_source_s_own_words_stand_as_they_are_printed(card):
    found = card("fair-holds")
    printed = said(found.blockquote)
    assert "the window *widens* with _decreasing_ Lipschitzness [1](x)" in printed
    assert "Author et al., paper (arXiv, code): Theorem 3.4." in printed
    assert printed.endswith("The text is legible in the copy that we read.")
    assert found.find("a", href="https://arxiv.org/abs/0000.00000")
    assert found.blockquote.select("math")
    assert "partly our repair" in said(card("fair-part"))
    assert "our reconstruction" in said(card("fair-fails"))


def test_a_row_of_ours_says_who_asks(card):
    found = card("fair-ours")
    assert "Asked by this book (section 2); suggested by paper, Section 4." in said(found)
    assert not found.blockquote


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("fair-holds", "wrong on purpose, must be contradicted: the same with"),
        ("fair-holds", "rejected: contradicted, as it must be"),
        ("fair-holds", "no effect is there, must be left unsupported"),
        ("fair-holds", "undecided: no effect found, as it must be"),
        ("fair-fails", "the corrected statement, must be supported"),
        ("fair-blunt", "which makes the row not testable"),
    ],
)
def test_each_control_says_what_was_demanded_and_what_happened(card, claim, words):
    assert words in facts(card(claim))["Controls"]


# ---------------------------------------------------------------- the line and the mark


def test_a_line_says_verdict_claim_number_and_source(line):
    found = said(line("fair-holds"))
    assert found.startswith("✓ holds Steeper tasks have a narrower window. Measured: 1.02 ± 0.33 (")
    assert found.endswith("Author et al., paper · evidence")
    assert said(line("fair-ours")).endswith("asked by this book · evidence")
    assert line("fair-holds").find("a", href="../ledger.html#fair-holds")


def test_the_line_of_a_logarithm_shows_what_it_is_one_of(line):
    half = 0.05 * 6.62
    middle, low, high = (f"{math.exp(end):.2f}" for end in (1.02, 1.02 - half, 1.02 + half))
    found = said(line("fair-part"))
    assert f"Measured: {middle}, from {low} to {high} (the change for affine tasks)." in found
    assert "damaged text So it is for every class of tasks. 1 of 3 parts hold." in found
    assert "Tightest of 3 parts: " in found
    assert line("fair-part").svg["aria-label"].startswith("The logarithm 1.02 ± 0.33, to be > 0")


def test_a_line_is_hidden_named_and_explained_as_it_is_asked_to(line):
    found = line("fair-holds", anchor="line-fair-holds", hidden=True, explained=True)
    assert found.p.has_attr("hidden")
    assert found.p["id"] == "line-fair-holds"
    assert found.find("a", string="how to read this line")
    plain = line("fair-holds").p
    assert not plain.has_attr("hidden")
    assert not plain.has_attr("id")


@pytest.mark.parametrize("claim", ROWS)
def test_a_mark_has_the_sign_of_its_verdict_and_a_name(show, content, claim):
    row = content.by_id[claim]
    mark = show("mark.html", row=row, address="#x", line="line-x").a
    sign = {"not testable": "?"}.get(row["verdict"], SIGNS[row["verdict"]])
    assert said(mark.select_one(".sign")) == sign
    assert mark["aria-label"] == f"{row['verdict']}: {row['brief']}"
    assert ("sign-damaged" in mark.select_one(".sign")["class"]) == ("text" in BADGES[claim])


def test_a_notebook_has_the_line_in_markdown(views, content):
    found = views.in_notebook(content.by_id["fair-fails"])
    assert found.startswith("**✗ fails** illegible text **The window narrows with the power two")
    assert "(exponent of $w^*$ in $\\Lambda$; printed $2/9$)." in found
    assert found.endswith("Author, talk")
    assert r"**The loss is least at w\*. (at your settings)**" in views.in_notebook(
        content.by_id["fair-ours"]
    )


@pytest.mark.parametrize("claim", ROWS)
def test_a_picture_holds_its_dot_where_the_value_is_allowed(content, claim):
    for part in content.by_id[claim]["parts"].values():
        at = SimpleNamespace(**picture(part))
        assert 0 <= at.start < at.end <= WIDTH
        assert at.low <= at.dot <= at.high
        above, apart = part["value"] > part["bound"], abs(part["value"] - part["bound"])
        inside = {">": above, "<": not above, "=": apart < part["margin"]}[part["test"]]
        assert (at.start < at.dot < at.end) == inside


# ---------------------------------------------------------------- tables and counts


def test_the_table_of_a_page_leads_to_its_rows(show, content):
    found = show("checked.html", rows=content.rows)
    lines = found.select("tbody tr")
    assert [line["id"] for line in lines] == [f"checked-{claim}" for claim in ROWS]
    assert [line.a["href"] for line in lines] == [f"../ledger.html#{claim}" for claim in ROWS]
    assert said(lines[0].select("td")[2]) == "1.0 change of w∗ from L=1 to L=2"
    assert said(lines[1].select("td")[2]) == "2.8 the change for affine tasks"


def test_the_scorecard_counts_and_leads_to_the_filtered_ledger(show, content):
    found = show("scorecard.html", "book/intro")
    theirs, ours = found.select("table")
    heads = [said(head) for head in theirs.select("thead th")]
    assert heads == ["Source", *(f"{SIGNS[one]} {one}" for one in SIGNS)]
    counts = [[said(cell) for cell in line.select("td")] for line in theirs.select("tbody tr")]
    assert list(map("".join, counts)) == ["11011", "00100", "11111"]
    assert [said(cell) for cell in ours.select("td")] == ["1", "0", "0", "0", "0"]
    part = "ledger.html#claims?verdict=holds-in-part&origin=theirs"
    assert theirs.find("a", href=f"{part}&source=paper")
    assert theirs.find("tr", class_="total").find("a", href=part)
    head = theirs.find("th", scope="row")
    assert head.a["href"] == "ledger.html#claims?origin=theirs&source=paper"


def test_the_counts_of_a_chapter_lead_to_its_rows(show, content):
    given = {"rows": content.rows, "chapter": CHAPTER}
    found = show("counts.html", damaged=2, **given)
    assert said(found).startswith("✓ 2 hold ◐ 1 holds in part ✗ 1 fails ? 1 undecided")
    assert "2 rest on words that our copy of the source shows badly" in said(found)
    assert found.find("a", href=f"../ledger.html#claims?chapter={CHAPTER}")
    assert "badly" not in said(show("counts.html", damaged=0, **given))


def test_the_times_of_the_runs(show):
    first, last = show("run-times.html", "book/downloads").select("tbody tr")
    cells = ["0. The mean of a sample", "61 s", "0", "agrees with its reference values"]
    assert [said(cell) for cell in first.select("th, td")] == cells
    assert said(last).startswith("all pages, one after the other61 s")


@pytest.mark.parametrize(("seconds", "words"), [(7.4, "7 s"), (119.0, "119 s"), (300.0, "5 min")])
def test_a_duration(views, seconds, words):
    macros = views.environment.get_template("macros.html").module
    assert macros.duration(seconds) == words


def test_the_stamp_says_when_a_page_was_computed(show):
    stamp = show("stamp.html", chapters=[CHAPTER], own=True)
    when = "computed on 2026-01-02, in 61 s on one core"
    assert said(stamp) == f"This page was {when}, at commit abc1234567."
    stamp = show("stamp.html", chapters=[CHAPTER], own=False)
    assert said(stamp) == f"The numbers of this book were {when}."


def test_the_ledger_can_be_filtered_by_all_that_its_rows_have(show):
    options = show("ledger.html", "book/ledger").select("button[data-kind]")
    found = {}
    for option in options:
        found.setdefault(option["data-kind"], []).append(option["data-value"])
    assert found == {
        "verdict": ["holds", "holds-in-part", "fails", "undecided", "not-testable"],
        "origin": ["theirs", "ours"],
        "chapter": ["00_mini"],
        "source": ["paper", "slides"],
        "reading": ["clear", "mangled", "illegible"],
    }


def test_sentences_may_name_numbers_of_the_whole_ledger(content):
    assert substitutions(content.rows) == {
        "rows_theirs": "5",
        "theirs_hold": "1",
        "theirs_in_part": "1",
        "theirs_fail": "1",
        "theirs_open": "2",
        "rows_ours": "1",
        "ours_hold": "1",
        "rows_negative": "2",
        "rows_damaged": "2",
        "rows_seen": "0",
        "sampled_parts": "7",
        "false_alarms": "1 book in 2900",
    }
