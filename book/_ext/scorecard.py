"""The scorecard of the front page: its directive and how it is filled."""

import bookcache
from bookledger import LedgerDirective
from booknodes import badge, from_run, tag
from bookresults import ROOT, heading, rows_in_book, value_text

from iclutils import claims


class Scorecard(LedgerDirective):
    """Counts by chapter and verdict, then every row under its verdict. Rows are sorted when the page is written."""

    def run(self):
        self.prepare()
        pool = [tag("p", *self.markdown(row["statement"])) for _, row in rows_in_book()]
        return [from_run("", *pool, what="scorecard")]


class ScorecardFilling:
    """The part of ``bookfill.Filler`` that sorts the rows under their verdicts."""

    def scorecard(self, node):
        chapters = bookcache.toc_chapters(ROOT)
        words = dict(zip((row["id"] for _, row in rows_in_book()), node.children, strict=True))
        head = tag("tr", tag("th", "Chapter", scope="col"),
                   *(tag("th", badge(verdict), scope="col") for verdict in claims.VERDICTS))
        lines = []
        for chapter in chapters:
            link = tag("a", heading(chapter), href=self.href(chapter))
            lines.append(tag("tr", tag("th", link, scope="row"), *(
                tag("td", str(number) if number else "·") for number in self.count(chapter).values())))
        total = [sum(self.count(chapter)[verdict] for chapter in chapters) for verdict in claims.VERDICTS]
        lines.append(tag("tr", tag("th", "All", scope="row"), *(tag("td", str(n)) for n in total), classes=["total"]))
        table = tag("table", tag("thead", head), tag("tbody", *lines), classes=["scorecard"])
        out = [tag("div", table, classes=["scorecard-frame"])]
        for verdict in claims.VERDICTS:
            items = []
            for chapter, row in rows_in_book():
                record = self.found.record(chapter, row["id"])
                if record and record["verdict"] == verdict:
                    link = tag("a", tag("code", row["id"]), href=self.href(chapter, row["id"]))
                    where = tag("span", link, f" {value_text(record)}", classes=["claim-link"])
                    items.append(tag("li", *words[row["id"]].children, " ", where))
            if items:
                what = "claim" if len(items) == 1 else "claims"
                summary = tag("summary", badge(verdict), f" {len(items)} {what}")
                out.append(tag("details", summary, tag("ul", *items), classes=["score-group"]))
        return out
