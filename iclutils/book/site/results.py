"""What the executed chapters found, and the ledger's rows that they answer."""

import hashlib
import json
from pathlib import Path

import bookcache
import bookorigin

from iclutils import claims

ROOT = bookcache.ROOT


class Found:
    """The records of all executed chapters, read once a build."""

    def __init__(self, app):
        self.chapters, self.seconds, self.runs = {}, {}, {}
        settings = {name: block["settings"] for name, block in claims.load(ROOT / "book" / "claims.yml")["chapters"].items()}
        folder = Path(app.config.nb_execution_cache_path)
        for name in bookcache.toc_chapters(ROOT):
            run = bookcache.cached_run(bookcache.chapter_path(name, ROOT), folder)
            records = bookcache.records(run.notebook) if run else {}
            self.chapters[name] = records
            self.seconds[name] = run.seconds if run else None
            self.runs[name] = bookorigin.Run()
            if run:
                own = all(record["default_settings"] for record in records.values())
                state = bookorigin.state(run.origin, bookorigin.reference(name, ROOT), own)
                used = next((record["settings"] for record in records.values()), settings.get(name, {}))
                self.runs[name] = bookorigin.Run(state, run.seconds, used.get("seed"), run.origin)
        seeds = ROOT / bookcache.SEEDS_FILE
        self.seeds = json.loads(seeds.read_text(encoding="utf8")) if seeds.exists() else {}

    def digest(self):
        state = json.dumps([self.chapters, self.runs, self.seeds], sort_keys=True)
        return hashlib.sha256(state.encode()).hexdigest()

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
