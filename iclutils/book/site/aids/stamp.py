"""The stamp at the foot of every page: which run it shows, and whether that was compared."""

import html
from typing import Any

from sphinx.application import Sphinx

from iclutils.book.runs import cache, origin
from iclutils.book.site.content import content_of


def stamp(app: Sphinx, docname: str) -> str:
    """The sentence of one page: of its own chapter, or of all where it has no code of its own."""
    runs = content_of(app).results.runs
    prefix = cache.CHAPTERS.as_posix() + "/"
    chapter = docname.removeprefix(prefix)
    if docname.startswith(prefix) and chapter in runs:
        return origin.sentence(runs[chapter])
    return origin.summary(list(runs.values()))


def add_stamp(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the stamp before the theme's own words at the foot."""
    sentence = f'<p class="run-stamp">{html.escape(stamp(app, pagename))}</p>'
    context["theme_extra_footer"] = sentence + (context.get("theme_extra_footer") or "")
