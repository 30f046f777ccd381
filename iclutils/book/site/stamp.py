"""The stamp at the foot of every page: which run it shows, from which commit and environment, and whether it was compared."""

import html
import json
from pathlib import Path

import bookcache
import bookorigin
from bookdownloads import offers
from bookresults import found


def stamp(app, docname):
    """The sentence of one page: of its own chapter, or of all chapters where it has no code of its own."""
    runs = found(app).runs
    prefix = bookcache.CHAPTERS.as_posix() + "/"
    chapter = docname.removeprefix(prefix)
    if docname.startswith(prefix) and chapter in runs:
        return bookorigin.sentence(runs[chapter])
    return bookorigin.summary(list(runs.values()))


def add_stamp(app, pagename, templatename, context, doctree):
    context["theme_extra_footer"] = (f'<p class="run-stamp">{html.escape(stamp(app, pagename))}</p>'
                                     + (context.get("theme_extra_footer") or ""))


def record(app):
    """Where the build notes what the pages in the output folder were made of."""
    return Path(app.outdir).parent / "site.json"


def refresh(app, env):
    """All pages are written anew when a run, its origin or its reference values have changed, whichever chapter it is of,
    and those that list files when a file has. The note of the last build is taken away until this one has ended well."""
    state = {"results": found(app).digest(), "files": offers(app).digest(), "key": offers(app).key}
    try:
        before = json.loads(record(app).read_text(encoding="utf8"))
    except (OSError, ValueError):
        before = {}
    record(app).unlink(missing_ok=True)
    app.bookstamp_state = state
    if before.get("results") != state["results"]:
        return sorted(env.found_docs)
    if before.get("files") != state["files"]:
        return sorted(page for page in getattr(env, "iclbook_pages", ()) if page in env.found_docs)
    return []


def note_state(app, exception):
    if not exception and app.builder.format == "html":
        bookcache.write_atomically(record(app), json.dumps(app.bookstamp_state))
