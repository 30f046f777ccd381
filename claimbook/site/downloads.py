"""What readers take home, under ``book/downloads`` of the site: files, the package, the archive.

The wheel carries the ledger and the records, which a notebook needs where it lands: outside of a
checkout the book's own files are found under :data:`claimbook.files.CARRIED`.
"""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils.nodes import Node

from claimbook.files import CARRIED, ROOT, packages, read_json, write_atomically
from claimbook.pages import CHAPTERS, chapter_path
from claimbook.site.content import Content, Row
from claimbook.site.directives import Directive

FOLDER = "book/downloads"
NOTEBOOKS = ROOT / "_build" / "notebooks"
HANDOUT = "_exercises.md"  # what the name of a chapter's hand-out ends in
ARCHIVE = "in-context-learning-reproduced"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
NAME = PROJECT["name"].replace("-", "_")
FIRST = f"""\
To read: open index.html in a browser. Nothing else is needed, and nothing is loaded from the web.

To run: with Python 3.11 (3.11.2 or newer), in this folder,

    python3.11 -m venv own
    own/bin/pip install torch==2.13.0
    own/bin/pip install --require-hashes --no-deps -r book/downloads/requirements.lock
    own/bin/pip install --no-deps book/downloads/{NAME}-*.whl
    own/bin/python -m ipykernel install --prefix own --name python3
    own/bin/jupyter execute --inplace book/downloads/03_linear_attention.ipynb

The wheel carries the ledger of all claims and the recorded results. A chapter takes half a minute
to three minutes, and says what it found about each claim. book/downloads has the chapters as
notebooks and as Markdown, to be changed.
"""
BUILT_FROM = (*packages(), "claimbook", "pyproject.toml", "requirements.in", "LICENSE")
CARRIES = ("_toc.yml", "pyproject.toml", "book/claims.yml", "book/recorded")
BUILD = "from setuptools import build_meta; build_meta.build_wheel('.')"
WHEEL = f"{NAME}-{PROJECT['version']}-py3-none-any.whl"  # which installers read


class Downloads(Directive):
    """``{downloads} WHICH``: the files to take home: book, chapters, exercises or data."""

    required_arguments = 1
    optional_arguments = 0

    def run(self) -> list[Node]:
        names = {"archive": f"{ARCHIVE}.zip", "handout": HANDOUT, "wheel": WHEEL}
        held = {path.name: read_json(path) for path in recorded()}
        return [self.view("downloads.html", which=self.arguments[0], recorded=held, **names)]


def recorded() -> list[Path]:
    """List the results of runs too long for the book, and the verdicts of other master seeds."""
    return sorted((ROOT / "book" / "recorded").glob("*.json"))


def write_files(content: Content, site: Path) -> None:
    """Put the files into the site."""
    files = [*recorded(), ROOT / "CITATION.cff", ROOT / "requirements.lock"]
    for name in content.chapters:
        notebook = NOTEBOOKS / f"{CHAPTERS.as_posix()}/{name}.ipynb"
        files += [notebook, notebook.with_name(name + HANDOUT), chapter_path(name, ROOT)]
    held = {f"{FOLDER}/{path.name}": path.read_bytes() for path in files if path.exists()}
    for place, file in {**held, f"{FOLDER}/{WHEEL}": wheel(), **ledger_files(content.rows)}.items():
        write_atomically(site / place, file)


def ledger_files(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return ``ledger.csv``, a line a row with JSON for what nests, and ``ledger.json``."""
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({field: cell(value) for field, value in row.items()})
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    return {"book/ledger.csv": table.getvalue().encode(), "book/ledger.json": text.encode()}


def cell(value: Any) -> Any:
    """Return a value as a cell of the table."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def wheel(root: Path = ROOT) -> bytes:
    """Build the wheel of a checkout; the same files give the same bytes."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        carried = folder / "claimbook" / CARRIED
        for names, into in ((BUILT_FROM, folder), (CARRIES, carried)):
            for name in names:
                copy(root / name, into / name)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # the oldest that ZIP knows
        command = [sys.executable, "-c", BUILD]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"The wheel could not be built: {done.stderr}")
        return (folder / WHEEL).read_bytes()


def copy(path: Path, into: Path) -> None:
    """Copy a file or a folder, if it is there."""
    into.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, into, ignore=shutil.ignore_patterns("__pycache__"))
    elif path.exists():
        shutil.copy(path, into)


def write_archive(site: Path, root: Path = ROOT) -> None:
    """Put the archive of a finished site into it, with the licence and how to begin."""
    place = site / FOLDER / f"{ARCHIVE}.zip"
    place.unlink(missing_ok=True)
    write_atomically(site / "README.txt", FIRST)
    for name in ("LICENSE", "CITATION.cff"):
        copy(root / name, site / name)
    with TemporaryDirectory() as folder:
        file = shutil.make_archive(f"{folder}/{ARCHIVE}", "zip", site.parent, site.name)
        shutil.move(file, place)
