"""How the pages show the figures: each with links to its files, and any of them on another page.

Every chapter's figure gets a line with links to its SVG and its numbers under its caption, and its
code, where the cell hides it.
``{run-figure} NAME`` shows a chapter's figure on another page, with a caption of its own and a link
to its place.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from claimbook.site.cells import code_without_bar
from claimbook.site.content import content_of
from claimbook.site.nodes import html_tag, tag
from claimbook.site.pictures.gallery import Figure, figures_of
from claimbook.site.views import Views

PIXELS = 4 / 3  # to a point
SIZE = re.compile(r'\s(width|height)="([\d.]+)pt"')  # as a drawing states it
CLASSES = ("drawing", "dark-light")  # the second keeps the theme's own ground away from it


class RunFigure(SphinxDirective):
    """A chapter's figure on another page: ``{run-figure} NAME``, the caption inside.

    ``:alt:`` is its alternative text here (else the chapter's).
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Mapping[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
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
    """The figure; a filter of the style gives it the colours of the dark theme.

    Its size is stated so that the page does not jump when it comes.
    """
    words = " ".join((alt or figure.alt).split())
    source = Views.address(page, figure.svg_file)
    return tag("img", src=source, alt=words, classes=CLASSES, **pixels(figure.svg))


def pixels(svg: str) -> dict[str, str]:
    """The size of a figure's drawing as attributes of its image."""
    stated = SIZE.findall(svg[svg.index("<svg") :][:500])
    return {side: str(round(PIXELS * float(points))) for side, points in stated}


def files_line(page: str, figure: Figure, *before: nodes.Node | str) -> html_tag:
    """The line under a caption; ``before`` stands first in it.

    To a screen reader each link says of which figure it is.
    """
    files = {"SVG": figure.svg_file, "data (CSV)": figure.csv_file}
    links: list[nodes.Node | str] = []
    for what, place in files.items():
        label = f"{what} of the figure {figure.name}"
        link = tag("a", what, href=Views.address(page, place), aria_label=label)
        links += [" · ", link] if links else [link]
    return tag("p", *before, *links, classes=["figure-files"])


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
