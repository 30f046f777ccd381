"""What the site is made of: the ledger, the runs and what they found, each read once a build."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from claimbook.files import ROOT
from claimbook.ledger import load, plain
from claimbook.pages import chapter_path, toc_chapters
from claimbook.runs.notebooks import Run, current
from claimbook.site import results
from claimbook.site.results import Entry, Results, Scored
from claimbook.site.stamps import NOT_RUN

LEDGER = ROOT / "book" / "claims.yml"
FILE = re.compile(r"0*(\d+[a-z]?)_")


def label(chapter: str) -> str:
    """What a chapter is called, from the name of one of its pages.

    >>> label("05b_trained_transformers"), label("00_mini")
    ('5b', '0')
    """
    found = FILE.match(chapter)
    return found[1] if found else chapter


@dataclass(frozen=True, eq=False)  # two are the same only if they are one
class Content:
    """The ledger and the book's order, and what was found; the rooms add what they make of it."""

    notebook_folder: Path  # where they are written for download

    @cached_property
    def ledger(self) -> Mapping[str, Any]:
        """``claims.yml``, read and validated."""
        ledger: Mapping[str, Any] = plain(load(LEDGER))
        return ledger

    @cached_property
    def chapters(self) -> list[str]:
        """The chapters' names in the order of ``_toc.yml``."""
        return toc_chapters(ROOT)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """The chapters' titles with their numbers."""
        return {
            chapter: f"{label(chapter)}. {results.heading(chapter)}" for chapter in self.chapters
        }

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The ledger's rows whose chapter is in the book, by their ids, in the book's order."""
        blocks = self.ledger["chapters"]
        return {
            row["id"]: Entry(chapter, row)
            for chapter in self.chapters
            for row in blocks.get(chapter, {}).get("claims", [])
        }

    @cached_property
    def runs(self) -> Mapping[str, Run | None]:
        """The chapters' runs; not to be asked for before the chapters are read."""
        return {
            chapter: current(chapter_path(chapter, ROOT), ROOT) for chapter in self.chapters
        }

    @cached_property
    def results(self) -> Results:
        """What the chapters' runs found; not to be asked for before the chapters are read."""
        return results.read_results(self.runs, self.ledger)

    @cached_property
    def scored(self) -> list[Scored]:
        """The rows that were run."""
        found = [
            Scored(chapter, row, self.results.record(chapter, row["id"]))
            for chapter, row in self.entries.values()
        ]
        return [scored for scored in found if scored.record.verdict != NOT_RUN]


@lru_cache(maxsize=1)
def content_of(app: Sphinx) -> Content:
    """The one :class:`Content` of this run of Sphinx."""
    return Content(Path(app.outdir).parent / "notebooks")
