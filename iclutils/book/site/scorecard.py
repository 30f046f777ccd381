"""The scorecard of the front page.

``{scorecard}`` counts the rows by verdict, what the sources print apart from what we add, and
lists every row under its verdict. Without JavaScript that is tables of links into folded lists;
``_static/scorecard.js`` makes filters of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from docutils.nodes import Element, Node

from iclutils.book.ledger import VERDICTS
from iclutils.book.ledger.finding import what_came_out
from iclutils.book.site.build import Build
from iclutils.book.site.ledger import LedgerDirective
from iclutils.book.site.nodes import SIGNS, badge, from_run, html_tag, slug, spaced, tag, unseen
from iclutils.book.site.page import Page
from iclutils.book.site.results import Scored, value_text
from iclutils.book.site.words import damage, is_ours, short_name, source_text


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


def half_of(row: Mapping[str, Any]) -> Half:
    """The scorecard that a row belongs to."""
    return OURS if is_ours(row) else THEIRS


class Scorecard(LedgerDirective):
    """Counts by source, chapter and verdict, then every row under its verdict.

    The statements are parsed when the page is read; rows are sorted when it is written.
    """

    def run(self) -> list[Node]:
        """A place that holds the statements of all rows."""
        build = self.prepare()
        statements = []
        for _, row in build.entries.values():
            source = source_text(build.ledger["documents"], row)
            statement = self.markdown(row["statement"])
            statements.append(tag("p", *statement, source=source, claim=row["id"]))
        return [from_run("", *statements, what="scorecard")]


def number(chapter: str) -> str:
    """A chapter's number as its file is numbered: 01_… is 1, 05b_… is 5b."""
    return chapter.partition("_")[0].lstrip("0")


def scorecard(page: Page, node: Element) -> Sequence[Node | str]:
    """The counts, the filters and the rows."""
    build = page.build
    sources = used_sources(build)
    titles = {
        chapter: f"{number(chapter)}. {heading}" for chapter, heading in build.headings.items()
    }
    by_source = [matrix(half, "source", sources, build.scored) for half in HALVES]
    by_chapter = [matrix(half, "chapter", titles, build.scored) for half in HALVES]
    summary = tag("summary", "The same by chapter")
    statements = {child["attributes"]["claim"]: child for child in node.children}
    groups = [
        group
        for verdict in VERDICTS
        if (group := verdict_group(page, verdict, statements)) is not None
    ]
    return [
        *by_source,
        tag("details", summary, *by_chapter, classes=["score-chapters"]),
        filters(build, sources),
        tag("div", *groups, classes=["score-list"]),
    ]


def used_sources(build: Build) -> dict[str, str]:
    """The short names of the documents that some scored row comes from."""
    used = {scored.row["source"]["document"] for scored in build.scored}
    return {
        key: short_name(document)
        for key, document in build.ledger["documents"].items()
        if key in used
    }


# -------------------------------------------------------------- the counts


def matrix(half: Half, kind: str, names: Mapping[str, str], rows: Sequence[Scored]) -> html_tag:
    """Counts of one half by verdict, one line a key; each number is a link to what it counts.

    ``kind`` is what the lines are (``source`` or ``chapter``), ``names`` says each key in words;
    keys that no row of this half has are left out.
    """
    counts = {key: dict.fromkeys(VERDICTS, 0) for key in names}
    totals = dict.fromkeys(VERDICTS, 0)
    for scored in rows:
        if half_of(scored.row) is half:
            key = scored.chapter if kind == "chapter" else scored.row["source"]["document"]
            counts[key][scored.record.verdict] += 1
            totals[scored.record.verdict] += 1
    heads = [tag("th", badge(verdict), scope="col") for verdict in VERDICTS]
    head = tag("tr", tag("th", kind.capitalize(), scope="col"), *heads)
    lines = [
        matrix_line(half, kind, key, names[key], found)
        for key, found in counts.items()
        if any(found.values())
    ]
    if len(lines) > 1:
        total = matrix_line(half, kind, "", half.total, totals)
        total["classes"].append("total")
        lines.append(total)
    hint = unseen(f": claims by {kind} and verdict; a number leads to its claims")
    table = tag(
        "table",
        tag("caption", half.heading, hint, classes=["score-heading"]),
        tag("thead", head),
        tag("tbody", *lines),
        classes=["scorecard"],
    )
    label = f"Table: {half.heading}, by {kind} and verdict"
    classes = ["scorecard-frame"]
    return tag("div", table, classes=classes, tabindex="0", role="group", aria_label=label)


def matrix_line(half: Half, kind: str, key: str, name: str, counts: Mapping[str, int]) -> html_tag:
    """One line of the counts."""
    cells = []
    for verdict, count in counts.items():
        if count == 0:
            cells.append(tag("td", "0", classes=["none"]))
            continue
        hint = unseen(f" {verdict}, {name}")
        data = {"data_verdict": slug(verdict), "data_origin": half.key, f"data_{kind}": key}
        link = tag("a", str(count), hint, href=f"#score-{slug(verdict)}", **data)
        cells.append(tag("td", link))
    return tag("tr", tag("th", name, scope="row"), *cells)


# -------------------------------------------------------------- the rows


def verdict_group(page: Page, verdict: str, statements: Mapping[str, html_tag]) -> html_tag | None:
    """The rows with one verdict, folded; None where there are none."""
    found = [scored for scored in page.build.scored if scored.record.verdict == verdict]
    if not found:
        return None
    what = "claim" if len(found) == 1 else "claims"
    count = tag("span", f"{len(found)} {what}", classes=["score-number"])
    summary = tag("summary", badge(verdict), " ", count)
    items = [score_item(page, scored, statements[scored.row["id"]]) for scored in found]
    rows = tag("ul", *items, ids=[f"score-{slug(verdict)}"])
    return tag("details", summary, rows, classes=["score-group"], data_verdict=slug(verdict))


def score_item(page: Page, scored: Scored, statement: html_tag) -> html_tag:
    """One row: its statement, what was found, then source, chapter, evidence and value."""
    chapter, row, record = scored
    where = tag("a", tag("code", row["id"]), href=page.to_chapter(chapter, row["id"]))
    source = f"{statement['attributes']['source']} · chapter {number(chapter)} · "
    found = what_came_out(record.parts, record.why) if record.parts else record.finding
    facts = tag(
        "span",
        *spaced(damage(row)),
        source,
        where,
        f" · {value_text(record)}",
        classes=["claim-link"],
    )
    data = {
        "data_source": row["source"]["document"],
        "data_chapter": chapter,
        "data_origin": half_of(row).key,
    }
    finding = tag("span", found, classes=["score-finding"])
    return tag("li", *statement.children, " ", finding, " ", facts, **data)


# -------------------------------------------------------------- the filters


def filters(build: Build, sources: Mapping[str, str]) -> html_tag:
    """Buttons for the script; hidden where there is none."""
    verdicts = [
        Option(slug(verdict), [tag("span", SIGNS[verdict], aria_hidden="true"), f" {verdict}"])
        for verdict in VERDICTS
    ]
    chapters = [
        Option(chapter, [unseen("chapter "), number(chapter), unseen(f", {heading},")])
        for chapter, heading in build.headings.items()
    ]
    documents = [Option(key, [name]) for key, name in sources.items() if key != OURS.key]
    halves = [Option(half.key, [half.button]) for half in HALVES]
    clear = tag("button", "Show all", type="button", classes=["score-clear"])
    status = tag("p", role="status", classes=["score-status"])
    return tag(
        "div",
        filter_group("verdict", verdicts),
        filter_group("origin", halves),
        filter_group("chapter", chapters),
        filter_group("source", documents),
        tag("div", clear, status, classes=["score-said"]),
        classes=["score-filters"],
        hidden="hidden",
    )


def filter_group(kind: str, options: Sequence[Option]) -> html_tag:
    """The buttons that choose by verdict, whose statement it is, chapter or source."""
    name = "Said by" if kind == "origin" else kind.capitalize()
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
