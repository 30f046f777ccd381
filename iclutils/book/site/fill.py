"""Filling in: every place of a page that waits for what a run found, and the figures' files."""

from collections.abc import Mapping

from docutils import nodes
from sphinx.application import Sphinx

from iclutils.book.site import (
    counts,
    deviations,
    downloads,
    filters,
    rows,
    run_figure,
    scorecard,
    sentences,
    times,
)
from iclutils.book.site.build import build_of
from iclutils.book.site.lines import show_lines
from iclutils.book.site.nodes import as_nodes, from_run
from iclutils.book.site.page import Fill, Page

FILLS: Mapping[str, Fill] = {
    # of a row
    "verdict": rows.verdict,
    "finding": rows.finding,
    "value": rows.value,
    "expected": rows.expected,
    "seeds": rows.seeds,
    "parts": rows.parts,
    "control": rows.control,
    "place": rows.place,
    # of a chapter
    "counts": rows.counts,
    "validation": rows.validation,
    "seed": rows.seed,
    "seconds": rows.seconds,
    "chapter_files": downloads.chapter_files,
    # in a sentence
    "inline_value": sentences.inline_value,
    "inline_verdict": sentences.inline_verdict,
    "inline_picture": sentences.inline_picture,
    "ledger_count": counts.ledger_count,
    # whole lists
    "scorecard": scorecard.scorecard,
    "score_filters": filters.score_filters,
    "downloads_book": downloads.downloads_book,
    "downloads_chapters": downloads.downloads_chapters,
    "downloads_data": downloads.downloads_data,
    "deviations": deviations.deviations,
    "run_times": times.run_times,
    # a chapter's figure on another page
    "figure_picture": run_figure.figure_picture,
    "figure_links": run_figure.figure_links,
}


def fill_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace every place of one page by what its fill returns."""
    page = Page(build_of(app), app.builder, docname)
    if app.builder.format == "html":
        show_lines(page, doctree)
    for node in list(doctree.findall(from_run)):
        found = FILLS[node["what"]](page, node)
        node.replace_self(as_nodes(found))
    if app.builder.format == "html":
        run_figure.show_figures(page, doctree)
