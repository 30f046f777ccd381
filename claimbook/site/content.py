"""What the site shows: the ledger, the chapters' runs and the rows, read once as a build begins."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from claimbook.check.snapshot import Snapshot, differences, expected_path, read_expected
from claimbook.files import ROOT
from claimbook.ledger import OURS, Record, amendments, load, plain
from claimbook.ledger.record import records
from claimbook.pages import chapter_path, toc_chapters
from claimbook.runs.notebooks import Run, current

FILE = re.compile(r"0*(\d+[a-z]?)_")
TITLE = re.compile(r"^# (.*\S)", re.MULTILINE)

SOURCE = ("document", "place", "reading", "printed", "suggested_by")
WRITTEN = ("kind", "brief", "statement", "statistic", "tolerance", "quantity", "expected")
MAY_BE_WRITTEN = ("amended", "audit", "note")
RESULT = ("verdict", "finding", "value", "half_width", "default_settings", "why", "parts")
ORIGIN = ("commit", "clean", "environment", "date")

Row = dict[str, Any]


def label(chapter: str) -> str:
    """Return the label of a chapter, from the name of one of its pages.

    >>> label("05b_trained_transformers"), label("00_mini")
    ('5b', '0')
    """
    match = FILE.match(chapter)
    return match[1] if match else chapter


@dataclass(frozen=True, eq=False)
class Content:
    """The ledger, the runs of the chapters in the book's order, and the rows made of both."""

    root: Path = ROOT

    @cached_property
    def claims(self) -> Mapping[str, Any]:
        """Read and validate ``claims.yml``."""
        claims: Mapping[str, Any] = plain(load(self.root / "book" / "claims.yml"))
        return claims

    @cached_property
    def chapters(self) -> list[str]:
        """Return the chapters' names in the order of ``_toc.yml``."""
        return toc_chapters(self.root)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """Return the chapters' titles with their labels."""
        paths = {name: chapter_path(name, self.root) for name in self.chapters}
        texts = {name: path.read_text(encoding="utf8") for name, path in paths.items()}
        return {name: f"{label(name)}. {TITLE.findall(texts[name])[0]}" for name in texts}

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """Read the chapters' runs under their present keys.

        Raises ``ExtensionError`` where a chapter has none: a build runs no code.
        """
        runs = {}
        for name in self.chapters:
            run = current(chapter_path(name, self.root), self.root)
            if run is None:
                raise ExtensionError(f"{name} has no current run; `make book` runs what is missing")
            runs[name] = run
        return runs

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """Return what the runs recorded, by the rows' ids."""
        by_id: dict[str, Record] = {}
        for run in self.runs.values():
            by_id |= records(run.notebook)
        return by_id

    @cached_property
    def seeds(self) -> Mapping[str, Mapping[str, str]]:
        """Return the verdicts under other master seeds, by the rows' ids and then by seed."""
        notes = amendments.read(self.root / "tests" / "rows.txt")
        return {claim: note.by_seed for claim, note in notes.items()}

    @cached_property
    def rows(self) -> list[Row]:
        """Return the rows of ``ledger.json`` in the book's order: what was written, what was found.

        Raises ``ExtensionError`` where a chapter's run says nothing of one of its rows.
        """
        blocks = self.claims["chapters"]
        rows = []
        for chapter in self.chapters:
            rows += [self._row(chapter, row) for row in blocks.get(chapter, {}).get("claims", [])]
        return rows

    def _row(self, chapter: str, written: Mapping[str, Any]) -> Row:
        claim = written["id"]
        if claim not in self.records:
            raise ExtensionError(f"the run of {chapter} has no verdict on {claim}")
        record, run = asdict(self.records[claim]), self.runs[chapter]
        source, printed = written["source"], written["source"].get("printed", [])
        amended = []
        for change in written.get("amended", []):
            amended.append({field: str(value) for field, value in change.items()})  # dates
        return {
            "chapter": chapter,
            "id": claim,
            "anchor": f"ledger.html#{claim}",
            **{field: source.get(field) for field in SOURCE},
            "printed": [printed] if isinstance(printed, str) else list(printed),
            **{field: written.get(field) for field in (*WRITTEN, *MAY_BE_WRITTEN)},
            "criterion": written["parts"],
            "amended": amended,
            **{field: record[field] for field in RESULT},
            "controls": {
                name: {**control, **record["controls"].get(name, {})}
                for name, control in written["controls"].items()
            },
            "settings": record["settings"],
            "seed": self.seed(chapter),
            "seeds": self.seeds.get(claim, {}),
            "chapter_seconds": run.seconds,
            "run": self.states[chapter],
            **{field: run.provenance.get(field) for field in ORIGIN},
        }

    @cached_property
    def by_id(self) -> Mapping[str, Row]:
        """Return the rows by their ids."""
        return {row["id"]: row for row in self.rows}

    @cached_property
    def sources(self) -> list[str]:
        """Return the documents other than this book that some row names, in the ledger's order."""
        named = {row["document"] for row in self.rows} - {OURS}
        return [key for key in self.claims["documents"] if key in named]

    def seed(self, chapter: str) -> Any:
        """Return the master seed of a chapter's run."""
        settings = [one.settings for one in self.records.values() if one.chapter == chapter]
        return settings[0]["seed"] if settings else None

    @cached_property
    def states(self) -> Mapping[str, str]:
        """Say of each chapter's run whether it agrees with its reference values."""
        return {chapter: self._state(chapter) for chapter in self.chapters}

    def _state(self, chapter: str) -> str:
        notebook = self.runs[chapter].notebook
        if not all(record.default_settings for record in records(notebook).values()):
            return "was made at other settings than the book's"
        if not expected_path(chapter, self.root).exists():
            return "has no reference values"
        differs = differences(read_expected(chapter, self.root), Snapshot.of(notebook))
        return f"{'differs from' if differs else 'agrees with'} its reference values"


@lru_cache(maxsize=1)
def content_of(app: Sphinx) -> Content:
    """Return the one :class:`Content` of this run of Sphinx."""
    return Content()
