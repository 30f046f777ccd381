"""Filling in: every place of a page that waits for what a chapter's run found."""

import bookorigin
from bookdownloads import DownloadsFilling
from bookledger import row_anchor
from booknodes import badge, from_run, tag
from bookresults import comparison_text, found, heading, rows_in_book, value_text
from docutils import nodes
from scorecard import ScorecardFilling

from iclutils import claims

OUTCOME_SIGNS = {"supported": "✓", "contradicted": "✗", "undecided": "?"}


class Filler(ScorecardFilling, DownloadsFilling):
    """Replaces every ``from_run`` of one page."""

    def __init__(self, app, docname):
        self.app, self.docname, self.found = app, docname, found(app)
        self.rows = {row["id"]: (chapter, row) for chapter, row in rows_in_book()}

    def fill(self, doctree):
        for node in list(doctree.findall(from_run)):
            parent = node.parent
            new = getattr(self, node["what"])(node)
            parent.replace(node, [nodes.Text(n) if isinstance(n, str) else n for n in new])

    def record(self, node):
        return self.found.record(node["chapter"], node["claim"])

    def href(self, chapter, claim=""):
        uri = self.app.builder.get_relative_uri(self.docname, f"book/chapters/{chapter}")
        return uri + (f"#{row_anchor(claim)}" if claim else "")

    def verdict(self, node):
        record = self.record(node)
        return [badge(record["verdict"]) if record else tag("span", "not run", classes=["verdict"])]

    def value(self, node):
        record = self.record(node)
        if not record:
            return ["not run"]
        own = [] if record["default_settings"] else [" (at your settings)"]
        why = [f" ({record['why']})"] if record["why"] else []
        return [value_text(record), *why, *own]

    def expected(self, node):
        record, expected = self.record(node), self.rows[node["claim"]][1]["expected"]
        if record and record["verdict"] != expected:
            return [f"{expected}; found otherwise: {record['verdict']}"]
        return [expected]

    def seeds(self, node):
        verdicts = self.found.seeds.get(node["claim"], {})
        if not verdicts:
            return ["none recorded"]
        if len(set(verdicts.values())) == 1:
            return [f"{next(iter(verdicts.values()))} for seeds {', '.join(verdicts)}"]
        return ["; ".join(f"seed {seed}: {verdict}" for seed, verdict in verdicts.items())]

    def parts(self, node):
        record = self.record(node)
        if not record or not record["parts"]:
            return ["none"]
        lines = [f"{name + ': ' if name else ''}{comparison_text(part)}" for name, part in record["parts"].items()]
        outcomes = [part["outcome"] for part in record["parts"].values()]
        return [tag("ul", *(tag("li", f"{OUTCOME_SIGNS[o]} {line} ({o})") for o, line in zip(outcomes, lines, strict=True)))]

    def control(self, node):
        record = self.record(node)
        if not record or node["control"] not in record["controls"]:
            return []
        part = record["controls"][node["control"]]
        result = "passed, which makes the row not testable" if part["outcome"] == "supported" else "rejected"
        return [tag("span", f"→ {comparison_text(part)}: {result}", classes=["control-result"])]

    def count(self, chapter):
        verdicts = [record["verdict"] for record in self.found.chapters.get(chapter, {}).values()]
        return {verdict: verdicts.count(verdict) for verdict in claims.VERDICTS}

    def counts(self, node):
        shown = [badge(verdict, f"{number} {verdict}") for verdict, number in self.count(node["chapter"]).items() if number]
        return [part for one in shown for part in (one, " ")] or ["not run"]

    def validation(self, node):
        run = self.found.runs.get(node["chapter"], bookorigin.Run())
        commit, environment, _, _, *date = bookorigin.details([run])
        python = f" (Python {run.origin['python']})" if "python" in run.origin else ""
        said = f"; {', '.join([commit, environment + python, *date])}" if run.state != bookorigin.NOT_RUN else ""
        words = self.app.builder.get_relative_uri(self.docname, "book/downloads") + "#last-validated"
        return [run.state, said, " (", tag("a", "what this says", href=words), ")"]

    def place(self, node):
        seconds = self.found.seconds.get(node["chapter"])
        timed = f" (the whole chapter: {seconds:.0f} s on one core)" if seconds is not None else ""
        return [tag("a", heading(node["chapter"]), href=self.href(node["chapter"], node["claim"])), timed]

    def seed(self, node):
        seed = self.found.runs.get(node["chapter"], bookorigin.Run()).seed
        return [f"{seed}" if seed is not None else "not run"]

    def seconds(self, node):
        seconds = self.found.seconds.get(node["chapter"])
        return [f"{seconds:.0f} s on one core" if seconds is not None else "not timed"]
