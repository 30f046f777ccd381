"""Everything in one file: the site as a ZIP archive, to be read and kept without a network.

The archive holds what the site holds: pages, notebooks, figures with their data, the ledger, the
recorded results, the PDFs where they were printed; and the licence. The same site gives the same
bytes. A page that offers the archive states its size, which is known when all others are in it.
"""

import io
import re
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from iclutils.book.paper import prints
from iclutils.book.runs.files import ROOT, write_atomically
from iclutils.book.site.offers import FOLDER, size_text

NAME = prints.BOOK
PLACE = f"{FOLDER}/{NAME}.zip"
LEFT_OUT = {".buildinfo", "searchindex.js", "objects.inv"}  # no reader opens them
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
SIZE = "archive-size"  # the class of the places that state the archive's size
STATED = re.compile(rf'(<span class="{SIZE}">)[^<]*(?=</span>)'.encode())
FIRST = (
    "Open index.html in a browser. Nothing else is needed, and nothing is loaded from the web.\n"
)


class Archive(NamedTuple):
    """The archive, and the pages that state its size, by their place on the site."""

    file: bytes
    pages: dict[str, bytes]


def archive(site: Path, root: Path = ROOT) -> Archive:
    """The archive of a site, and its pages that are to be written anew.

    :raises FileNotFoundError: where there is no such folder.
    """
    if not site.is_dir():
        raise FileNotFoundError(f"site must be a folder; got {site}")
    held = {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in site.rglob("*")
        if path.is_file() and path.name not in LEFT_OUT and path != site / PLACE
    }
    held["README.txt"] = FIRST.encode()
    for name in ("LICENSE", "CITATION.cff"):
        if (root / name).exists():
            held[name] = (root / name).read_bytes()
    pages = {name for name, text in held.items() if name.endswith(".html") and STATED.search(text)}
    file = io.BytesIO()
    add(file, {name: text for name, text in held.items() if name not in pages})
    size = len(file.getvalue()) + sum(len(zlib.compress(held[name])) for name in pages)
    words = rb"\1 (%s)" % size_text(size).encode()
    stating = {name: STATED.sub(words, held[name]) for name in pages}
    add(file, stating)
    return Archive(file.getvalue(), stating)


def add(file: io.BytesIO, held: dict[str, bytes]) -> None:
    """Add files to an archive, or begin it with them."""
    with zipfile.ZipFile(file, "a") as written:
        for name in sorted(held):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            written.writestr(entry, held[name])


def write_archive(site: Path) -> None:
    """Put the archive of a finished site into it, and its size into the pages that offer it."""
    found = archive(site)
    for name, text in found.pages.items():
        write_atomically(site / name, text)
    write_atomically(site / PLACE, found.file)
