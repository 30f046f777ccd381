"""Filters over a list of the ledger's rows: on the front page, and on the page of the ledger.

A row is chosen by its attributes (:func:`filtered_by`) and by the verdict on its badge;
``_static/scorecard.js`` does it, and keeps the choice in the address.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from docutils.nodes import Element, Node

from claimbook.pages import first_page, is_second
from claimbook.site.content import Content, label
from claimbook.site.nodes import SIGNS, html_tag, slug, tag, unseen
from claimbook.site.page import Page
from claimbook.site.verdicts.counts import given
from claimbook.site.words import CLEAR, READINGS, is_ours, short_name


class Option(NamedTuple):
    """One button of a filter: the value that it chooses, and what stands on it."""

    value: str
    words: Sequence[Node | str]


class Half(NamedTuple):
    """One of the two scorecards: whose statements, in a heading, in a total, and on a button."""

    key: str
    heading: str
    total: str
    button: str


THEIRS = Half("theirs", "What the sources print", "All that the sources print", "the sources")
OURS = Half("ours", "What this book adds", "All that this book adds", "this book")
HALVES = (THEIRS, OURS)
NAMES = {"origin": "Said by", "reading": "Our copy"}  # of the filters that are not named by kind


def half_of(row: Mapping[str, Any]) -> Half:
    """The scorecard that a row belongs to."""
    return OURS if is_ours(row) else THEIRS


def filtered_by(chapter: str, row: Mapping[str, Any]) -> dict[str, str]:
    """What a row is chosen by, as attributes; its verdict stands on its badge."""
    return {
        "data_source": row["source"]["document"],
        "data_chapter": first_page(chapter),
        "data_origin": half_of(row).key,
        "data_reading": row["source"].get("reading", ""),  # what we ask ourselves was not read
    }


def used_sources(content: Content) -> dict[str, str]:
    """The short names of the documents that some scored row comes from."""
    used = {scored.row["source"]["document"] for scored in content.scored}
    return {
        key: short_name(document)
        for key, document in content.ledger["documents"].items()
        if key in used
    }


def score_filters(page: Page, node: Element) -> Sequence[Node | str]:
    """The filters alone, for a page that has its own list of rows."""
    return [filters(page.content)]


def filters(content: Content) -> html_tag:
    """A field and buttons for the script; scorecard.css hides them where there is none."""
    verdicts = [
        Option(slug(verdict), [tag("span", SIGNS[verdict], aria_hidden="true"), f" {verdict}"])
        for verdict in given(content.scored)
    ]
    chapters = []
    for chapter, heading in content.headings.items():
        title = heading.partition(".")[2]
        if not is_second(chapter):
            words = [unseen("chapter "), label(chapter), unseen(f"{title},")]
            chapters.append(Option(chapter, words))
    sources = used_sources(content)
    documents = [Option(key, [name]) for key, name in sources.items() if key != OURS.key]
    readings = [Option(CLEAR, ["clear"]), *(Option(key, [name]) for key, name in READINGS.items())]
    halves = [Option(half.key, [half.button]) for half in HALVES]
    clear = tag("button", "Show all", type="button", classes=["score-clear"])
    status = tag("p", role="status", classes=["score-status"])
    name = tag("span", "Words", classes=["score-label"])
    field = tag("input", type="search", classes=["score-words"])
    return tag(
        "div",
        tag("label", name, field, classes=["score-filter"]),
        filter_group("verdict", verdicts),
        filter_group("origin", halves),
        filter_group("chapter", chapters),
        filter_group("source", documents),
        filter_group("reading", readings),
        tag("div", clear, status, classes=["score-said"]),
        classes=["score-filters"],
    )


def filter_group(kind: str, options: Sequence[Option]) -> html_tag:
    """The buttons that choose by one kind of thing."""
    name = NAMES.get(kind, kind.capitalize())
    label = tag("span", name, classes=["score-label"], aria_hidden="true")
    buttons = []
    for value, words in options:
        count = tag("span", classes=["score-count"])
        data = {"data_kind": kind, "data_value": value}
        buttons.append(
            tag("button", *words, " ", count, type="button", aria_pressed="false", **data)
        )
    classes = ["score-filter"]
    return tag("div", label, *buttons, role="group", classes=classes, aria_label=name)
