"""The book's own Sphinx extension: the cache that the checker filled, and what is made from it.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` lists its rows with what was found,
``{scorecard}`` stands on the front page and ``{ledger}`` shows everything; ``{claim-value}``,
``{claim-verdict}`` and ``{claim-picture}`` show one result in a sentence, ``{judged}`` a verdict
behind it, ``{ledger-count}`` a number of the whole ledger and ``{run-figure} NAME`` a chapter's
figure; ``{explorer} NAME`` is a result to turn by hand, which
``{set}`` sets from a sentence.

A directive writes the words and leaves a place (``from_run``) for what only a run can say; when
the page is written, the table ``fill.FILLS`` names the function that fills it. All that the
functions ask for is read once, by ``content.Content``. Four rooms stand on the modules of this
folder: ``verdicts``, ``pictures``, the reader's ``aids`` and ``downloads``; ``fill`` and ``state``
join them, and here all is hung on Sphinx's events.
"""

import gc
from functools import partial
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from claimbook.files import ROOT
from claimbook.pages import chapter_path, toc_chapters
from claimbook.runs import page_key
from claimbook.site.aids.labels import FIRST, THEN, add_ways_on, give_numbers_back, label_pages
from claimbook.site.aids.stamp import add_stamp
from claimbook.site.content import content_of
from claimbook.site.downloads.archive import write_archive
from claimbook.site.downloads.offers import offers_of
from claimbook.site.downloads.portable import AFTER_THE_NUMBERS, write_portable
from claimbook.site.fill import FILLS, Gathered, fill_page
from claimbook.site.fixes import fix_pages
from claimbook.site.lecture import Prediction, PredictionEnd
from claimbook.site.nodes import depart_tag, from_run, html_tag, skip_tag, visit_tag
from claimbook.site.page import write_gathering_anew
from claimbook.site.pictures.explorers import Explorer, add_scripts, drop_comments
from claimbook.site.pictures.gallery import figures_of, write_figures
from claimbook.site.pictures.run_figure import RunFigure
from claimbook.site.pictures.steer import SetRole, check_places
from claimbook.site.state import note_state, refresh
from claimbook.site.tips import add_tips
from claimbook.site.verdicts.counts import CountRole
from claimbook.site.verdicts.judged import JudgedRole, MarksStay, place_lines
from claimbook.site.verdicts.ledger import ChapterCard, FullLedger, Verdicts
from claimbook.site.verdicts.sentences import ClaimRole

LATE = 900  # after MyST-NB, which would make a suffix of each page that it is told to read
TEMPLATES = Path(__file__).with_name("templates")
DRESS = (  # what is added to a page that is about to be written, in this order
    add_stamp,
    add_scripts,
    add_ways_on,
)


def show_runs(app: Sphinx, config: Config) -> None:
    """Show the runs that are current, and use the book's own templates."""
    reader = "claimbook.runs.notebooks.read_executed"
    config.nb_custom_formats |= {
        str(path): [reader, {"path": str(path), "root": str(ROOT)}]
        for path in (chapter_path(name, ROOT) for name in toc_chapters(ROOT))
    }
    config.book_inputs = page_key.inputs(ROOT)
    config.templates_path.append(str(TEMPLATES))
    config.html_additional_pages["404"] = "404.html"


def drop_thebe(app: Sphinx) -> None:
    """sphinx-thebe names a CDN in every page, twice, and the book has no live cells."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        handler = listener.handler
        if (handler.__module__, handler.__name__) == ("sphinx_thebe", "init_thebe_core"):
            app.disconnect(listener.id)


def leave_out_fields(app: Sphinx, what: str, name: str, member: Any, *given: Any) -> bool | None:
    """Autodoc: no named tuple's fields, of which its docstring tells, and Python their places."""
    return True if type(member).__name__ == "_tuplegetter" else None


def dress(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add to a page all that is added to pages."""
    if pagename == app.config.root_doc:
        context["docstitle"] = ""  # its own title is the book's: once is enough
    for add in DRESS:
        add(app, pagename, context, doctree)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Lay the files beside the pages, mend the pages, and only then note that they are whole."""
    if exception:
        return
    site = Path(app.outdir)
    content = content_of(app)
    offers_of(content).write(site)
    write_figures(figures_of(content).values(), site)
    fix_pages(site)
    drop_comments(site)
    write_archive(site)
    note_state(app)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry."""
    # a doctree's nodes know their parents, so that the collector looks through all that a build
    # keeps, again and again while a page grows: more than a third of the build's time
    gc.disable()
    app.connect("build-finished", lambda app, exception: gc.freeze())  # nor once more at the end
    app.add_node(html_tag, html=(visit_tag, depart_tag), text=(skip_tag, skip_tag))
    app.add_node(from_run, html=(skip_tag, skip_tag), text=(skip_tag, skip_tag))
    app.add_directive("chapter-card", ChapterCard)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("scorecard", Gathered)
    app.add_directive("ledger", FullLedger)
    app.add_directive("downloads", Gathered)
    app.add_directive("run-figure", RunFigure)
    app.add_directive("explorer", Explorer)
    app.add_directive("run-times", Gathered)
    app.add_directive("prediction", Prediction)
    app.add_directive("prediction-end", PredictionEnd)
    # pages hold what was read and run: when that changes, all of them are read again
    app.add_config_value("book_inputs", "", "env")
    app.add_role("claim-value", ClaimRole("inline_value"))
    app.add_role("claim-verdict", ClaimRole("inline_verdict"))
    app.add_role("claim-picture", ClaimRole("inline_picture"))
    app.add_role("ledger-count", CountRole())
    app.add_role("judged", JudgedRole())
    app.add_role("set", SetRole())
    app.add_post_transform(MarksStay)
    app.setup_extension("sphinx.ext.autodoc")
    add_tips(app)
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("config-inited", show_runs, priority=LATE)
    app.connect("builder-inited", drop_thebe)
    app.connect("doctree-read", place_lines)
    app.connect("doctree-read", check_places)
    app.connect("env-get-updated", give_numbers_back, priority=FIRST)
    app.connect("env-get-updated", label_pages, priority=THEN)
    app.connect("env-get-updated", partial(write_portable, FILLS), priority=AFTER_THE_NUMBERS)
    # after the notebooks: their sizes are stated
    app.connect("env-get-updated", refresh, priority=AFTER_THE_NUMBERS + 1)
    app.connect("env-updated", write_gathering_anew)
    app.connect("html-page-context", dress)
    app.connect("doctree-resolved", fill_page)
    app.connect("build-finished", finish)
    return {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
        "version": "1",
        "env_version": 14,
    }
