"""Everything in one file: the site as a ZIP archive, to be read and kept without a network.

The archive holds what the site holds: pages, notebooks, figures with their data, the ledger, the
recorded results, the PDFs where they were printed; and the licence. The same site gives the same
bytes. A page that offers the archive states its size, which is known when all others are in it.
"""

import io
import re
import zlib
from pathlib import Path
from typing import NamedTuple

from iclutils.book.runs.files import ROOT, write_atomically, write_zip
from iclutils.book.site.downloads import prints
from iclutils.book.site.downloads.offers import FOLDER, size_text

NAME = prints.BOOK
PLACE = f"{FOLDER}/{NAME}.zip"
LEFT_OUT = {".buildinfo", "searchindex.js", "objects.inv"}  # no reader opens them
SIZE = "archive-size"  # the class of the places that state the archive's size
STATED = re.compile(rf'(<span class="{SIZE}">)[^<]*(?=</span>)'.encode())
FIRST = """\
To read: open index.html in a browser. Nothing else is needed, and nothing is loaded from the web.

To run: with Python 3.11, in this folder,

    python3.11 -m venv own
    own/bin/pip install torch==2.13.0
    own/bin/pip install --require-hashes --no-deps -r book/downloads/requirements.lock
    own/bin/pip install --no-deps book/downloads/iclutils-*.whl
    own/bin/python -m ipykernel install --prefix own --name python3
    own/bin/jupyter execute --inplace book/downloads/03_linear_attention.ipynb

The wheel carries the ledger of all claims and the recorded results. A chapter takes half a minute
to three minutes, and says what it found about each claim. book/downloads has the chapters as
notebooks and as Markdown, to be changed.
"""


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
    """Add files to the archive's one folder, or begin it with them."""
    write_zip(file, {f"{NAME}/{name}": text for name, text in held.items()})


def write_archive(site: Path) -> None:
    """Put the archive of a finished site into it, and its size into the pages that offer it."""
    found = archive(site)
    for name, text in found.pages.items():
        write_atomically(site / name, text)
    write_atomically(site / PLACE, found.file)
