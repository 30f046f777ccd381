"""The book's own Sphinx extension: the cache that the checker filled, and the pages made from the ledger.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` lists its rows with what was found, ``{scorecard}``
stands on the front page and ``{ledger}`` shows everything. The words of a row (``book/claims.yml``) are parsed when
the page is read; what was found is filled in when the page is written, from the executed chapters in the cache.
"""

import csv
import io
import json
import os
import sys
from pathlib import Path

import bookcache
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

ROOT = bookcache.ROOT
sys.path.insert(0, str(ROOT))
from iclutils import claims  # noqa: E402

SIGNS = {claims.HOLDS: "✓", claims.IN_PART: "◐", claims.FAILS: "✗", claims.SUPERSEDED: "↻", claims.NOT_TESTABLE: "?"}
INLINE = {"a", "code", "span"}
OUTCOME_SIGNS = {"supported": "✓", "contradicted": "✗", "undecided": "?"}


def slug(verdict):
    return verdict.replace(" ", "-")


def row_anchor(claim):
    return f"claim-{claim}"


# ------------------------------------------------------------------ nodes


class html_tag(nodes.General, nodes.Element):
    """A plain HTML element around its children: ``html_tag(tag="details", classes=[...])``."""


def visit_tag(self, node):
    self.body.append(self.starttag(node, node["tag"], "", **node.get("attributes", {})))


def depart_tag(self, node):
    self.body.append(f"</{node['tag']}>" + ("" if node["tag"] in INLINE else "\n"))


def skip_tag(self, node):
    pass


class from_run(nodes.General, nodes.Element):
    """A place that is filled with what a chapter's run found: ``from_run(what="value", chapter=…, claim=…)``."""


def tag(name, *children, classes=(), ids=(), **attributes):
    node = html_tag("", tag=name, classes=list(classes), ids=list(ids), attributes=attributes)
    node.extend(nodes.Text(child) if isinstance(child, str) else child for child in children)
    return node


def badge(verdict, text=None):
    return tag("span", tag("span", SIGNS[verdict], **{"aria-hidden": "true"}), f" {text or verdict}",
               classes=["verdict", f"verdict-{slug(verdict)}"])


# ------------------------------------------------------------------ what was found


class Found:
    """The records of all executed chapters, read once a build."""

    def __init__(self, app):
        self.chapters, self.seconds = {}, {}
        folder = Path(app.config.nb_execution_cache_path)
        for name in bookcache.toc_chapters(ROOT):
            run = bookcache.cached_run(bookcache.chapter_path(name, ROOT), folder)
            self.chapters[name] = bookcache.records(run[0]) if run else {}
            self.seconds[name] = run[1] if run else None
        seeds = ROOT / bookcache.SEEDS_FILE
        self.seeds = json.loads(seeds.read_text(encoding="utf8")) if seeds.exists() else {}

    def record(self, chapter, claim):
        return self.chapters.get(chapter, {}).get(claim)


def found(app):
    if not hasattr(app, "iclbook_found"):
        app.iclbook_found = Found(app)
    return app.iclbook_found


def rows_in_book():
    """(chapter, row) for every row of the ledger whose chapter is in the book."""
    blocks = claims.load(ROOT / "book" / "claims.yml")["chapters"]
    return [(name, row) for name in bookcache.toc_chapters(ROOT) for row in blocks.get(name, {}).get("claims", [])]


def heading(chapter):
    """A chapter's title, from its file (a page may need it before that file is read)."""
    lines = bookcache.chapter_path(chapter, ROOT).read_text(encoding="utf8").splitlines()
    return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), chapter)


def value_text(record):
    return "no value" if record["value"] is None else claims.format_value(record["value"], record["half_width"] or 0.0)


def comparison_text(part):
    return f"{claims.format_value(part['value'], part['half_width'])} {part['against']}"


# ------------------------------------------------------------------ directives


class LedgerDirective(SphinxDirective):
    """What the four directives share."""

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
        download = f"Download {{nb-download}}`{chapter}.ipynb`"
        given = [label for label in ("paper", "result") if label in self.options]
        facts = [self.line(label.capitalize(), *self.markdown(self.options[label])) for label in given]
        seed = self.ledger["chapters"][chapter]["settings"]["seed"]
        facts += [self.line("Verdicts", from_run("", what="counts", chapter=chapter)),
                  self.line("Run", from_run("", what="seconds", chapter=chapter), f", master seed {seed}"),
                  self.line("Notebook", *self.markdown(download))]
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


class Scorecard(LedgerDirective):
    """Counts by chapter and verdict, then every row under its verdict. Rows are sorted when the page is written."""

    def run(self):
        self.prepare()
        pool = [tag("p", *self.markdown(row["statement"])) for _, row in rows_in_book()]
        return [from_run("", *pool, what="scorecard")]


class FullLedger(LedgerDirective):
    """Every row with everything."""

    def run(self):
        self.prepare()
        out = [tag("p", "The whole ledger as data: ", tag("a", "ledger.csv", href="ledger.csv"), ", ",
                   tag("a", "ledger.json", href="ledger.json"), ".")]
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


# ------------------------------------------------------------------ filling in


class Filler:
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

    def seconds(self, node):
        seconds = self.found.seconds.get(node["chapter"])
        return [f"{seconds:.0f} s on one core" if seconds is not None else "not timed"]

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


# ------------------------------------------------------------------ events


def set_cache(app, config):
    bookcache.prepare_environment(ROOT)
    config.nb_execution_cache_path = str(bookcache.cache_path(ROOT))


def drop_thebe(app):
    """sphinx-thebe names a CDN in every page, twice, and the book has no live cells."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        if listener.handler.__module__ == "sphinx_thebe" and listener.handler.__name__ == "init_thebe_core":
            app.disconnect(listener.id)


def refresh(app, env):
    """Pages that show results are written anew when a result has changed, whichever chapter it is from."""
    results = found(app)
    state = json.dumps([results.chapters, results.seconds, results.seeds], sort_keys=True)
    if state == getattr(env, "iclbook_state", None):
        return []
    env.iclbook_state = state
    return sorted(page for page in getattr(env, "iclbook_pages", ()) if page in env.found_docs)


def merge_pages(app, env, docnames, other):
    env.iclbook_pages = getattr(env, "iclbook_pages", set()) | getattr(other, "iclbook_pages", set())


def fill(app, doctree, docname):
    if next(doctree.findall(from_run), None) is not None:
        Filler(app, docname).fill(doctree)


def executed_notebooks(app, env):
    """On a cache hit MyST-NB writes the notebooks for download without their outputs: put them back."""
    import nbformat
    from jupyter_cache import get_cache

    cache = get_cache(app.config.nb_execution_cache_path)
    for path in Path(env.mystnb_config.output_folder).rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        if any(cell.get("outputs") for cell in notebook.cells):
            continue
        try:
            _, notebook = cache.merge_match_into_notebook(notebook)
        except KeyError:
            continue
        for cell in notebook.cells:
            if cell.cell_type == "code":  # glued values are for the site only
                cell.outputs = [o for o in cell.outputs if "scrapbook" not in o.get("metadata", {})]
        times = path.stat()
        bookcache.write_atomically(path, nbformat.writes(notebook))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # else Sphinx reads the chapter again in every build


def ledger_rows(app):
    """The ledger as flat rows for the downloads."""
    results = found(app)
    for chapter, row in rows_in_book():
        record = results.record(chapter, row["id"]) or {}
        yield {"chapter": chapter, "id": row["id"], "document": row["source"]["document"], "place": row["source"]["place"],
               "reading": row["source"]["reading"], "kind": row["kind"], "statement": row["statement"],
               "statistic": row["statistic"], "criterion": row["criterion"], "tolerance": row["tolerance"],
               "expected": row["expected"], "verdict": record.get("verdict"), "value": record.get("value"),
               "half_width": record.get("half_width"), "default_settings": record.get("default_settings"),
               "why": record.get("why"), "parts": record.get("parts"), "controls": record.get("controls"),
               "settings": record.get("settings"), "seeds": results.seeds.get(row["id"], {})}


def write_ledger(app, exception):
    """``ledger.csv`` and ``ledger.json`` beside the ledger page."""
    if exception or app.builder.format != "html":
        return
    rows, folder = list(ledger_rows(app)), Path(app.outdir) / "book"
    bookcache.write_atomically(folder / "ledger.json", json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({k: json.dumps(v, ensure_ascii=False) if isinstance(v, dict) else v for k, v in row.items()})
    bookcache.write_atomically(folder / "ledger.csv", text.getvalue())


def name_toggles(app, exception):
    """The theme's arrow that opens a chapter's sections in the sidebar has no name that a screen reader could say."""
    if exception or app.builder.format != "html":
        return
    nameless = '<summary><span class="toctree-toggle"'
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf8")
        if nameless in text:
            named = nameless.replace("<summary>", '<summary aria-label="Show or hide the sections">')
            bookcache.write_atomically(page, text.replace(nameless, named))


def setup(app):
    app.add_node(html_tag, html=(visit_tag, depart_tag), text=(skip_tag, skip_tag))
    app.add_node(from_run, html=(skip_tag, skip_tag), text=(skip_tag, skip_tag))
    app.add_directive("chapter-card", ChapterCard)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("scorecard", Scorecard)
    app.add_directive("ledger", FullLedger)
    app.connect("config-inited", set_cache)
    app.connect("builder-inited", drop_thebe)
    app.connect("env-merge-info", merge_pages)
    app.connect("env-updated", refresh)
    app.connect("env-updated", executed_notebooks)
    app.connect("doctree-resolved", fill)
    app.connect("build-finished", write_ledger)
    app.connect("build-finished", name_toggles)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
