"""The book's own Sphinx extension: what the runs found, shown on the pages.

The ledger and the runs are read once, as a build begins (:mod:`claimbook.site.content`), so that
directives and roles write finished HTML (:mod:`claimbook.site.directives`,
:mod:`claimbook.site.marks`) from templates (:mod:`claimbook.site.views`). Sphinx's own environment
is thrown away before a build, and so is the site of an earlier one.
"""

import gc
import shutil
from pathlib import Path
from typing import Any

from docutils.nodes import inline
from sphinx.application import Sphinx
from sphinx.config import Config

from claimbook.files import ROOT
from claimbook.pages import chapter_path, toc_chapters
from claimbook.site import (
    cells,
    code_index,
    directives,
    downloads,
    figures,
    fixes,
    lecture,
    marks,
    notebooks,
    page,
    views,
)
from claimbook.site.content import content_of
from claimbook.site.nodes import depart_tag, html_tag, visit_tag

LATE = 900  # after MyST-NB, which would make a suffix of each page that it is told to read
AFTER_SPHINX, AFTER_THE_NUMBERS = 600, 900  # Sphinx numbers at 500
DIRECTIVES = {
    "chapter-card": directives.ChapterCard,
    "code-index": code_index.CodeIndex,
    "downloads": downloads.Downloads,
    "explorer": lecture.Explorer,
    "ledger": directives.LedgerPage,
    "prediction": lecture.Prediction,
    "prediction-end": lecture.PredictionEnd,
    "run-times": directives.Directive,
    "scorecard": directives.Directive,
    "verdicts": directives.Directive,
}


def begin(app: Sphinx, config: Config) -> None:
    """Read the ledger and the runs, let sentences name the ledger's numbers, empty the site."""
    reader = "claimbook.runs.notebooks.read_executed"
    paths = [str(chapter_path(name, ROOT)) for name in toc_chapters(ROOT)]
    config.nb_custom_formats |= {
        path: [reader, {"path": path, "root": str(ROOT)}] for path in paths
    }
    config.templates_path.append(str(views.TEMPLATES))
    config.html_additional_pages["404"] = "404.html"
    config.html_search_scorer = str(views.TEMPLATES / "search.js")
    config.myst_substitutions |= views.substitutions(content_of(app).rows)
    shutil.rmtree(app.outdir)
    Path(app.outdir).mkdir()


def leave_out_fields(app: Sphinx, what: str, name: str, member: Any, *others: Any) -> bool | None:
    """Let autodoc pass by a named tuple's fields, of which its docstring tells."""
    return True if type(member).__name__ == "_tuplegetter" else None


def dress(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add to a page what stands around all pages, and the scripts of its explorers."""
    for add in (page.add_stamp, lecture.add_scripts, page.add_ways_on):
        add(app, name, context)


def arrange(app: Sphinx, doctree: Any, name: str) -> None:
    """Arrange a page as the site shows it; in a notebook it stands as it is written."""
    if notebooks.TAKEN_HOME not in doctree:
        lecture.fold_predictions(doctree)
        for change in (cells.gather_checks, cells.move_setup, figures.show_figures):
            change(views.views_of(app), name, doctree)
        cells.fold_last(name, doctree)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Lay the files beside the pages, and mend the pages."""
    if exception is None:
        site = Path(app.outdir)
        downloads.write_files(content_of(app), site)
        figures.write_figures(content_of(app), site)
        fixes.fix_pages(site)
        downloads.write_archive(app, site)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hang everything on Sphinx's events."""
    # a doctree's nodes know their parents, so that the collector looks through all that a build
    # keeps, again and again while a page grows: more than a third of the build's time
    gc.disable()
    app.connect("build-finished", lambda app, exception: gc.freeze())  # nor once more at the end
    app.add_node(html_tag, html=(visit_tag, depart_tag))
    app.add_object_type(directives.CLAIM, directives.CLAIM, objname="claim", ref_nodeclass=inline)
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    for name in ("claim-value", "claim-verdict"):
        app.add_role(name, directives.ClaimRole())
    app.add_role("judged", marks.JudgedRole())
    app.add_role("set", lecture.SetRole())
    app.setup_extension("sphinx.ext.autodoc")
    fixes.add_tips(app)
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("autodoc-process-docstring", code_index.name_results)
    app.connect("config-inited", begin, priority=LATE)
    app.connect("doctree-read", marks.show_lines)
    app.connect("env-get-updated", page.label_pages, priority=AFTER_SPHINX)
    app.connect("env-get-updated", notebooks.write_notebooks, priority=AFTER_THE_NUMBERS)
    app.connect("html-page-context", dress)
    app.connect("doctree-resolved", arrange)
    app.connect("build-finished", finish, priority=LATE)  # when all style sheets are there
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
