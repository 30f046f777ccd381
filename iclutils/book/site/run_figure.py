"""The book's figures as files: each figure of each executed chapter as ``book/figures/<name>.svg`` and ``.csv``.

Every chapter's figure gets a line with links to both under its caption. ``{run-figure} NAME`` shows a chapter's figure
on another page, with a caption of its own and a link to its place; ``figures_of(chapter)`` lists them for other pages.
A figure is what a code cell with ``mystnb: {figure: {name, caption}, image: {alt}}`` displays (iclutils/figures.py).
"""

import posixpath
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

import bookcache
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

ROOT = bookcache.ROOT
FOLDER = "book/figures"
SVG = "image/svg+xml"


@dataclass(frozen=True)
class Figure:
    """One figure of a chapter; the files are named from the root of the site."""

    name: str
    chapter: str
    caption: str  # Markdown
    alt: str
    output: dict | None  # what the run displayed; None where the chapter is not run

    @property
    def svg_file(self):
        return f"{FOLDER}/{self.name}.svg"

    @property
    def csv_file(self):
        return f"{FOLDER}/{self.name}.csv"

    @property
    def svg(self):
        text = self.output["data"][SVG]
        return "".join(text) if isinstance(text, list) else text

    @property
    def with_it(self):
        """What the figure carries beside its picture: ``csv`` and ``lettering``."""
        return (self.output or {}).get("metadata", {}).get(SVG, {})

    @property
    def size(self):
        """Width and height as the SVG states them, in points."""
        head = self.svg[self.svg.index("<svg"):][:500]
        width, height = (re.search(rf'\s{side}="([\d.]+)pt"', head) for side in ("width", "height"))
        return float(width[1]), float(height[1])


def chapter_figures(chapter, folder=None):
    """Every :class:`Figure` of a chapter, in its order: words from the chapter, pictures from its run in the cache."""
    path = bookcache.chapter_path(chapter, ROOT)
    written = [cell for cell in bookcache.read_chapter(path).cells if cell.cell_type == "code"]
    run = bookcache.cached_run(path, folder or bookcache.cache_path(ROOT))
    ran = [cell for cell in run[0].cells if cell.cell_type == "code"] if run else written
    found = []
    for cell, done in zip(written, ran, strict=True):
        pictures = [o for o in done.get("outputs", []) if SVG in o.get("data", {})]
        options = cell.metadata.get("mystnb", {})
        figure, alt = options.get("figure", {}), options.get("image", {}).get("alt", "")
        if figure or pictures:
            found += [Figure(figure.get("name", ""), chapter, str(figure.get("caption", "")).strip(), alt, picture)
                      for picture in pictures or [None]]
    return found


def figures_of(chapter):
    """(name, caption in Markdown, SVG file, CSV file) of each figure; the files from the root of the site."""
    return [(f.name, f.caption, f.svg_file, f.csv_file) for f in chapter_figures(chapter)]


def figure_named(app):
    """Every figure of the book by name, read once a build."""
    if not hasattr(app, "bookfigures_found"):
        folder = Path(app.config.nb_execution_cache_path)
        found = [f for chapter in bookcache.toc_chapters(ROOT) for f in chapter_figures(chapter, folder)]
        names = [f.name for f in found]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"two figures share a name, or have none: {twice}")
        app.bookfigures_found = {f.name: f for f in found}
    return app.bookfigures_found


def files_line(name, docname):
    """The line under a caption."""
    base = posixpath.relpath(f"{FOLDER}/{name}", posixpath.dirname(docname) or ".")
    link = '<a href="{}.{}" aria-label="{}">{}</a>'
    svg = link.format(escape(base), "svg", f"SVG file of the figure {escape(name)}", "SVG")
    csv = link.format(escape(base), "csv", f"data (CSV) of the figure {escape(name)}", "data (CSV)")
    return nodes.raw("", f'<p class="figure-files">{svg} · {csv}</p>', format="html")


def add_files_lines(app, doctree):
    """Each figure that a chapter's cell draws says where its files are."""
    docname = app.env.docname
    if posixpath.dirname(docname) != bookcache.CHAPTERS.as_posix():
        return
    names = {f.name for f in chapter_figures(posixpath.basename(docname), Path(app.config.nb_execution_cache_path))}
    for figure in doctree.findall(nodes.figure):
        name = next((name for name in figure["names"] if name in names), None)
        if name:
            legend = next(iter(figure.findall(nodes.legend)), None)
            if legend is None:
                legend = nodes.legend()
                figure += legend
            legend += files_line(name, docname)


class run_part(nodes.General, nodes.Element):
    """A part of a ``{run-figure}`` that is filled in when the page is written: ``run_part(name=…, what="picture")``."""


class run_figure(nodes.General, nodes.Element):
    """``<figure>`` without a number: it has one in its chapter."""


class run_caption(nodes.General, nodes.Element):
    pass


def visit_figure(self, node):
    self.body.append('<figure class="run-figure">\n')


def depart_figure(self, node):
    self.body.append("</figure>\n")


def visit_caption(self, node):
    self.body.append("<figcaption>\n")


def depart_caption(self, node):
    self.body.append("</figcaption>\n")


def skip(self, node):
    pass


class RunFigure(SphinxDirective):
    """A chapter's figure on another page: ``{run-figure} NAME``, ``:alt:`` (else the chapter's), the caption inside."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012

    def run(self):
        name = self.arguments[0]
        caption = run_caption("", *self.parse_content_to_nodes(), run_part("", name=name, what="links"))
        return [run_figure("", run_part("", name=name, what="picture", alt=self.options.get("alt", "")), caption)]


def picture(figure, docname, alt=""):
    """The ``<img>`` of a figure; its size is stated so that the page does not jump when it comes."""
    source = posixpath.relpath(figure.svg_file, posixpath.dirname(docname) or ".")
    width, height = (round(4 / 3 * points) for points in figure.size)
    alt = escape(" ".join((alt or figure.alt).split()))
    return nodes.raw("", f'<img src="{escape(source)}" alt="{alt}" width="{width}" height="{height}" />', format="html")


def fill(app, doctree, docname):
    for node in list(doctree.findall(run_part)):
        figure = figure_named(app).get(node["name"])
        if figure is None:
            raise ValueError(f"run-figure: no chapter has a figure '{node['name']}'; there are {sorted(figure_named(app))}")
        if node["what"] == "links":
            place = app.builder.get_relative_uri(docname, f"{bookcache.CHAPTERS.as_posix()}/{figure.chapter}")
            line = files_line(figure.name, docname).astext()
            line = line.replace('"figure-files">', f'"figure-files"><a href="{place}#{figure.name}">In its chapter</a> · ')
            node.replace_self(nodes.raw("", line, format="html"))
        elif figure.output is None:
            node.replace_self(nodes.paragraph("", "This figure is not run yet."))
        else:
            node.replace_self(picture(figure, docname, node["alt"]))
    if app.builder.format == "html":  # one file a figure, whichever page shows it
        for node in list(doctree.findall(nodes.figure)):
            figure = next((figure_named(app)[name] for name in node["names"] if name in figure_named(app)), None)
            image = next(iter(node.findall(nodes.image)), None)
            if figure is not None and figure.output is not None and image is not None:
                image.replace_self(picture(figure, docname))


def write_files(app, exception):
    """``book/figures`` of the site, and nothing in it that the book no longer draws."""
    if exception or app.builder.format != "html":
        return
    written = set()
    for figure in figure_named(app).values():
        if figure.output is not None:
            for name, text in ((figure.svg_file, figure.svg), (figure.csv_file, figure.with_it.get("csv", ""))):
                path = Path(app.outdir) / name
                bookcache.write_atomically(path, text)
                written.add(path)
    for path in (Path(app.outdir) / FOLDER).glob("*"):
        if path not in written:
            path.unlink()


def setup(app):
    app.add_node(run_part, html=(skip, skip), text=(skip, skip))
    app.add_node(run_figure, html=(visit_figure, depart_figure), text=(skip, skip))
    app.add_node(run_caption, html=(visit_caption, depart_caption), text=(skip, skip))
    app.add_directive("run-figure", RunFigure)
    app.connect("doctree-read", add_files_lines)
    app.connect("doctree-resolved", fill)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}


if __name__ == "__main__":
    for chapter_name in sys.argv[1:] or bookcache.toc_chapters(ROOT):
        for one in chapter_figures(chapter_name):
            print(chapter_name, one.name, one.with_it.get("lettering"))
