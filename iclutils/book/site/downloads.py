"""What readers take home: notebooks with outputs, their Markdown sources, PDFs, recorded sweeps, the ledger as data.

``{downloads} book``, ``{downloads} chapters`` and ``{downloads} data`` list them with their sizes. The files lie under
``book/downloads`` of the site, so that their addresses stay; a PDF is offered only while it is a print of this very site.
"""

import csv
import hashlib
import io
import json
import os
import shutil
from pathlib import Path
from urllib.parse import quote

import bookcache
import bookpdf
from bookledger import LedgerDirective, row_anchor
from booknodes import from_run, tag
from bookresults import ROOT, found, heading, rows_in_book
from sphinx.util.osutil import relative_uri

FOLDER = "book/downloads"
LEDGER = {"ledger.csv": "one line a row", "ledger.json": "the same with the parts and controls as they nest"}


def size_text(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"


def recorded():
    """The results of runs too long for the book, and the verdicts of other master seeds."""
    return sorted((ROOT / "book" / "recorded").glob("*.json"))


# ------------------------------------------------------------------ what is offered


class Offers:
    """The files of this build: ``files`` maps a place on the site to a path, or to the text itself."""

    def __init__(self, app):
        notebooks = Path(app.env.mystnb_config.output_folder) / bookcache.CHAPTERS
        self.key, self.files = site_key(app), {}
        self.printed = bookpdf.current(self.key, ROOT)
        for name in bookcache.toc_chapters(ROOT):
            self.files[f"{FOLDER}/{name}.ipynb"] = notebooks / f"{name}.ipynb"
            self.files[f"{FOLDER}/{name}.md"] = bookcache.chapter_path(name, ROOT)
        for pdf in sorted(bookpdf.folder(ROOT).glob("*.pdf")) if self.printed else ():
            self.files[f"{FOLDER}/{pdf.name}"] = pdf
        for path in (*recorded(), ROOT / "CITATION.cff"):
            self.files[f"{FOLDER}/{path.name}"] = path
        for name, text in zip(LEDGER, ledger_texts(app), strict=True):
            self.files[f"book/{name}"] = text
        self.files = {place: file for place, file in self.files.items() if isinstance(file, str) or file.exists()}

    def size(self, place):
        file = self.files[place]
        return len(file.encode()) if isinstance(file, str) else file.stat().st_size

    def digest(self):
        return hashlib.sha256(json.dumps({place: self.size(place) for place in self.files}).encode()).hexdigest()


def offers(app):
    if not hasattr(app, "bookdownloads_offers"):
        app.bookdownloads_offers = Offers(app)
    return app.bookdownloads_offers


def site_key(app):
    """A digest of all that the pages are made of: a print with this key is a print of this site."""
    digest = hashlib.sha256(found(app).digest().encode())
    files = [path for path in (ROOT / "book").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    files += [ROOT / name for name in ("_config.yml", "_toc.yml", "CITATION.cff") if (ROOT / name).exists()]
    for path in sorted(files):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def write_offers(app, exception):
    """Put the files into the site, and leave nothing there that is no longer offered."""
    if exception or app.builder.format != "html":
        return
    out, given = Path(app.outdir), offers(app)
    for place, file in given.files.items():
        if isinstance(file, str):
            bookcache.write_atomically(out / place, file)
        else:
            (out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, out / place)
    for path in (out / FOLDER).glob("*"):
        if path.relative_to(out).as_posix() not in given.files:
            path.unlink()


# ------------------------------------------------------------------ the pages


class Downloads(LedgerDirective):
    """One list of the page of downloads."""

    required_arguments = 1

    def run(self):
        self.prepare()
        if self.arguments[0] not in ("book", "chapters", "data"):
            raise self.error(f"downloads: what must be book, chapters or data; got {self.arguments[0]!r}")
        return [from_run("", what=f"downloads_{self.arguments[0]}")]


class DownloadsFilling:
    """The part of ``bookfill.Filler`` that links to files."""

    def file(self, place, text):
        """A link with its size, or nothing where the file is not there."""
        if place not in offers(self.app).files:
            return []
        return [self.link(place, text, offers(self.app).size(place))]

    def link(self, place, text, size):
        uri = relative_uri(self.app.builder.get_target_uri(self.docname), quote(place))
        link = tag("a", text, href=uri, download="", **{"aria-label": f"{text}: {place.rsplit('/', 1)[1]}"})
        return tag("span", link, f" ({size_text(size)})", classes=["file"])

    def chapter_files(self, node):
        """A chapter as notebook, Markdown and PDF."""
        name = node["chapter"]
        kinds = {"ipynb": "notebook with outputs", "md": "Markdown source", "pdf": "PDF"}
        links = [self.file(f"{FOLDER}/{name}.{kind}", text) for kind, text in kinds.items()]
        return spaced(link for found in links for link in found) or ["nothing yet"]

    def downloads_book(self, node):
        pdf = self.file(f"{FOLDER}/{bookpdf.BOOK}.pdf", "The whole book as PDF")
        if pdf:
            return [tag("p", *pdf, ": all pages with contents, bookmarks and page numbers, printed from this site.")]
        return [tag("p", "The PDFs are printed by ", tag("code", "make pdf"), ", which needs Chromium and takes about a minute; "
                    "this site was built without, or has changed since they were printed.")]

    def downloads_chapters(self, node):
        items = []
        for name in bookcache.toc_chapters(ROOT):
            parts = [tag("p", tag("a", heading(name), href=self.href(name)), classes=["download-title"]),
                     tag("p", *self.chapter_files({"chapter": name}), classes=["files"])]
            figures = list(self.figure_items(name))
            if figures:
                summary = tag("summary", f"{len(figures)} figures and their data")
                parts.append(tag("details", summary, tag("ul", *figures), classes=["figure-list"]))
            items.append(tag("li", *parts))
        return [tag("ul", *items, classes=["downloads"])]

    def figure_items(self, chapter):
        """The figures of one chapter, each with its SVG and its data."""
        try:
            from bookfigures import figure_named
        except ImportError:
            return
        for figure in figure_named(self.app).values():
            if figure.chapter == chapter and figure.output is not None:
                table = figure.with_it.get("csv", "")
                where = tag("a", tag("code", figure.name), href=f"{self.href(chapter)}#{figure.name}")
                links = [self.link(figure.svg_file, "SVG", len(figure.svg.encode())),
                         self.link(figure.csv_file, "data (CSV)", len(table.encode()))]
                yield tag("li", where, " ", *spaced(links))

    def downloads_data(self, node):
        items = [tag("li", *self.file(f"book/{name}", name), f": the ledger, {what}.") for name, what in LEDGER.items()]
        for path in recorded():
            items.append(tag("li", *self.file(f"{FOLDER}/{path.name}", path.name), ": ", *provenance(path)))
        items.append(tag("li", *self.file(f"{FOLDER}/CITATION.cff", "CITATION.cff"), ": how to cite the book."))
        return [tag("ul", *(item for item in items if item.children), classes=["downloads"])]


def spaced(parts):
    return [part for one in parts for part in (one, " ")]


def provenance(path):
    """Where a recorded result comes from, in a line: words and nodes."""
    if path == ROOT / bookcache.SEEDS_FILE:
        return ["the verdicts under other master seeds, from ", tag("code", "make seeds"), "."]
    held = json.loads(path.read_text(encoding="utf8"))
    if not isinstance(held, dict):
        return ["recorded."]
    jobs, seconds = held.get("jobs"), held.get("cpu_s")
    said = [f"{len(jobs)} jobs" if isinstance(jobs, list) else "", f"{seconds:.0f} s of processor time" if seconds else "",
            str(held.get("machine", "")), f"Python {held['python']}" if "python" in held else "",
            ", ".join(f"{name} {version}" for name, version in held.get("versions", {}).items()), str(held.get("date", ""))]
    made = ["; made by ", tag("code", held["command"])] if "command" in held else []
    return ["; ".join(word for word in said if word), *made, "."]


# ------------------------------------------------------------------ notebooks and the ledger


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
    """The ledger as flat rows: what was written before measuring, and what this build's runs found."""
    results = found(app)
    for chapter, row in rows_in_book():
        record, run = results.record(chapter, row["id"]) or {}, results.runs[chapter]
        measured = record.get("controls") or {}
        yield {"chapter": chapter, "id": row["id"], "anchor": f"{bookcache.CHAPTERS.name}/{chapter}.html#{row_anchor(row['id'])}",
               "document": row["source"]["document"], "place": row["source"]["place"], "reading": row["source"]["reading"],
               "kind": row["kind"], "statement": row["statement"], "statistic": row["statistic"], "criterion": row["criterion"],
               "tolerance": row["tolerance"], "expected": row["expected"], "verdict": record.get("verdict"),
               "value": record.get("value"), "half_width": record.get("half_width"),
               "default_settings": record.get("default_settings"), "why": record.get("why"), "parts": record.get("parts"),
               "controls": {name: {"what": what, **measured.get(name, {})} for name, what in row["controls"].items()},
               "settings": record.get("settings"), "seed": run.seed, "seeds": results.seeds.get(row["id"], {}),
               "chapter_seconds": run.seconds, "run": run.state, "commit": run.origin.get("commit"),
               "clean": run.origin.get("clean"), "environment": run.origin.get("environment"), "date": run.origin.get("date")}


def ledger_texts(app):
    """``ledger.csv`` and ``ledger.json``."""
    rows, text = list(ledger_rows(app)), io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: json.dumps(v, ensure_ascii=False) if isinstance(v, dict) else v for k, v in row.items()})
    return text.getvalue(), json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
