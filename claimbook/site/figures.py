"""The book's figures: files of ``book/figures``, and how the pages show them.

A figure is what a code cell with ``mystnb: {figure: {name, caption}, image: {alt}}`` displays
(:mod:`claimbook.figures`). Under its caption stand links to its drawing and its numbers,
``<name>.svg`` and ``<name>.csv``, and its code, where the cell hides it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

from claimbook.files import write_atomically
from claimbook.pages import code_cells
from claimbook.site.cells import code_without_bar
from claimbook.site.content import Content
from claimbook.site.nodes import html_tag, tag
from claimbook.site.views import Views

FOLDER = "book/figures"
SVG = "image/svg+xml"
PIXELS = 4 / 3  # to a point
SIZE = re.compile(r'\s(width|height)="([\d.]+)pt"')  # as a drawing states it
CLASSES = ("drawing", "dark-light")  # the second keeps the theme's own ground away from it


class Figure(NamedTuple):
    """One figure of a chapter; with it the run keeps its ``csv`` and what its ``lettering`` is."""

    name: str
    chapter: str
    caption: str  # Markdown
    alt: str
    svg: str
    with_it: Mapping[str, Any]


def figures_in(chapter: str, notebook: Any) -> Iterator[Figure]:
    """Yield the figures that a chapter's run displays."""
    for cell in code_cells(notebook):
        options = cell.metadata.get("mystnb", {})
        figure = options.get("figure", {})
        about = str(figure.get("caption", "")).strip(), options.get("image", {}).get("alt", "")
        for output in cell.get("outputs", []):
            if svg := output.get("data", {}).get(SVG):
                name, with_it = figure.get("name", ""), output["metadata"].get(SVG, {})
                yield Figure(name, chapter, *about, svg, with_it)


@lru_cache(maxsize=1)
def figures_of(content: Content) -> Mapping[str, Figure]:
    """Return every figure of the chapters by its name; of one name for two Sphinx warns."""
    runs = content.runs.items()
    return {one.name: one for chapter, run in runs for one in figures_in(chapter, run.notebook)}


def write_figures(content: Content, site: Path) -> None:
    """Write drawings and numbers into ``book/figures`` of the site."""
    for figure in figures_of(content).values():
        write_atomically(site / FOLDER / f"{figure.name}.svg", figure.svg)
        write_atomically(site / FOLDER / f"{figure.name}.csv", figure.with_it.get("csv", ""))


def picture(page: str, figure: Figure) -> html_tag:
    """Show a figure; its size is stated so that the page does not jump when it comes."""
    source = Views.address(page, f"{FOLDER}/{figure.name}.svg")
    stated = SIZE.findall(figure.svg[figure.svg.index("<svg") :][:500])
    size = {side: str(round(PIXELS * float(points))) for side, points in stated}
    return tag("img", src=source, alt=" ".join(figure.alt.split()), classes=CLASSES, **size)


def files_line(page: str, figure: Figure) -> html_tag:
    """Write the line under a caption; to a screen reader each link says of which figure it is."""
    links = []
    for what, ending in (("SVG", "svg"), ("data (CSV)", "csv")):
        address = Views.address(page, f"{FOLDER}/{figure.name}.{ending}")
        label = f"{what} of the figure {figure.name}"
        links.append(tag("a", what, href=address, aria_label=label))
    return tag("p", links[0], " · ", links[1], classes=["figure-files"])


def show_figures(views: Views, page: str, doctree: nodes.document) -> None:
    """Show each figure that a chapter's cell draws from its file, with links to its files."""
    known = figures_of(views.content)
    for node in list(doctree.findall(nodes.figure)):
        for figure in [known[name] for name in node["names"] if name in known]:
            for image in list(node.findall(nodes.image)):
                image.replace_self(picture(page, figure))
            tools = tag("div", files_line(page, figure), classes=["figure-tools"])
            if code := code_without_bar(node):
                fold = tag("details", tag("summary", "code"), *code, classes=["figure-code"])
                tools.insert(0, fold)
            legend = next(iter(node.findall(nodes.legend)), None)
            if legend is None:
                node += (legend := nodes.legend())
            legend += tools
