"""The ledger's directives: a chapter's card, its verdicts, and the page of all rows.

The words of a row (``book/claims.yml``) are parsed when the page is read; what was found is filled in when the page is
written (``bookfill``).
"""

import bookcache
from booknodes import from_run, tag
from bookresults import ROOT, heading, rows_in_book
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from iclutils import claims


def row_anchor(claim):
    return f"claim-{claim}"


class LedgerDirective(SphinxDirective):
    """What the book's directives share."""

    def prepare(self):
        self.env.note_dependency(str(ROOT / "book" / "claims.yml"))
        if not hasattr(self.env, "iclbook_pages"):
            self.env.iclbook_pages = set()
        self.env.iclbook_pages.add(self.env.docname)
        self.ledger = claims.load(ROOT / "book" / "claims.yml")

    def markdown(self, text):
        """Markdown of one paragraph as inline nodes."""
        parsed = self.parse_text_to_nodes(text)
        return list(parsed[0].children) if len(parsed) == 1 and isinstance(parsed[0], nodes.paragraph) else parsed

    def line(self, label, *children):
        return tag("div", tag("dt", label), tag("dd", *children))

    def source(self, row):
        document = self.ledger["documents"][row["source"]["document"]]
        authors, colon, _ = document["title"].partition(":")
        who = authors.split(",")[0].removesuffix(" et al.") + " et al." if colon else authors
        kind = "" if document["kind"] in who else f" ({document['kind']})"
        reading = row["source"]["reading"]
        reading = "" if reading == "clear" else f" (text {reading} in the copy we read)"
        return f"{who}{kind}: {row['source']['place']}{reading}"

    def claim_card(self, chapter, row, anchor=True, whole=False):
        """One row of the ledger with what was found."""
        def run(what, **more):
            return from_run("", what=what, chapter=chapter, claim=row["id"], **more)
        facts = [self.line("Measured", run("value")), self.line("Source", self.source(row))]
        if whole:
            facts.append(self.line("Chapter", run("place")))
            facts.append(self.line("Expected before measuring", run("expected")))
            facts.append(self.line("Other master seeds", run("seeds")))
        how = [self.line("Kind", row["kind"]), self.line("Statistic", *self.markdown(row["statistic"])),
               self.line("Criterion", *self.markdown(row["criterion"])),
               self.line("Tolerance from", *self.markdown(row["tolerance"]))]
        if "superseded_by" in row:
            how.append(self.line("Superseded by", *self.markdown(str(row["superseded_by"]))))
        if row.get("note"):
            how.append(self.line("Note", *self.markdown(row["note"])))
        how.append(self.line("Parts", run("parts")))
        if row["controls"]:
            items = [tag("li", *self.markdown(text), " ", run("control", control=name)) for name, text in row["controls"].items()]
            how.append(self.line("Negative controls (must be rejected)", tag("ul", *items)))
        return tag("div", tag("div", run("verdict"), tag("code", row["id"]), classes=["claim-head"]),
                   tag("p", *self.markdown(row["statement"]), classes=["claim-statement"]),
                   tag("dl", *facts, classes=["claim-facts"]),
                   tag("details", tag("summary", "How it is judged"), tag("dl", *how, classes=["claim-facts"]),
                       classes=["claim-how"]),
                   classes=["claim"], ids=[row_anchor(row["id"])] if anchor else [])


class ChapterCard(LedgerDirective):
    """The head of a chapter: paper, claim, verdicts, runtime, seed, downloads."""

    required_arguments = 1
    has_content = True
    option_spec = {"paper": directives.unchanged_required, "result": directives.unchanged_required}  # noqa: RUF012

    def run(self):
        self.prepare()
        chapter = self.arguments[0]
        if chapter not in self.ledger["chapters"]:
            raise self.error(f"chapter-card: '{chapter}' is not in claims.yml; it holds {list(self.ledger['chapters'])}")
        given = [label for label in ("paper", "result") if label in self.options]
        facts = [self.line(label.capitalize(), *self.markdown(self.options[label])) for label in given]

        def run(what):
            return from_run("", what=what, chapter=chapter)
        files = self.line("Download", run("chapter_files"))
        files["classes"].append("screen-only")
        facts += [self.line("Verdicts", run("counts")), self.line("Run", run("seconds"), ", master seed ", run("seed")),
                  self.line("Last validated", run("validation")), files]
        claim = tag("div", *self.parse_content_to_nodes(), classes=["card-claim"])
        return [tag("div", claim, tag("dl", *facts, classes=["claim-facts"]), classes=["chapter-card"])]


class Verdicts(LedgerDirective):
    """A chapter's rows with what was found."""

    required_arguments = 1

    def run(self):
        self.prepare()
        chapter = self.arguments[0]
        if chapter not in self.ledger["chapters"]:
            raise self.error(f"verdicts: '{chapter}' is not in claims.yml; it holds {list(self.ledger['chapters'])}")
        return [self.claim_card(chapter, row) for row in self.ledger["chapters"][chapter]["claims"]]


class FullLedger(LedgerDirective):
    """Every row with everything."""

    def run(self):
        self.prepare()
        out = [tag("p", "The whole ledger as data: ", tag("a", "ledger.csv", href="ledger.csv"), ", ",
                   tag("a", "ledger.json", href="ledger.json"), ".", classes=["screen-only"])]
        out.append(tag("p", "The sources that the rows name, in the versions that we read:"))
        named = {row["source"]["document"] for _, row in rows_in_book()}
        documents = [document for key, document in self.ledger["documents"].items() if key in named]
        out.append(tag("ul", *(tag("li", f"{d['title']} ({d['kind']}; {d['version']})") for d in documents)))
        for chapter in bookcache.toc_chapters(ROOT):
            section = nodes.section(ids=[nodes.make_id(f"ledger-{chapter}")])
            section += nodes.title("", heading(chapter))
            for row in self.ledger["chapters"].get(chapter, {}).get("claims", []):
                section += self.claim_card(chapter, row, whole=True)
            out.append(section)
        return out
