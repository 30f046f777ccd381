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
from claimbook.site.cells import fold_last, gather_checks, move_setup
from claimbook.site.code_index import CodeIndex, name_results
from claimbook.site.content import content_of
from claimbook.site.directives import (
    CLAIM,
    ChapterCard,
    ClaimRole,
    Directive,
    LedgerPage,
    Verdicts,
)
from claimbook.site.downloads import Downloads, write_archive, write_files
from claimbook.site.figures import RunFigure, show_figures, write_figures
from claimbook.site.fixes import add_tips, fix_pages
from claimbook.site.lecture import (
    Explorer,
    Prediction,
    PredictionEnd,
    SetRole,
    add_scripts,
    fold_predictions,
)
from claimbook.site.marks import JudgedRole, show_lines
from claimbook.site.nodes import depart_tag, html_tag, visit_tag
from claimbook.site.notebooks import AFTER_THE_NUMBERS, TAKEN_HOME, write_notebooks
from claimbook.site.page import AFTER_SPHINX, add_stamp, add_ways_on, label_pages
from claimbook.site.views import TEMPLATES, substitutions, views_of

LATE = 900  # after MyST-NB, which would make a suffix of each page that it is told to read
DIRECTIVES = {
    "chapter-card": ChapterCard,
    "code-index": CodeIndex,
    "downloads": Downloads,
    "explorer": Explorer,
    "ledger": LedgerPage,
    "prediction": Prediction,
    "prediction-end": PredictionEnd,
    "run-figure": RunFigure,
    "run-times": Directive,
    "scorecard": Directive,
    "verdicts": Verdicts,
}


def begin(app: Sphinx, config: Config) -> None:
    """Read the ledger and the runs, let sentences name the ledger's numbers, empty the site."""
    reader = "claimbook.runs.notebooks.read_executed"
    paths = [str(chapter_path(name, ROOT)) for name in toc_chapters(ROOT)]
    config.nb_custom_formats |= {
        path: [reader, {"path": path, "root": str(ROOT)}] for path in paths
    }
    config.templates_path.append(str(TEMPLATES))
    config.html_additional_pages["404"] = "404.html"
    config.html_search_scorer = str(TEMPLATES / "search.js")
    config.myst_substitutions |= substitutions(content_of(app).rows)
    shutil.rmtree(app.outdir)
    Path(app.outdir).mkdir()


def drop_thebe(app: Sphinx) -> None:
    """Disconnect sphinx-thebe, which names a CDN in every page, twice: no cell here is live."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        handler = listener.handler
        if (handler.__module__, handler.__name__) == ("sphinx_thebe", "init_thebe_core"):
            app.disconnect(listener.id)


def leave_out_fields(app: Sphinx, what: str, name: str, member: Any, *given: Any) -> bool | None:
    """Let autodoc pass by a named tuple's fields, of which its docstring tells."""
    return True if type(member).__name__ == "_tuplegetter" else None


def dress(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add to a page what stands around all pages, and the scripts of its explorers."""
    for add in (add_stamp, add_scripts, add_ways_on):
        add(app, pagename, context)


def arrange(app: Sphinx, doctree: Any, docname: str) -> None:
    """Arrange a page as the site shows it; in a notebook it stands as it is written."""
    if TAKEN_HOME in doctree:
        return
    views = views_of(app)
    gather_checks(views, docname, doctree)
    move_setup(views, docname, doctree)
    fold_predictions(doctree)
    show_figures(views, docname, doctree)
    fold_last(docname, doctree)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Lay the files beside the pages, and mend the pages."""
    if exception is None:
        site = Path(app.outdir)
        write_files(content_of(app), site)
        write_figures(content_of(app), site)
        fix_pages(site)
        write_archive(app, site)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hang everything on Sphinx's events."""
    # a doctree's nodes know their parents, so that the collector looks through all that a build
    # keeps, again and again while a page grows: more than a third of the build's time
    gc.disable()
    app.connect("build-finished", lambda app, exception: gc.freeze())  # nor once more at the end
    app.add_node(html_tag, html=(visit_tag, depart_tag))
    app.add_object_type(CLAIM, CLAIM, objname="claim", ref_nodeclass=inline)
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    for name in ("claim-value", "claim-verdict", "claim-picture"):
        app.add_role(name, ClaimRole())
    app.add_role("judged", JudgedRole())
    app.add_role("set", SetRole())
    app.setup_extension("sphinx.ext.autodoc")
    add_tips(app)
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("autodoc-process-docstring", name_results)
    app.connect("config-inited", begin, priority=LATE)
    app.connect("builder-inited", drop_thebe)
    app.connect("doctree-read", show_lines)
    app.connect("env-get-updated", label_pages, priority=AFTER_SPHINX)
    app.connect("env-get-updated", write_notebooks, priority=AFTER_THE_NUMBERS)
    app.connect("html-page-context", dress)
    app.connect("doctree-resolved", arrange)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
