"""What one build of the site reads, each thing once, when it is first asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from iclutils.book.ledger import load
from iclutils.book.runs import cache
from iclutils.book.runs.cache import CachedRun
from iclutils.book.runs.files import ROOT
from iclutils.book.site import export, figures, offers, results
from iclutils.book.site.figures import Figure
from iclutils.book.site.offers import Offers
from iclutils.book.site.results import Entry, Results, Scored

LEDGER = ROOT / "book" / "claims.yml"


@dataclass(frozen=True)
class Build:
    """One build: the ledger and the book's order, what was found, what is drawn and offered."""

    cache_folder: Path  # the executed chapters
    notebook_folder: Path  # where they are written for download

    @cached_property
    def ledger(self) -> Mapping[str, Any]:
        """``claims.yml``, read and validated."""
        return load(LEDGER)

    @cached_property
    def chapters(self) -> list[str]:
        """The chapters' names in the order of ``_toc.yml``."""
        return cache.toc_chapters(ROOT)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """The chapters' titles."""
        return {chapter: results.heading(chapter) for chapter in self.chapters}

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
    def runs(self) -> Mapping[str, CachedRun | None]:
        """The chapters' runs; not to be asked for before the chapters are read."""
        return {
            chapter: cache.cached_run(cache.chapter_path(chapter, ROOT), self.cache_folder)
            for chapter in self.chapters
        }

    @cached_property
    def results(self) -> Results:
        """What the chapters' runs found; not to be asked for before the chapters are read."""
        return results.read_results(self.runs, self.ledger)

    @cached_property
    def scored(self) -> list[Scored]:
        """The rows that were run."""
        out: list[Scored] = []
        for chapter, row in self.entries.values():
            record = self.results.record(chapter, row["id"])
            if record is not None:
                out.append(Scored(chapter, row, record))
        return out

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures by name; not to be asked for before the chapters are read."""
        return figures.figures_by_name(self.runs)

    @cached_property
    def offers(self) -> Offers:
        """The files to take home."""
        texts = export.ledger_files(self.entries.values(), self.results)
        key = offers.site_key(self.results.digest())
        return offers.collect(self.chapters, self.notebook_folder, key, texts)

    @cached_property
    def state(self) -> Mapping[str, str]:
        """What the pages in the output folder are made of, to be compared by the next build."""
        return {
            "results": self.results.digest(),
            "files": self.offers.digest(),
            "key": self.offers.key,
        }


def build_of(app: Sphinx) -> Build:
    """The one :class:`Build` of this run of Sphinx."""
    build: Build | None = getattr(app, "iclbook_build", None)
    if build is None:
        notebooks = Path(app.outdir).parent / "notebooks"
        build = Build(Path(app.config.nb_execution_cache_path), notebooks)
        app.iclbook_build = build  # type: ignore[attr-defined]  # it lives as long as the build
    return build
