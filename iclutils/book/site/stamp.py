"""The stamp at the foot of every page: which run it shows, and whether that was compared."""

import html
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from iclutils.book.runs import cache, origin
from iclutils.book.runs.files import write_atomically
from iclutils.book.site.build import build_of
from iclutils.book.site.page import remembered


def stamp(app: Sphinx, docname: str) -> str:
    """The sentence of one page: of its own chapter, or of all where it has no code of its own."""
    runs = build_of(app).results.runs
    prefix = cache.CHAPTERS.as_posix() + "/"
    chapter = docname.removeprefix(prefix)
    if docname.startswith(prefix) and chapter in runs:
        return origin.sentence(runs[chapter])
    return origin.summary(list(runs.values()))


def add_stamp(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Put the stamp before the theme's own words at the foot."""
    sentence = f'<p class="run-stamp">{html.escape(stamp(app, pagename))}</p>'
    context["theme_extra_footer"] = sentence + (context.get("theme_extra_footer") or "")


def note(app: Sphinx) -> Path:
    """Where the build notes what the pages in the output folder were made of."""
    return Path(app.outdir).parent / "site.json"


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages that are to be written anew although their own files have not changed.

    All of them when a run, its origin or its reference values have changed, whichever chapter it is
    of; those that list files when a file has. The note of the last build is taken away until this
    one has ended well.
    """
    state = build_of(app).state
    try:
        before = json.loads(note(app).read_text(encoding="utf8"))
    except (OSError, ValueError):
        before = {}
    note(app).unlink(missing_ok=True)
    if before.get("results") != state["results"]:
        return sorted(env.found_docs)
    if before.get("files") != state["files"]:
        return sorted(remembered(env) & env.found_docs)
    return []


def note_state(app: Sphinx) -> None:
    """Write the note: the pages are whole."""
    write_atomically(note(app), json.dumps(build_of(app).state))
