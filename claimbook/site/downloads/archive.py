"""Everything in one file: the site as a ZIP archive, to be read and kept without a network."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from claimbook.files import ROOT
from claimbook.site.downloads.offers import FOLDER

NAME = "in-context-learning-reproduced"
PLACE = f"{FOLDER}/{NAME}.zip"
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


def write_archive(site: Path, root: Path = ROOT) -> None:
    """Put the archive of a finished site into it, with the licence and how to begin."""
    (site / PLACE).unlink(missing_ok=True)
    (site / "README.txt").write_text(FIRST, encoding="utf8")
    for name in ("LICENSE", "CITATION.cff"):
        if (root / name).exists():
            shutil.copy(root / name, site)
    with TemporaryDirectory() as folder:
        file = shutil.make_archive(f"{folder}/{NAME}", "zip", site.parent, site.name)
        shutil.move(file, site / PLACE)
