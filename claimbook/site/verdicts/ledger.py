"""The ledger's directives: a chapter's card, its verdicts, and the page of all rows.

The words of a row (``book/claims.yml``) are parsed when the page is read; what was found is filled
in when the page is written (:mod:`claimbook.site.verdicts.rows`).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives

from claimbook.ledger import OURS
from claimbook.ledger.verdicts import DEMANDED
from claimbook.site import words
from claimbook.site.content import Content, content_of
from claimbook.site.nodes import from_run, html_tag, spaced, tag
from claimbook.site.page import WordsDirective
from claimbook.site.results import Entry, row_anchor
from claimbook.site.verdicts.filters import filtered_by


def line(label: str, *children: nodes.Node | str) -> html_tag:
    """One fact of a list: its label and what it is."""
    return tag("div", tag("dt", label), tag("dd", *children))


class RowsDirective(WordsDirective):
    """What the directives share that show rows."""

    def chapter_rows(self, content: Content) -> list[Entry]:
        """The rows of the chapter that the directive names."""
        chapter = self.arguments[0]
        blocks = content.ledger["chapters"]
        if chapter not in blocks:
            known = list(blocks)
            raise self.error(f"{self.name}: '{chapter}' is not in claims.yml; it holds {known}")
        return [Entry(chapter, row) for row in blocks[chapter]["claims"]]

    def claim_card(self, content: Content, entry: Entry, whole: bool = False) -> html_tag:
        """One row with what was found; ``whole``: with all that the page of the ledger says."""
        chapter, row = entry
        claim = row["id"]
        place = partial(from_run, "", chapter=chapter, claim=claim)
        marks = [place(what="verdict"), *words.damage(row), tag("code", claim)]
        head = tag("span", *spaced(marks), classes=["claim-head"])
        finding = tag("span", place(what="finding"), classes=["claim-finding"])
        statement = tag("span", *self.markdown(row["statement"]), classes=["claim-statement"])
        facts = [line("Measured", *self.markdown(row["quantity"]), ": ", place(what="value"))]
        judging = self.how(entry)
        if whole:
            facts.append(line("Chapter", place(what="place")))
            judging = [
                line("Expected before measuring", place(what="expected")),
                line("Other master seeds", place(what="seeds")),
                *judging,
            ]
        how = tag("dl", *judging, classes=["claim-facts"])
        rest = [
            *self.source(content, row, whole),
            tag("dl", *facts, classes=["claim-facts"]),
            tag(
                "details",
                tag("summary", "How it is judged"),
                how if whole else tag("noscript", how),
                classes=["claim-how"],
            ),
        ]
        ids = [row_anchor(claim)]
        if not whole:
            return tag("div", head, finding, statement, *rest, classes=["claim"], ids=ids)
        summary = tag("summary", head, tag("span", row["brief"], classes=["claim-brief"]))
        # as text until it is opened (scorecard.js): most of the nodes of the ledger's page
        body = tag("noscript", finding, statement, *rest)
        data = filtered_by(chapter, row)
        return tag("details", summary, body, classes=["claim"], ids=ids, **data)

    def source(self, content: Content, row: Mapping[str, Any], whole: bool) -> list[html_tag]:
        """The source's own words with their place; or that the book asks, and what made it."""
        if words.is_ours(row):
            asked: list[nodes.Node | str] = ["Asked by this book (", row["source"]["place"], ")"]
            if "suggested_by" in row["source"]:
                asked += ["; suggested by ", *self.markdown(row["source"]["suggested_by"])]
            return [tag("p", *asked, ".", classes=["claim-source"])]
        document = content.ledger["documents"][row["source"]["document"]]
        quotes = [tag("p", *words.quoted(text)) for text in words.quotations(row)]
        reading = row["source"]["reading"]
        where = tag(
            "p",
            words.short_name(document),
            *(words.links(document) if whole else []),
            ": ",
            *self.markdown(row["source"]["place"]),
            f". The text is {words.LEGIBLE[reading]}.",
            classes=["claim-source"],
        )
        return [tag("blockquote", *quotes, where, classes=["claim-printed"])]

    def how(self, entry: Entry) -> list[html_tag]:
        """How a row is judged."""
        chapter, row = entry
        how = [
            line("Kind", row["kind"]),
            line("Statistic", *self.markdown(row["statistic"])),
            line("Criterion", *self.criterion(row)),
            line("Tolerance from", *self.markdown(row["tolerance"])),
        ]
        said = {"note": "Note", "audit": "Let stand by the audit"}
        for field, label in said.items():
            if row.get(field):
                how.append(line(label, *self.markdown(str(row[field]))))
        how.append(line("Parts", from_run("", what="parts", chapter=chapter, claim=row["id"])))
        if row["controls"]:
            controls = [self.control(entry, name) for name in row["controls"]]
            how.append(line("Controls", tag("ul", *controls)))
        if row.get("amended"):
            changes = [self.amendment(change) for change in row["amended"]]
            how.append(line("Changed after a first number was seen", tag("ul", *changes)))
        return how

    def criterion(self, row: Mapping[str, Any]) -> list[nodes.Node]:
        """The conditions of a row's parts; a row that is not tested has none."""
        if "parts" not in row:
            return [nodes.Text("none")]
        if isinstance(row["parts"], str):
            return [tag("code", row["parts"])]
        items = [
            tag("li", f"{words.EVERY_PART if name == '*' else name}: ", tag("code", condition))
            for name, condition in row["parts"].items()
        ]
        return [tag("ul", *items)]

    def control(self, entry: Entry, name: str) -> html_tag:
        """A control: what its kind demands, what it is, and what happened."""
        chapter, row = entry
        control = row["controls"][name]
        must_be, _ = DEMANDED[control["kind"]]
        demand = tag("em", f"{words.KINDS[control['kind']]}, must be {must_be}: ")
        claim = row["id"]
        result = from_run("", what="control", chapter=chapter, claim=claim, control=name)
        return tag("li", demand, *self.markdown(control["what"]), " ", result)

    def amendment(self, change: Mapping[str, Any]) -> html_tag:
        """One change of a row: when, what, why, and in which commit."""
        commit = [" (", tag("code", str(change["commit"])), ")"] if "commit" in change else []
        what = self.markdown(str(change["what"]))
        why = self.markdown(str(change["why"]))
        return tag("li", f"{change['date']}: ", *what, "; because: ", *why, *commit)


class ChapterCard(RowsDirective):
    """The head of a chapter: paper, claim, verdicts, runtime, seed, downloads."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Mapping[str, Any]] = {
        "paper": directives.unchanged_required,
        "result": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """The card."""
        self.chapter_rows(content_of(self.env.app))
        place = partial(from_run, "", chapter=self.arguments[0])
        facts = [
            line(label.capitalize(), *self.markdown(self.options[label]))
            for label in ("paper", "result")
            if label in self.options
        ]
        files = line("Download", place(what="chapter_files"))
        files["classes"].append("screen-only")
        facts.append(line("Verdicts", place(what="counts")))
        run = [
            line("Run", place(what="seconds"), ", master seed ", place(what="seed")),
            line("Last validated", place(what="validation")),
            files,
        ]
        claim = tag("div", *self.parse_content_to_nodes(), classes=["card-claim"])
        listed = tag("dl", *facts, classes=["claim-facts"])
        summary = tag("summary", "The run, and downloads")
        folded = tag("details", summary, tag("dl", *run, classes=["claim-facts"]))
        return [tag("div", claim, listed, folded, classes=["chapter-card"])]


class Verdicts(RowsDirective):
    """A chapter's rows with what was found."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A card a row."""
        content = content_of(self.env.app)
        return [self.claim_card(content, entry) for entry in self.chapter_rows(content)]


class FullLedger(RowsDirective):
    """Every row with everything."""

    def run(self) -> list[nodes.Node]:
        """The filters, the data and the sources, then a section a chapter."""
        content = content_of(self.env.app)
        data = tag(
            "p",
            "The whole ledger as data: ",
            tag("a", "ledger.csv", href="ledger.csv"),
            ", ",
            tag("a", "ledger.json", href="ledger.json"),
            ".",
            classes=["screen-only"],
        )
        summary = tag("summary", "The sources that the rows name, in the versions that we read")
        sources = tag("details", summary, self.sources(content))
        out = [from_run("", what="score_filters"), data, sources]
        for chapter in content.chapters:
            cards = [
                self.claim_card(content, entry, whole=True)
                for entry in content.entries.values()
                if entry.chapter == chapter
            ]
            section = nodes.section(ids=[nodes.make_id(f"ledger-{chapter}")])
            section += nodes.title("", content.headings[chapter])
            section += tag("div", *cards, classes=["score-group"])
            out.append(section)
        return out

    def sources(self, content: Content) -> html_tag:
        """The documents other than this book that some row names."""
        named = {row["source"]["document"] for _, row in content.entries.values()} - {OURS}
        items = [
            tag("li", *words.document_words(document))
            for key, document in content.ledger["documents"].items()
            if key in named
        ]
        return tag("ul", *items)
