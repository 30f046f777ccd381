"""The list of the book's figures: ``{figure-list}``.

By chapter, each with its number, the first sentence of its caption and its files.
"""

from collections.abc import Sequence

from docutils.nodes import Element, Node, inline

from claimbook.files import ROOT
from claimbook.runs import cache
from claimbook.site.content import content_of
from claimbook.site.downloads.lists import sized_link
from claimbook.site.nodes import from_run, html_tag, spaced, tag
from claimbook.site.page import Page, WordsDirective
from claimbook.site.pictures.gallery import Figure, figures_of, figures_of_run


class FigureList(WordsDirective):
    """Every figure of the chapters."""

    def run(self) -> list[Node]:
        """The list, with a place for each figure; a caption has one sentence a line."""
        chapters = []
        for chapter, heading in content_of(self.env.app).headings.items():
            path = cache.chapter_path(chapter, ROOT)
            self.env.note_dependency(str(path))
            items = [
                tag("li", from_run("", caption, what="listed_figure", name=figure.name))
                for figure in figures_of_run(chapter, None)
                for caption in [inline("", "", *self.markdown(figure.caption.split("\n")[0]))]
            ]
            if items:
                title = tag("p", heading, classes=["download-title"])
                chapters.append(tag("li", title, tag("ul", *items)))
        return [tag("ul", *chapters, classes=["downloads", "figure-list"])]


def listed_figure(page: Page, node: Element) -> Sequence[Node | str]:
    """The caption that the place holds, between the number on the figure's page and its files."""
    figure = figures_of(page.content)[node["name"]]
    env = page.builder.env
    numbered = env.toc_fignumbers[f"{cache.CHAPTERS.as_posix()}/{figure.chapter}"]["figure"]
    number = env.config.numfig_format["figure"] % ".".join(map(str, numbered[figure.name]))
    link = tag("a", number, href=f"{page.to_chapter(figure.chapter)}#{figure.name}")
    return [link, " ", *node.children, " ", *files_of(page, figure)]


def files_of(page: Page, figure: Figure) -> Sequence[Node | str]:
    """A figure's drawing, its data and the weights that it carries; nothing if it is not run."""
    if not figure.output:
        return []
    table = str(figure.with_it.get("csv", ""))
    links: list[html_tag] = [
        sized_link(page, figure.svg_file, "SVG", len(figure.svg.encode())),
        sized_link(page, figure.csv_file, "data (CSV)", len(table.encode())),
    ]
    if figure.npz:
        links.append(sized_link(page, figure.npz_file, "weights (NPZ)", len(figure.npz)))
    return spaced(links)
