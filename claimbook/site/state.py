"""What the pages in the output folder were made of: the next build writes what has changed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from claimbook.files import write_atomically
from claimbook.pages import CHAPTERS
from claimbook.site.content import Content, content_of
from claimbook.site.downloads.offers import offers_of, size_text


def state_of(content: Content) -> Mapping[str, Any]:
    """What is compared; of the files to take home pages say only the sizes."""
    offers = offers_of(content)
    sizes = {place: size_text(len(file)) for place, file in offers.files.items()}
    return {"results": content.results.digest(), "files": sizes}


def note(app: Sphinx) -> Path:
    """Where the build notes what the pages in the output folder were made of."""
    return Path(app.outdir).parent / "site.json"


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages that are to be written anew although their own files have not changed.

    All of them when a run, its origin or its reference values have changed; a chapter when it says
    another size of its own files. Other files are listed on a page that is always written anew. The
    note of the last build is taken away until this one has ended well.
    """
    state = state_of(content_of(app))
    try:
        before = json.loads(note(app).read_text(encoding="utf8"))
    except (OSError, ValueError):
        before = {}
    note(app).unlink(missing_ok=True)
    if before.get("results") != state["results"]:
        return sorted(env.found_docs)
    sizes = before.get("files", {})
    changed = [place for place, said in state["files"].items() if sizes.get(place) != said]
    chapters = {f"{CHAPTERS.as_posix()}/{Path(place).stem}" for place in changed}
    return sorted(chapters & env.found_docs)


def note_state(app: Sphinx) -> None:
    """Write the note: the pages are whole."""
    write_atomically(note(app), json.dumps(state_of(content_of(app))))
