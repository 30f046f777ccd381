"""The stamp at the foot of every page: which run it shows, and whether that was compared."""

import html
from typing import Any

from sphinx.application import Sphinx

from claimbook.pages import CHAPTERS
from claimbook.site import stamps
from claimbook.site.content import content_of


def add_stamp(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the stamp before the theme's own words at the foot.

    It is of the page's own chapter, or of all where it has no code of its own.
    """
    runs = content_of(app).results.runs
    folder, _, chapter = pagename.rpartition("/")
    own = folder == CHAPTERS.as_posix() and chapter in runs
    said = stamps.sentence(runs[chapter]) if own else stamps.summary(list(runs.values()))
    sentence = f'<p class="run-stamp">{html.escape(said)}</p>'
    context["theme_extra_footer"] = sentence + (context.get("theme_extra_footer") or "")
