"""The prints of a site: where they lie, whether they are of the site that stands, how it says so.

A print is made from the finished pages, so no page can state its size when it is written. Each
holds a place for it instead, which :func:`offer` fills, and empties again when the site is another.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from claimbook.files import ROOT, write_atomically
from claimbook.site.downloads.offers import FOLDER, size_text
from claimbook.site.nodes import html_tag, tag
from claimbook.site.page import Page

BOOK = "in-context-learning-reproduced"  # the name of the whole book's file
OFFER = "print-offer"  # the class of the places
PLACE = re.compile(
    rf'(?P<start><span class="(?:file )?{OFFER}" data-print="(?P<address>[^"]*)">).*?(?=</span>)',
    re.DOTALL,
)
OF_THE_BOOK = ": all pages with contents, bookmarks and page numbers, printed from this site."
NOT_PRINTED = (
    "The PDFs are printed by <code>make pdf</code>, which needs Chromium and takes a few minutes; "
    "this site was built without, or has changed since they were printed."
)


def folder(root: Path = ROOT) -> Path:
    """Where the prints lie."""
    return root / "_build" / "pdf"


def note(root: Path = ROOT) -> Path:
    """The file that holds the key of the site that was printed."""
    return folder(root) / "site_key"


def current(site_key: str, root: Path = ROOT) -> bool:
    """Whether there is a whole print of the site with this key."""
    return note(root).exists() and note(root).read_text(encoding="utf8") == site_key


def place_of(page: Page, name: str) -> html_tag:
    """The place on ``page`` where the print ``name`` is offered: the book, or a chapter."""
    classes = [OFFER] if name == BOOK else ["file", OFFER]
    return tag("span", classes=classes, data_print=page.to_file(f"{FOLDER}/{name}"))


def offer(site: Path, site_key: str, root: Path = ROOT) -> None:
    """Lay the prints into the finished site, if they are of it, and fill every place for one."""
    sizes: dict[str, int] = {}
    if current(site_key, root):
        for path in folder(root).glob("*.pdf"):
            shutil.copyfile(path, site / FOLDER / path.name)
            sizes[path.stem] = path.stat().st_size
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf8")
        filled = PLACE.sub(lambda found: found["start"] + words(found["address"], sizes), text)
        if filled != text:
            write_atomically(path, filled)


def words(address: str, sizes: Mapping[str, int]) -> str:
    """What is written where the print at ``address`` is offered: HTML; its ending is left out.

    >>> words("../downloads/01_one", {"01_one": 1_200_000})
    '<a aria-label="PDF: 01_one.pdf" download="" href="../downloads/01_one.pdf">PDF</a> (1.2 MB)'
    >>> words("../downloads/01_one", {})
    ''
    """
    name = address.rsplit("/", 1)[-1]
    if name not in sizes:
        return NOT_PRINTED if name == BOOK else ""
    text, more = ("The whole book as PDF", OF_THE_BOOK) if name == BOOK else ("PDF", "")
    label = f'aria-label="{text}: {name}.pdf"'
    link = f'<a {label} download="" href="{address}.pdf">{text}</a>'
    return f"{link} ({size_text(sizes[name])}){more}"
