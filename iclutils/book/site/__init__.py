"""The book's own Sphinx extension: the cache that the checker filled, and what is made from it.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` lists its rows with what was found,
``{scorecard}`` stands on the front page and ``{ledger}`` shows everything; ``{claim-value}``,
``{claim-verdict}`` and ``{claim-picture}`` show one result in a sentence, ``{ledger-count}`` a
number of the whole ledger and ``{run-figure} NAME`` a chapter's figure; ``{explorer} NAME`` is
a result to turn by hand.

A directive writes the words and leaves a place (``from_run``) for what only a run can say; when
the page is written, the table ``fill.FILLS`` names the function that fills it. All that the
functions ask for is read once, by ``build.Build``. Here the parts are hung on Sphinx's events.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT
from iclutils.book.site import collector
from iclutils.book.site.access import mend_pages
from iclutils.book.site.archive import write_archive
from iclutils.book.site.build import build_of
from iclutils.book.site.cite import CiteTheBook
from iclutils.book.site.code_links import link_code
from iclutils.book.site.counts import CountRole
from iclutils.book.site.description import NOT_FOUND, add_description, take_address
from iclutils.book.site.deviations import (
    ENTRIES,
    REGISTERS,
    Deviations,
    note_deviations,
    write_register_anew,
)
from iclutils.book.site.downloads import Downloads
from iclutils.book.site.explorers import Explorer, add_scripts
from iclutils.book.site.figures import write_figures
from iclutils.book.site.fill import fill_page
from iclutils.book.site.glossary import USES, link_first_uses, note_uses, write_entries_anew
from iclutils.book.site.ledger import ChapterCard, FullLedger, Verdicts
from iclutils.book.site.nodes import depart_tag, from_run, html_tag, skip_tag, visit_tag
from iclutils.book.site.notebooks import executed_notebooks
from iclutils.book.site.page import FILLED
from iclutils.book.site.portable import AFTER_THE_NUMBERS, write_portable
from iclutils.book.site.previews import note_previews
from iclutils.book.site.run_figure import RunFigure
from iclutils.book.site.scorecard import Scorecard
from iclutils.book.site.search import note_places, write_places
from iclutils.book.site.sentences import ClaimRole
from iclutils.book.site.sidebar import copy_titles_only
from iclutils.book.site.stamp import add_stamp, note_state, refresh
from iclutils.book.site.times import RunTimes

TEMPLATES = Path(__file__).with_name("templates")


def set_cache(app: Sphinx, config: Config) -> None:
    """Let the build read the runs of the present execution key, and the book's own templates."""
    cache.prepare_environment(ROOT)
    config.nb_execution_cache_path = str(cache.cache_path(ROOT))
    config.templates_path.append(str(TEMPLATES))
    config.html_additional_pages[NOT_FOUND] = f"{NOT_FOUND}.html"


def drop_thebe(app: Sphinx) -> None:
    """sphinx-thebe names a CDN in every page, twice, and the book has no live cells."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        handler = listener.handler
        if (handler.__module__, handler.__name__) == ("sphinx_thebe", "init_thebe_core"):
            app.disconnect(listener.id)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Lay the files beside the pages, mend the pages, and only then note that they are whole."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    build = build_of(app)
    build.offers.write(site)
    write_figures(build.figures.values(), site)
    mend_pages(site)
    write_places(app, app.env.found_docs)
    write_archive(site)
    note_state(app)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry."""
    app.add_node(html_tag, html=(visit_tag, depart_tag), text=(skip_tag, skip_tag))
    app.add_node(from_run, html=(skip_tag, skip_tag), text=(skip_tag, skip_tag))
    app.add_directive("chapter-card", ChapterCard)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("scorecard", Scorecard)
    app.add_directive("ledger", FullLedger)
    app.add_directive("cite-the-book", CiteTheBook)
    app.add_directive("downloads", Downloads)
    app.add_directive("run-figure", RunFigure)
    app.add_directive("explorer", Explorer)
    app.add_directive("deviations", Deviations)
    app.add_directive("run-times", RunTimes)
    app.add_role("claim-value", ClaimRole("inline_value"))
    app.add_role("claim-verdict", ClaimRole("inline_verdict"))
    app.add_role("claim-picture", ClaimRole("inline_picture"))
    app.add_role("ledger-count", CountRole())
    app.connect("config-inited", set_cache)
    app.connect("config-inited", take_address)
    app.connect("builder-inited", drop_thebe)
    app.connect("builder-inited", collector.hold_back)
    app.connect("env-updated", collector.collect)
    app.connect("build-finished", collector.release)
    app.connect("doctree-read", note_uses)
    app.connect("doctree-read", note_deviations)
    for notes in (FILLED, USES, ENTRIES, REGISTERS):
        notes.connect(app)
    app.connect("env-updated", executed_notebooks)
    app.connect("env-get-updated", write_portable, priority=AFTER_THE_NUMBERS)
    # after the notebooks: their sizes are stated
    app.connect("env-get-updated", refresh, priority=AFTER_THE_NUMBERS + 1)
    app.connect("env-updated", write_entries_anew)
    app.connect("env-updated", write_register_anew)
    app.connect("html-page-context", add_stamp)
    app.connect("html-page-context", link_code)
    app.connect("html-page-context", add_description)
    app.connect("html-page-context", add_scripts)
    app.connect("html-page-context", copy_titles_only)
    app.connect("html-page-context", note_places)
    app.connect("html-page-context", note_previews)
    app.connect("doctree-resolved", fill_page)
    app.connect("doctree-resolved", link_first_uses)
    app.connect("build-finished", finish)
    return {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
        "version": "1",
        "env_version": 10,
    }
