"""Filling in: every place of a page that waits for what a run found, and the figures' files.

``{scorecard}``, ``{run-times}`` and ``{downloads} WHICH`` list what other pages
have: each is one place, filled as a whole.
"""

from collections.abc import Mapping

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from claimbook.site.cells import move_setup
from claimbook.site.content import content_of
from claimbook.site.downloads import lists
from claimbook.site.lecture import fold_predictions
from claimbook.site.nodes import as_nodes, from_run, html_tag
from claimbook.site.numbers import write_symbols
from claimbook.site.page import GATHERS, TAKEN_HOME, Fill, Page, note
from claimbook.site.pictures import run_figure
from claimbook.site.verdicts import (
    counts,
    filters,
    rows,
    scorecard,
    sentences,
    times,
)
from claimbook.site.verdicts.checked import gather_checks
from claimbook.site.verdicts.marks import explain_first, line_of_row, mark, marked_line

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
    "mark": mark,
    "marked_line": marked_line,
    "check_line": line_of_row,
    # of a chapter
    "counts": rows.counts,
    "validation": rows.validation,
    "seed": rows.seed,
    "seconds": rows.seconds,
    "chapter_files": lists.chapter_files,
    # in a sentence
    "inline_value": sentences.inline_value,
    "inline_verdict": sentences.inline_verdict,
    "inline_picture": sentences.inline_picture,
    "ledger_count": counts.ledger_count,
    # whole lists
    "scorecard": scorecard.scorecard,
    "score_filters": filters.score_filters,
    "downloads_book": lists.downloads_book,
    "downloads_chapters": lists.downloads_chapters,
    "downloads_exercises": lists.downloads_exercises,
    "downloads_data": lists.downloads_data,
    "run_times": times.run_times,
    # a chapter's figure on another page
    "figure_picture": run_figure.figure_picture,
    "figure_links": run_figure.figure_links,
}


class Gathered(SphinxDirective):
    """A list that is made when the page is written, in every build: any page may add to it."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place of the list; raises an error of the directive where there is no such list."""
        note(self.env, GATHERS, True)
        name = self.name.replace("-", "_")
        what = "_".join([name, *self.arguments])
        if what not in FILLS:
            known = [one.removeprefix(f"{name}_") for one in FILLS if one.startswith(name)]
            raise self.error(f"{self.name}: the list must be one of {known}; got {self.arguments}")
        return [from_run("", what=what)]


def fill_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Arrange one page as the site shows it, and replace its places by what their fills return."""
    if TAKEN_HOME in doctree:
        return
    page = Page(content_of(app), app.builder, docname)
    gather_checks(page, doctree)
    move_setup(page, doctree)
    fold_predictions(doctree)
    for node in list(doctree.findall(from_run)):
        found = FILLS[node["what"]](page, node)
        node.replace_self(as_nodes(found))
    explain_first(page, doctree)
    run_figure.show_figures(page, doctree)
    for element in list(doctree.findall(html_tag)):
        if not isinstance(element.parent, html_tag):
            write_symbols(element)
