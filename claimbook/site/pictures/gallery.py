"""The book's figures as files of ``book/figures``: ``<name>.svg`` and ``<name>.csv``.

A figure is what a code cell with ``mystnb: {figure: {name, caption}, image: {alt}}`` displays
(:mod:`claimbook.figures`). How the pages show them:
:mod:`claimbook.site.pictures.run_figure`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from claimbook.files import ROOT, write_atomically
from claimbook.pages import chapter_path, read_chapter
from claimbook.runs.notebooks import Run
from claimbook.site.content import Content

FOLDER = "book/figures"
SVG = "image/svg+xml"


@dataclass(frozen=True)
class Figure:
    """One figure of a chapter; the files are named from the root of the site."""

    name: str
    chapter: str
    caption: str  # Markdown
    alt: str
    output: Mapping[str, Any]  # what the run displayed; nothing where the chapter is not run

    @property
    def svg_file(self) -> str:
        """The place of the drawing."""
        return f"{FOLDER}/{self.name}.svg"

    @property
    def csv_file(self) -> str:
        """The place of the numbers that it shows."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def svg(self) -> str:
        """The drawing; empty where the chapter is not run."""
        return str(self.output.get("data", {}).get(SVG, ""))

    @property
    def with_it(self) -> Mapping[str, Any]:
        """What goes with the picture: ``csv`` and ``lettering``."""
        carried: Mapping[str, Any] = self.output.get("metadata", {}).get(SVG, {})
        return carried


def code_cells(notebook: Any) -> list[Any]:
    """The code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def figures_of_run(chapter: str, run: Run | None) -> list[Figure]:
    """The figures of a chapter, in its order: words from the chapter, pictures from its run."""
    written = code_cells(read_chapter(chapter_path(chapter, ROOT)))
    ran = code_cells(run.notebook) if run else written
    found: list[Figure] = []
    for cell, done in zip(written, ran, strict=True):
        pictures = [out for out in done.get("outputs", []) if SVG in out.get("data", {})]
        options = cell.metadata.get("mystnb", {})
        figure = options.get("figure", {})
        for picture in pictures or [{}] * bool(figure):
            name = figure.get("name", "")
            caption = str(figure.get("caption", "")).strip()
            alt = options.get("image", {}).get("alt", "")
            found.append(Figure(name, chapter, caption, alt, picture))
    return found


@lru_cache(maxsize=1)  # of one build; not to be asked for before the chapters are read
def figures_of(content: Content) -> Mapping[str, Figure]:
    """Every figure of the chapters by its name; of names that two share Sphinx warns."""
    return {
        figure.name: figure
        for chapter, run in content.runs.items()
        for figure in figures_of_run(chapter, run)
    }


def write_figures(figures: Iterable[Figure], site: Path) -> None:
    """Write the files into ``book/figures`` of the site; remove what the book no longer draws."""
    written: set[Path] = set()
    for figure in figures:
        if figure.output:
            files = {figure.svg_file: figure.svg, figure.csv_file: figure.with_it.get("csv", "")}
            for name, text in files.items():
                write_atomically(site / name, text)
                written.add(site / name)
    for path in (site / FOLDER).glob("*"):
        if path not in written:
            path.unlink()
