"""Everything in one file: the site as a ZIP archive, to be read and kept without a network.

The archive holds what the site holds: pages, notebooks, figures with their data, the ledger, the
recorded results, the PDFs where they were printed; and the licence. The same site gives the same
bytes.
"""

import io
import zipfile
from pathlib import Path

from iclutils.book.paper import prints
from iclutils.book.runs.files import ROOT, write_atomically
from iclutils.book.site.offers import FOLDER

NAME = prints.BOOK
PLACE = f"{FOLDER}/{NAME}.zip"
LEFT_OUT = {".buildinfo", "searchindex.js", "objects.inv"}  # no reader opens them
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
FIRST = (
    "Open index.html in a browser. Nothing else is needed, and nothing is loaded from the web.\n"
)


def archive(site: Path, root: Path = ROOT) -> bytes:
    """The archive of a site.

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
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        for name in sorted(held):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            written.writestr(entry, held[name])
    return file.getvalue()


def write_archive(site: Path) -> None:
    """Put the archive of a finished site into it."""
    write_atomically(site / PLACE, archive(site))
