"""The scorecard of the front page.

``{scorecard}`` counts the rows by verdict, what the sources print apart from what we add, and
lists every row under its verdict. Without JavaScript that is tables of links into folded lists;
``_static/scorecard.js`` makes filters of it, here and on the page of the ledger.
"""

from collections.abc import Mapping, Sequence

from docutils.nodes import Element, Node

from claimbook.pages import first_page, is_second
from claimbook.site.content import label
from claimbook.site.nodes import badge, html_tag, slug, spaced, tag, unseen
from claimbook.site.page import Page
from claimbook.site.results import Scored, reservation
from claimbook.site.verdicts.counts import given
from claimbook.site.verdicts.filters import (
    HALVES,
    THEIRS,
    Half,
    filtered_by,
    filters,
    half_of,
    used_sources,
)
from claimbook.site.words import damage, source_text


def scorecard(page: Page, node: Element) -> Sequence[Node | str]:
    """The counts, the filters and the rows."""
    content = page.content
    sources = used_sources(content)
    titles = {
        chapter: heading for chapter, heading in content.headings.items() if not is_second(chapter)
    }
    by_source = [matrix(half, "source", sources, content.scored) for half in HALVES]
    by_chapter = [matrix(half, "chapter", titles, content.scored) for half in HALVES]
    summary = tag("summary", "The same by chapter")
    # what does not hold stands first
    groups = [verdict_group(page, verdict) for verdict in reversed(given(content.scored))]
    return [
        *by_source,
        said_of(content.scored, sources),
        tag("details", summary, *by_chapter, classes=["score-chapters"]),
        filters(content),
        tag("div", *groups, classes=["score-list"]),
    ]


def said_of(rows: Sequence[Scored], sources: Mapping[str, str]) -> html_tag:
    """For whoever wrote one of the sources: a link to all that is said of it."""
    theirs = {scored.row["source"]["document"] for scored in rows if half_of(scored.row) is THEIRS}
    worst = given(rows)[-1] if rows else ""
    links: list[Node | str] = []
    for key in (key for key in sources if key in theirs):
        links += ["; " if links else "Each link shows all that is said of one source: "]
        links += [tag("a", sources[key], href=f"#score-{slug(worst)}", data_source=key)]
    return tag("p", *links, ". What does not hold stands first.", classes=["score-authors"])


# -------------------------------------------------------------- the counts


def matrix(half: Half, kind: str, names: Mapping[str, str], rows: Sequence[Scored]) -> html_tag:
    """Counts of one half by verdict, one line a key; each number is a link to what it counts.

    ``kind`` is what the lines are (``source`` or ``chapter``), ``names`` says each key in words;
    keys that no row of this half has are left out, and verdicts that no row of either half has.
    """
    verdicts = given(rows)
    counts = {key: dict.fromkeys(verdicts, 0) for key in names}
    totals = dict.fromkeys(verdicts, 0)
    for scored in rows:
        if half_of(scored.row) is half:
            source = scored.row["source"]["document"]
            key = first_page(scored.chapter) if kind == "chapter" else source
            counts[key][scored.record.verdict] += 1
            totals[scored.record.verdict] += 1
    heads = [tag("th", badge(verdict), scope="col") for verdict in verdicts]
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


def verdict_group(page: Page, verdict: str) -> html_tag:
    """The rows with one verdict, folded."""
    found = [scored for scored in page.content.scored if scored.record.verdict == verdict]
    what = "claim" if len(found) == 1 else "claims"
    count = tag("span", f"{len(found)} {what}", classes=["score-number"])
    summary = tag("summary", badge(verdict), " ", count)
    items = [score_item(page, scored) for scored in found]
    rows = tag("ul", *items, ids=[f"score-{slug(verdict)}"])
    return tag("details", summary, rows, classes=["score-group"], data_verdict=slug(verdict))


def score_item(page: Page, scored: Scored) -> html_tag:
    """One row: its claim, what does not hold of it, then source, chapter and evidence."""
    chapter, row, record = scored
    where = tag("a", tag("code", row["id"]), href=page.to_chapter(chapter, row["id"]))
    source = source_text(page.content.ledger["documents"], row)
    place = tag("span", f"{source} · chapter {label(chapter)} · ", where)
    facts = tag("span", *spaced([*damage(row), place]), classes=["claim-link"])
    parts: list[Node | str] = [row["brief"], " "]
    if finding := reservation(record):
        parts += [tag("span", finding, classes=["score-finding"]), " "]
    return tag("li", *parts, facts, **filtered_by(chapter, row))
