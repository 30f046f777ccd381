"""The scorecard of the front page, and single results of the run inside a sentence.

``{scorecard}`` counts the rows by source and verdict and lists every row under its verdict. Without JavaScript that is
a table of links into folded lists; ``_static/scorecard.js`` makes filters of it. ``{claim-value}`` and
``{claim-verdict}`` name a row, as ``id`` or ``id|part``, and show what the run found, linked to the evidence;
``id|part|factor`` (or ``id||factor``) shows the factor that a measured logarithm stands for, as a number above 1.
"""

import math

import bookcache
from bookledger import LedgerDirective
from booknodes import SIGNS, badge, from_run, slug, tag
from bookresults import ROOT, heading, rows_in_book, value_text
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from iclutils import claims

logger = logging.getLogger(__name__)
SHORT = {"collins2024": "Collins et al., paper", "collins2024-slides": "Collins et al., talk",
         "collins2024-web": "A web summary of Collins et al.",
         "lu2024-slides": "Lu et al., talk", "huang2024-slides": "Huang et al., talk", "ours": "This book"}


class Scorecard(LedgerDirective):
    """Counts by source, chapter and verdict, then every row under its verdict. Rows are sorted when the page is written."""

    def run(self):
        self.prepare()
        pool = [tag("p", *self.markdown(row["statement"]), source=self.source(row)) for _, row in rows_in_book()]
        return [from_run("", *pool, what="scorecard")]


class ClaimRole(SphinxRole):
    """One result in a sentence: the value or the verdict of a row, or of one part of it."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def run(self):
        claim, part, form = (*(piece.strip() for piece in self.text.split("|")), "", "")[:3]
        chapter = next((chapter for chapter, row in rows_in_book() if row["id"] == claim), None)
        if chapter is None or form not in ("", "factor"):
            logger.warning("claim-%s: no such row or form: %s", self.what, self.text, location=self.get_location())
            return [], []
        pages = self.env.iclbook_pages = getattr(self.env, "iclbook_pages", set())
        pages.add(self.env.docname)
        self.env.note_dependency(str(ROOT / "book" / "claims.yml"))
        return [from_run("", what=f"inline_{self.what}", chapter=chapter, claim=claim, part=part, form=form)], []


def number(chapter):
    """A chapter's number as its file is numbered: 01_… is 1, 05b_… is 5b."""
    return chapter.partition("_")[0].lstrip("0")


def short_source(document, documents):
    return SHORT.get(document) or documents[document]["title"]


class ScorecardFilling:
    """The part of ``bookfill.Filler`` that sorts the rows under their verdicts and fills the sentences."""

    def inline_value(self, node):
        record = self.record(node)
        if not record:
            return [tag("span", "not run")]
        shown = record
        if node["part"]:
            shown = record["parts"].get(node["part"])
            if shown is None:
                logger.warning("claim-value: row '%s' has no part '%s'; it has %s", node["claim"], node["part"],
                               list(record["parts"]), location=self.docname)
                return []
        value, half = shown["value"], shown["half_width"] or 0.0
        digits = 5
        if node["form"] == "factor":
            value, half, digits = math.exp(abs(value)), half * math.exp(abs(value)), 2
        text = (f"{value:.{digits}g}" if half < 1e-5 * abs(value) else claims.format_value(value, half)).replace("-", "−")
        own = "" if record["default_settings"] else " (at your settings)"
        return [tag("a", text + own, href=self.href(node["chapter"], node["claim"]), classes=["claim-value"])]

    def inline_verdict(self, node):
        record = self.record(node)
        shown = badge(record["verdict"]) if record else tag("span", "not run", classes=["verdict"])
        return [shown, " ", tag("a", tag("code", node["claim"]), href=self.href(node["chapter"], node["claim"]))]

    def scored(self):
        """(chapter, row, verdict, record) of every row that was run."""
        for chapter, row in rows_in_book():
            record = self.found.record(chapter, row["id"])
            if record:
                yield chapter, row, record["verdict"], record

    def matrix(self, kind, corner, keys, names, key_of):
        """Counts, one line a key; each is a link to the rows that it counts."""
        counts = {key: dict.fromkeys(claims.VERDICTS, 0) for key in keys}
        for chapter, row, verdict, _ in self.scored():
            counts[key_of(chapter, row)][verdict] += 1
        head = tag("tr", tag("th", corner, scope="col"), *(tag("th", badge(verdict), scope="col") for verdict in claims.VERDICTS))

        def cell(n, verdict, key, name):
            if not n:
                return tag("td", "0", classes=["none"])
            words = unseen(f" {verdict}, {name}")
            data = {"data-verdict": slug(verdict), f"data-{kind}": key}
            return tag("td", tag("a", str(n), words, href=f"#score-{slug(verdict)}", **data))

        def line(name, key, numbers, classes=()):
            return tag("tr", tag("th", name, scope="row"), *(cell(n, v, key, name) for v, n in numbers.items()), classes=classes)
        lines = [line(names[key], key, counts[key]) for key in keys]
        totals = {verdict: sum(line[verdict] for line in counts.values()) for verdict in claims.VERDICTS}
        lines.append(line("All", "", totals, ["total"]))
        caption = tag("caption", f"Claims by {kind} and verdict; a number leads to its claims", classes=["sr-words"])
        table = tag("table", caption, tag("thead", head), tag("tbody", *lines), classes=["scorecard"])
        return tag("div", table, classes=["scorecard-frame"], tabindex="0", role="group",
                   **{"aria-label": f"Table: claims by {kind} and verdict"})

    def scorecard(self, node):
        pages = dict(zip((row["id"] for _, row in rows_in_book()), node.children, strict=True))
        documents = claims.load(ROOT / "book" / "claims.yml")["documents"]
        chapters, scored = bookcache.toc_chapters(ROOT), list(self.scored())
        used = [key for key in SHORT if key in documents] + [key for key in documents if key not in SHORT]
        used = [key for key in used if any(row["source"]["document"] == key for _, row, *_ in scored)]
        sources = {key: short_source(key, documents) for key in used}
        titles = {chapter: f"{number(chapter)}. {heading(chapter)}" for chapter in chapters}
        by_chapter = self.matrix("chapter", "Chapter", chapters, titles, lambda chapter, _: chapter)
        out = [self.matrix("source", "Source", used, sources, lambda _, row: row["source"]["document"]),
               tag("details", tag("summary", "The same by chapter"), by_chapter, classes=["score-chapters"]),
               self.filters(sources, chapters)]
        groups = []
        for verdict in claims.VERDICTS:
            items = [self.item(chapter, row, record, pages[row["id"]])
                     for chapter, row, found, record in scored if found == verdict]
            if items:
                what = "claim" if len(items) == 1 else "claims"
                summary = tag("summary", badge(verdict), " ", tag("span", f"{len(items)} {what}", classes=["score-number"]))
                groups.append(tag("details", summary, tag("ul", *items, ids=[f"score-{slug(verdict)}"]), classes=["score-group"],
                                  **{"data-verdict": slug(verdict)}))
        return [*out, tag("div", *groups, classes=["score-list"])]

    def item(self, chapter, row, record, page):
        where = tag("a", tag("code", row["id"]), href=self.href(chapter, row["id"]))
        source = f"{page['attributes']['source']} · chapter {number(chapter)} · "
        facts = tag("span", source, where, f" · {value_text(record)}", classes=["claim-link"])
        return tag("li", *page.children, " ", facts, **{"data-source": row["source"]["document"], "data-chapter": chapter})

    def filters(self, sources, chapters):
        """Buttons for the script; hidden where there is none."""
        def group(kind, label, options):
            buttons = [tag("button", *words, " ", tag("span", classes=["score-count"]), type="button",
                           **{"aria-pressed": "false", "data-kind": kind, "data-value": value}) for value, words in options]
            return tag("div", tag("span", label, classes=["score-label"], **{"aria-hidden": "true"}), *buttons,
                       role="group", classes=["score-filter"], **{"aria-label": label})
        verdicts = [(slug(v), [tag("span", SIGNS[v], **{"aria-hidden": "true"}), f" {v}"]) for v in claims.VERDICTS]
        places = [(c, [unseen("chapter "), number(c), unseen(f", {heading(c)},")]) for c in chapters]
        rows = [group("verdict", "Verdict", verdicts), group("chapter", "Chapter", places),
                group("source", "Source", [(key, [name]) for key, name in sources.items()])]
        clear = tag("button", "Show all", type="button", classes=["score-clear"])
        said = tag("div", clear, tag("p", role="status", classes=["score-status"]), classes=["score-said"])
        return tag("div", *rows, said, classes=["score-filters"], hidden="hidden")


def unseen(words):
    """Words for a screen reader only."""
    return tag("span", words, classes=["sr-words"])
