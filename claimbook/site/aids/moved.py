"""Addresses that have moved: whoever comes to one by an old link is led to where it stands now.

``book/moved.yml`` has, by page, the places that a page no longer has, each with the page that has
it under the same name (``book/sources_small``) or with a place (``book/sources_small#src-b6``,
``#what-to-take-away``). The page carries a few lines of script for them, so that it works on any
server and from a folder; without scripts the page opens at its top.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from claimbook.files import ROOT, read_yaml

FILE = ROOT / "book" / "moved.yml"
SCRIPT = """(moved => {
  const lead = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (name in moved && !document.getElementById(name)) location.replace(moved[name]);
  };
  addEventListener("hashchange", lead);
  addEventListener("DOMContentLoaded", lead);
})(%s);"""


@cache
def moved(path: Path = FILE) -> dict[str, dict[str, str]]:
    """By page, each place that is gone with the place that has taken over, ``page#place``."""
    found: dict[str, dict[str, str]] = read_yaml(path) or {}
    for page, places in found.items():
        for place, target in places.items():
            there, _, name = target.partition("#")
            places[place] = f"{there or page}#{name or place}"
    return found


def watch(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page that has lost places is read again when the list of them changes."""
    if docname in moved():
        app.env.note_dependency(str(FILE))


def lead_on(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page the script for the places that it no longer has."""
    places = moved().get(pagename, {})
    if not places or doctree is None:
        return
    builder: Any = app.builder
    links = {}
    for place, target in places.items():
        page, _, name = target.partition("#")
        here = "" if page == pagename else builder.get_relative_uri(pagename, page)
        links[place] = f"{here}#{name}"
    app.add_js_file(None, body=SCRIPT % json.dumps(links, ensure_ascii=False))
