"""Everything in one file: the site as a ZIP archive, to be read and kept without a network.

The archive holds what the site holds: pages, notebooks, figures with their data, the ledger, the
recorded results; and the licence. The same site gives the same bytes. The site's page that offers
the archive states its size; the archive's own copy of it cannot.
"""

import io
import re
from pathlib import Path

from claimbook.files import ROOT, write_atomically, write_zip
from claimbook.site.downloads.offers import FOLDER, size_text

NAME = "in-context-learning-reproduced"
PLACE = f"{FOLDER}/{NAME}.zip"
LEFT_OUT = {".buildinfo", "objects.inv"}  # no reader opens them
OFFERED = "book/downloads.html"  # the page that offers it
SIZE = "archive-size"  # the class of the place that states its size there
FIRST = """\
To read: open index.html in a browser. Nothing else is needed, and nothing is loaded from the web.

To run: with Python 3.11 (3.11.2 or newer), in this folder,

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


def archive(site: Path, root: Path = ROOT) -> bytes:
    """The archive of a site."""
    held = {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in site.rglob("*")
        if path.is_file() and path.name not in LEFT_OUT and path != site / PLACE
    }
    held["README.txt"] = FIRST.encode()
    for name in ("LICENSE", "CITATION.cff"):
        if (root / name).exists():
            held[name] = (root / name).read_bytes()
    held[OFFERED] = stating(held[OFFERED], "")
    file = io.BytesIO()
    write_zip(file, {f"{NAME}/{name}": text for name, text in held.items()})
    return file.getvalue()


def stating(page: bytes, words: str) -> bytes:
    """The page that offers the archive, with its size in ``words``."""
    return re.sub(rb'(<span class="%s">)[^<]*' % SIZE.encode(), rb"\1" + words.encode(), page)


def write_archive(site: Path) -> None:
    """Put the archive of a finished site into it, and its size into the page that offers it."""
    file = archive(site)
    page = (site / OFFERED).read_bytes()
    write_atomically(site / OFFERED, stating(page, f" ({size_text(len(file))})"))
    write_atomically(site / PLACE, file)
