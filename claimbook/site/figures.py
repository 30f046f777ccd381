"""The book's figures: files of ``book/figures``, and how the pages show them.

A figure is what a code cell with ``mystnb: {figure: {name, caption}, image: {alt}}`` displays
(:mod:`claimbook.figures`). Under its caption stand links to its drawing and its numbers,
``<name>.svg`` and ``<name>.csv``, and its code, where the cell hides it. ``{run-figure} NAME``
shows a chapter's figure on another page.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from claimbook.files import ROOT, write_atomically
from claimbook.pages import chapter_path, code_cells, read_chapter
from claimbook.runs.notebooks import Run
from claimbook.site.cells import code_without_bar
from claimbook.site.content import Content, content_of
from claimbook.site.nodes import html_tag, tag
from claimbook.site.views import Views

FOLDER = "book/figures"
SVG = "image/svg+xml"
PIXELS = 4 / 3  # to a point
SIZE = re.compile(r'\s(width|height)="([\d.]+)pt"')  # as a drawing states it
CLASSES = ("drawing", "dark-light")  # the second keeps the theme's own ground away from it


@dataclass(frozen=True)
class Figure:
    """One figure of a chapter."""

    name: str
    chapter: str
    caption: str  # Markdown
    alt: str
    output: Mapping[str, Any]  # what the run displayed; nothing where the chapter is not run

    @property
    def svg(self) -> str:
        """The drawing; empty where the chapter is not run."""
        return str(self.output.get("data", {}).get(SVG, ""))

    @property
    def with_it(self) -> Mapping[str, Any]:
        """What goes with the picture: ``csv`` and ``lettering``."""
        carried: Mapping[str, Any] = self.output.get("metadata", {}).get(SVG, {})
        return carried


def figures_of_run(chapter: str, run: Run | None) -> list[Figure]:
    """List the figures of a chapter: words from the chapter, pictures from its run."""
    written = code_cells(read_chapter(chapter_path(chapter, ROOT)))
    ran = code_cells(run.notebook) if run else written
    found: list[Figure] = []
    for cell, done in zip(written, ran, strict=True):
        pictures = [out for out in done.get("outputs", []) if SVG in out.get("data", {})]
        options = cell.metadata.get("mystnb", {})
        figure = options.get("figure", {})
        for picture in pictures or [{}] * bool(figure):
            caption = str(figure.get("caption", "")).strip()
            alt = options.get("image", {}).get("alt", "")
            found.append(Figure(figure.get("name", ""), chapter, caption, alt, picture))
    return found


@lru_cache(maxsize=1)
def figures_of(content: Content) -> Mapping[str, Figure]:
    """Return every figure of the chapters by its name; of one name for two Sphinx warns."""
    return {
        figure.name: figure
        for chapter, run in content.runs.items()
        for figure in figures_of_run(chapter, run)
    }


def write_figures(figures: Iterable[Figure], site: Path) -> None:
    """Write drawings and numbers into ``book/figures`` of the site."""
    for figure in figures:
        if figure.output:
            write_atomically(site / FOLDER / f"{figure.name}.svg", figure.svg)
            write_atomically(site / FOLDER / f"{figure.name}.csv", figure.with_it.get("csv", ""))


class RunFigure(SphinxDirective):
    """``{run-figure} NAME``: a chapter's figure on another page, the caption inside.

    ``:alt:`` is its alternative text here (else the chapter's).
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Mapping[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        known = figures_of(content_of(self.env.app))
        if self.arguments[0] not in known:
            raise self.error(f"run-figure: no chapter has this figure; there are {sorted(known)}")
        figure, page = known[self.arguments[0]], self.env.docname
        place = Views.address(page, f"book/chapters/{figure.chapter}.html#{figure.name}")
        links = files_line(page, figure, tag("a", "In its chapter", href=place), " · ")
        caption = tag("figcaption", *self.parse_content_to_nodes(), links)
        shown = picture(page, figure, self.options.get("alt", ""))
        return [tag("figure", shown, caption, classes=["run-figure"])]


def picture(page: str, figure: Figure, alt: str = "") -> html_tag:
    """Show a figure; its size is stated so that the page does not jump when it comes."""
    words = " ".join((alt or figure.alt).split())
    source = Views.address(page, f"{FOLDER}/{figure.name}.svg")
    stated = SIZE.findall(figure.svg[figure.svg.index("<svg") :][:500])
    size = {side: str(round(PIXELS * float(points))) for side, points in stated}
    return tag("img", src=source, alt=words, classes=CLASSES, **size)


def files_line(page: str, figure: Figure, *before: nodes.Node | str) -> html_tag:
    """Write the line under a caption; to a screen reader each link says of which figure it is."""
    links = []
    for what, ending in (("SVG", "svg"), ("data (CSV)", "csv")):
        place = Views.address(page, f"{FOLDER}/{figure.name}.{ending}")
        links.append(tag("a", what, href=place, aria_label=f"{what} of the figure {figure.name}"))
    return tag("p", *before, links[0], " · ", links[1], classes=["figure-files"])


def show_figures(views: Views, page: str, doctree: nodes.document) -> None:
    """Show each figure that a chapter's cell draws from its file, with links to its files."""
    known = figures_of(views.content)
    for node in list(doctree.findall(nodes.figure)):
        found = [known[name] for name in node["names"] if name in known]
        if found:
            show_figure(page, node, found[0])


def show_figure(page: str, node: nodes.figure, figure: Figure) -> None:
    """Show one figure from its file: one file a figure, whichever page shows it."""
    image = next(iter(node.findall(nodes.image)), None)
    if image is not None and figure.output:
        image.replace_self(picture(page, figure))
    legend = next(iter(node.findall(nodes.legend)), None)
    if legend is None:
        legend = nodes.legend()
        node += legend
    tools = tag("div", files_line(page, figure), classes=["figure-tools"])
    code = code_without_bar(node)
    if code:
        tools.insert(0, tag("details", tag("summary", "code"), *code, classes=["figure-code"]))
    legend += tools
