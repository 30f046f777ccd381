"""The book's own Sphinx extension: the cache that the checker filled, and the pages made from the ledger.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` lists its rows with what was found, ``{scorecard}``
stands on the front page and ``{ledger}`` shows everything; ``{claim-value}`` and ``{claim-verdict}`` show one result in
a sentence. Here the parts are joined and hung on Sphinx's events:
``booknodes`` (HTML elements), ``bookledger`` and ``scorecard`` (directives), ``bookresults`` (what was found),
``bookfill`` (filling it in), ``bookdownloads`` (files to take home), ``bookstamp`` (the foot of every page),
``bookaccess`` (what the theme leaves inaccessible).
"""

import sys

import bookcache

sys.path.insert(0, str(bookcache.ROOT))  # the parts import iclutils
from bookaccess import mend_pages
from bookcite import CiteTheBook
from bookdownloads import Downloads, executed_notebooks, write_offers
from bookfill import Filler
from bookledger import ChapterCard, FullLedger, Verdicts
from booknodes import depart_tag, from_run, html_tag, skip_tag, visit_tag
from bookstamp import add_stamp, note_state, refresh
from scorecard import ClaimRole, Scorecard

ROOT = bookcache.ROOT


def set_cache(app, config):
    bookcache.prepare_environment(ROOT)
    config.nb_execution_cache_path = str(bookcache.cache_path(ROOT))


def drop_thebe(app):
    """sphinx-thebe names a CDN in every page, twice, and the book has no live cells."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        if listener.handler.__module__ == "sphinx_thebe" and listener.handler.__name__ == "init_thebe_core":
            app.disconnect(listener.id)


def merge_pages(app, env, docnames, other):
    env.iclbook_pages = getattr(env, "iclbook_pages", set()) | getattr(other, "iclbook_pages", set())


def fill(app, doctree, docname):
    if next(doctree.findall(from_run), None) is not None:
        Filler(app, docname).fill(doctree)


def setup(app):
    app.add_node(html_tag, html=(visit_tag, depart_tag), text=(skip_tag, skip_tag))
    app.add_node(from_run, html=(skip_tag, skip_tag), text=(skip_tag, skip_tag))
    app.add_directive("chapter-card", ChapterCard)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("scorecard", Scorecard)
    app.add_directive("ledger", FullLedger)
    app.add_directive("cite-the-book", CiteTheBook)
    app.add_directive("downloads", Downloads)
    app.add_role("claim-value", ClaimRole("value"))
    app.add_role("claim-verdict", ClaimRole("verdict"))
    app.connect("config-inited", set_cache)
    app.connect("builder-inited", drop_thebe)
    app.connect("env-merge-info", merge_pages)
    app.connect("env-updated", executed_notebooks)
    app.connect("env-updated", refresh)  # after the notebooks: their sizes are stated
    app.connect("html-page-context", add_stamp)
    app.connect("doctree-resolved", fill)
    app.connect("build-finished", write_offers)
    app.connect("build-finished", mend_pages)
    app.connect("build-finished", note_state)  # last: the pages are whole
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1", "env_version": 4}
