"""Each template over a ledger with a row of every verdict, reading and kind of control."""

import math
import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from claimbook.site.content import Content
from claimbook.site.views import SIGNS, WIDTH, picture, substitutions
from tests.built_site import words

CHAPTER = "00_mini"
PAGE = f"book/chapters/{CHAPTER}"
OUTCOMES = {"supported": "✓", "contradicted": "✗", "undecided": "?"}
BADGES = {
    "fair-holds": "✓ holds",
    "fair-part": "◐ holds in part damaged text",
    "fair-fails": "✗ fails illegible text",
    "fair-undecided": "? undecided",
    "fair-blunt": "– not testable",
    "fair-ours": "✓ holds",
}
ROWS = tuple(BADGES)


@pytest.fixture
def show(views):
    """Parse what a template makes for a page; a card as it is once it is opened."""

    def show(template, page=PAGE, **context):
        html = views(template, page, **context)
        return BeautifulSoup(re.sub("</?noscript>", "", html), "html.parser")

    return show


@pytest.fixture
def card(show, content):
    return lambda claim: show("card.html", "book/ledger", row=content.by_id[claim])


@pytest.fixture
def line(show, content):
    context = {"anchor": "", "hidden": False, "explained": False}
    return lambda claim: show("line.html", row=content.by_id[claim], **context)


def test_each_chapter_has_the_seed_of_its_own_run():
    other, seeds = Content(), {"00_mini": 0, "01_next": 7}
    records = {
        name: SimpleNamespace(chapter=name, settings={"seed": seeds[name]}) for name in seeds
    }
    vars(other)["records"] = records
    assert [other.seed(name) for name in (*seeds, "02_no_rows")] == [0, 7, None]


def test_a_row_without_a_verdict_stops_the_build(content):
    other = Content()
    known = {name: vars(content)[name] for name in ("claims", "chapters", "runs")}
    vars(other).update(known, records={})
    with pytest.raises(Exception, match="no verdict on fair-holds"):
        other.rows  # noqa: B018


@pytest.mark.parametrize("claim", ROWS)
def test_a_card_says_verdict_and_claim_and_every_comparison_and_a_mark_has_its_sign(
    show, card, content, claim
):
    """The name of a mark is read on the built pages, in tests/book."""
    html, row = card(claim), content.by_id[claim]
    assert words(html.select_one(".claim-head")) == f"{BADGES[claim]} {claim}"
    assert words(html.select_one(".claim-brief"))
    attributes = {"id": claim, "data-chapter": CHAPTER, "data-source": row["document"]}
    attributes["data-reading"] = row["reading"] or ""
    assert attributes.items() <= html.details.attrs.items()
    items = [words(item) for item in html.find("dt", string="Parts").parent.select("li")]
    for text, (name, part) in zip(items, row["parts"].items(), strict=True):
        assert text.startswith(f"{OUTCOMES[part['outcome']]} {name}")
        assert text.endswith(f"({part['outcome']})")
    results = [words(node) for node in html.select(".control-result")]
    for text, control in zip(results, row["controls"].values(), strict=True):
        assert control["outcome"] in text
    sign = show("mark.html", row=row, address="#x", line="line-x").select_one(".sign")
    assert words(sign) == {"not testable": "?"}.get(row["verdict"], SIGNS[row["verdict"]])
    assert ("sign-damaged" in sign["class"]) == ("text" in BADGES[claim])


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("fair-part", "holds; found otherwise: holds in part"),
        ("fair-ours", ": 1.02 (at your settings)"),
        ("fair-holds", "seed 1: holds; seed 2: not holds"),
        ("fair-part", "holds in part for seeds 1, 2"),
        ("fair-fails", "none recorded"),
        ("fair-part", "the first was a guess (abc1234)"),
        ("fair-fails", "the edge is a coincidence"),  # why the audit let it stand
        ("fair-blunt", "too noisy"),  # its note
        ("fair-holds", "wrong on purpose, must be contradicted: the same with"),
        ("fair-holds", "no effect is there, must be left unsupported"),
        ("fair-fails", "the corrected statement, must be supported"),
        ("fair-blunt", "which makes the row not testable"),
        ("fair-part", "1 of 3 parts hold. Contradicted: ReLU. Undecided: cosine."),
        ("fair-blunt", "cannot tell right from wrong"),
        # a source's own words stand as they are printed; a row of ours says who asks
        ("fair-holds", "the window *widens* with _decreasing_ Lipschitzness [1](x)"),
        ("fair-holds", "Author et al., paper (arXiv, code): Theorem 3.4."),
        ("fair-holds", "The text is legible in the copy that we read."),
        ("fair-part", "partly our repair"),
        ("fair-fails", "our reconstruction"),
        ("fair-ours", "Asked by this book (section 2); suggested by paper, Section 4."),
    ],
)
def test_a_card_has_its_facts_and_says_what_came_out_and_who_says_so(card, claim, text):
    assert text in words(card(claim))


def test_a_quotation_has_formulas_and_leads_to_its_source(card):
    """That a row of ours has none is read on the page of the ledger, in tests/book."""
    assert card("fair-holds").find("a", href="https://arxiv.org/abs/0000.00000")
    assert card("fair-holds").blockquote.select("math")


def test_a_line_says_verdict_claim_number_and_source(line):
    text = words(line("fair-holds"))
    assert text.startswith("✓ holds Steeper tasks have a narrower window. Measured: 1.02 ± 0.33 (")
    assert text.endswith("Author et al., paper · evidence")
    assert words(line("fair-ours")).endswith("asked by this book · evidence")
    assert "cannot tell right from wrong" in words(line("fair-blunt"))
    assert line("fair-holds").find("a", href="../ledger.html#fair-holds")


def test_the_line_of_a_logarithm_shows_what_it_is_one_of(line):
    half = 0.05 * 6.62
    middle, low, high = (f"{math.exp(end):.2f}" for end in (1.02, 1.02 - half, 1.02 + half))
    text = words(line("fair-part"))
    measured = f"Measured: {middle}, from {low} to {high} (the change for affine tasks)."
    assert f"Undecided: cosine. {measured}" in text, "a space between the two"
    assert "damaged text So it is for every class of tasks. 1 of 3 parts hold." in text
    assert line("fair-part").svg["aria-label"].startswith("The logarithm 1.02 ± 0.33, to be > 0")


def test_a_notebook_has_the_line_in_markdown(views, content):
    text = views.in_notebook(content.by_id["fair-fails"])
    assert text.startswith("**✗ fails** illegible text **The window narrows with the power two")
    assert "(exponent of $w^*$ in $\\Lambda$; printed $2/9$)." in text
    assert text.endswith("Author, talk")
    ours = views.in_notebook(content.by_id["fair-ours"])
    assert r"**The loss is least at w\*. (at your settings)**" in ours


@pytest.mark.parametrize("claim", ROWS)
def test_a_picture_holds_its_dot_where_the_value_is_allowed(content, claim):
    for part in content.by_id[claim]["parts"].values():
        at = SimpleNamespace(**picture(part))
        assert 0 <= at.start < at.end <= WIDTH
        assert at.low <= at.dot <= at.high
        above, apart = part["value"] > part["bound"], abs(part["value"] - part["bound"])
        inside = {">": above, "<": not above, "=": apart < part["margin"]}[part["test"]]
        assert (at.start < at.dot < at.end) == inside


def test_the_table_of_a_page_leads_to_its_rows(show, content):
    lines = show("checked.html", rows=content.rows).select("tbody tr")
    assert [line["id"] for line in lines] == [f"checked-{claim}" for claim in ROWS]
    assert [line.a["href"] for line in lines] == [f"../ledger.html#{claim}" for claim in ROWS]
    assert words(lines[0].select("td")[2]) == "1.02 ± 0.33 change of w∗ from L=1 to L=2"
    assert words(lines[1].select("td")[2]) == "2.77, from 1.99 to 3.86 the change for affine tasks"


def test_the_scorecard_counts_and_leads_to_the_filtered_ledger(show):
    theirs, ours = show("scorecard.html", "book/intro").select("table")
    heads = [words(head) for head in theirs.select("thead th")]
    assert heads == ["Source", *(f"{SIGNS[one]} {one}" for one in SIGNS)]
    counts = [[words(cell) for cell in line.select("td")] for line in theirs.select("tbody tr")]
    assert list(map("".join, counts)) == ["11011", "00100", "11111"]
    assert [words(cell) for cell in ours.select("td")] == ["1", "0", "0", "0", "0"]
    part = "ledger.html#claims?verdict=holds-in-part&origin=theirs"
    assert theirs.find("a", href=f"{part}&source=paper")
    assert theirs.find("tr", class_="total").find("a", href=part)
    head = theirs.find("th", scope="row")
    assert head.a["href"] == "ledger.html#claims?origin=theirs&source=paper"


def test_the_counts_of_a_chapter_lead_to_its_rows(show, content):
    counts = show("counts.html", argument=CHAPTER)
    assert words(counts).startswith("✓ 2 hold ◐ 1 holds in part ✗ 1 fails ? 1 undecided")
    assert "2 rest on words that our copy of the source shows badly" in words(counts)
    assert counts.find("a", href=f"../ledger.html#claims?chapter={CHAPTER}")
    sound = SimpleNamespace(rows=content.rows[:1])
    assert "badly" not in words(show("counts.html", argument=CHAPTER, content=sound))


def test_the_stamp_says_when_a_page_and_when_the_book_were_computed(show):
    own, whole = (words(show("stamp.html", chapters=[CHAPTER], own=own)) for own in (True, False))
    computed = "computed on 2026-01-02, in 61 s on one core"
    assert own == f"This page was {computed}, at commit abc1234567."
    assert whole == f"The numbers of this book were {computed}."


def test_the_ledger_can_be_filtered_by_all_that_its_rows_have(show):
    groups = show("ledger.html", "book/ledger").select("div.score-filter")
    assert {
        group.button["data-kind"]: [option["data-value"] for option in group.select("button")]
        for group in groups
    } == {
        "verdict": ["holds", "holds-in-part", "fails", "undecided", "not-testable"],
        "origin": ["theirs", "ours"],
        "chapter": ["00_mini"],
        "source": ["paper", "slides"],
        "reading": ["clear", "mangled", "illegible"],
    }


def test_sentences_may_name_numbers_of_the_whole_ledger(content):
    numbers = substitutions(content.rows)
    theirs = [numbers[f"theirs_{name}"] for name in ("hold", "in_part", "fail", "open")]
    assert (numbers["rows_theirs"], theirs) == ("5", ["1", "1", "1", "2"])
    assert (numbers["rows_ours"], numbers["ours_hold"]) == ("1", "1")
    special = [numbers[f"rows_{name}"] for name in ("negative", "damaged", "seen")]
    assert special == ["2", "2", "0"]
    assert (numbers["sampled_parts"], numbers["false_alarms"]) == ("7", "0.00035")
