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
from sphinx.application import Sphinx

from claimbook.files import CARRIED, RECORDED, ROOT, packages, read_json, write_atomically
from claimbook.pages import CHAPTERS, chapter_path
from claimbook.site.content import Content, Row
from claimbook.site.directives import Directive, view
from claimbook.site.views import views_of

FOLDER = "book/downloads"
NOTEBOOKS = ROOT / "_build" / "notebooks" / CHAPTERS
ARCHIVE = "in-context-learning-reproduced"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
WHEEL = f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}-py3-none-any.whl"
BUILT_FROM = (*packages(), "claimbook", "pyproject.toml", "requirements.in", "LICENSE")
CARRIES = ("_toc.yml", "pyproject.toml", "book/claims.yml", "book/recorded")
BUILD = "from setuptools import build_meta; build_meta.build_wheel('.')"


class Downloads(Directive):
    """``{downloads} WHICH``: the files to take home: book, chapters or data."""

    required_arguments = 1
    optional_arguments = 0

    def run(self) -> list[Node]:
        """Return the list."""
        files: dict[str, Any] = {"archive": f"{ARCHIVE}.zip", "wheel": WHEEL}
        files["recorded"] = {path.name: read_json(path) for path in sorted(RECORDED.glob("*.json"))}
        return [view(self.env, "downloads.html", which=self.arguments[0], **files)]


def write_files(content: Content, site: Path) -> None:
    """Put the files into the site."""
    files = [*RECORDED.glob("*.json"), ROOT / "CITATION.cff", ROOT / "requirements.lock"]
    for name in content.chapters:
        files += [NOTEBOOKS / f"{name}.ipynb", chapter_path(name, ROOT)]
    for path in files:
        copy(path, site / FOLDER / path.name)
    write_atomically(site / FOLDER / WHEEL, wheel())
    for name, text in ledger_files(content.rows).items():
        write_atomically(site / "book" / name, text)


def ledger_files(rows: Sequence[Row]) -> dict[str, str]:
    """Return ``ledger.csv``, a line a row with JSON for what nests, and ``ledger.json``."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(
            json.dumps(one, ensure_ascii=False) if isinstance(one, (dict, list)) else one
            for one in row.values()
        )
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    return {"ledger.csv": table.getvalue(), "ledger.json": text}


def wheel(root: Path = ROOT) -> bytes:
    """Build the wheel of a checkout; the same files give the same bytes."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for names, into in ((BUILT_FROM, folder), (CARRIES, folder / "claimbook" / CARRIED)):
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


def write_archive(app: Sphinx, site: Path) -> None:
    """Put the archive of a finished site into it, with the licence and how to begin."""
    write_atomically(site / "README.txt", views_of(app)("README.txt", "", wheel=WHEEL) + "\n")
    for name in ("LICENSE", "CITATION.cff"):
        copy(ROOT / name, site / name)
    with TemporaryDirectory() as folder:
        file = shutil.make_archive(f"{folder}/{ARCHIVE}", "zip", site.parent, site.name)
        shutil.move(file, site / FOLDER / f"{ARCHIVE}.zip")
