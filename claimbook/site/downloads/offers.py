"""The files that the site offers: notebooks, Markdown, hand-outs, sweeps, the ledger.

They lie under ``book/downloads`` of the site, so that their addresses stay.
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claimbook.files import ROOT, write_atomically
from claimbook.pages import CHAPTERS, chapter_path
from claimbook.site.content import Content, Row
from claimbook.site.downloads import wheel

FOLDER = "book/downloads"
NOTEBOOKS = ROOT / "_build" / "notebooks"
HANDOUT = "_exercises.md"  # what the name of a chapter's hand-out ends in


def recorded() -> list[Path]:
    """Results of runs too long for the book, and the verdicts of other master seeds."""
    return sorted((ROOT / "book" / "recorded").glob("*.json"))


def write_files(content: Content, site: Path) -> None:
    """Put the files into the site, and leave none there that is no longer offered."""
    files = files_of(content)
    for place, file in files.items():
        write_atomically(site / place, file)
    for path in (site / FOLDER).glob("*"):
        if path.relative_to(site).as_posix() not in files:
            path.unlink()


def files_of(content: Content) -> dict[str, bytes]:
    """Return the files to take home, by their places on the site."""
    files = [*recorded(), ROOT / "CITATION.cff", ROOT / "requirements.lock"]
    for name in content.chapters:
        notebook = NOTEBOOKS / f"{CHAPTERS.as_posix()}/{name}.ipynb"
        files += [notebook, notebook.with_name(name + HANDOUT), chapter_path(name, ROOT)]
    held = {f"{FOLDER}/{path.name}": path.read_bytes() for path in files if path.exists()}
    held[f"{FOLDER}/{wheel.NAME}"] = wheel.wheel()
    return held | ledger_files(content.rows)


def ledger_files(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return ``ledger.csv``, a line a row, and ``ledger.json``, with what nests."""
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({field: cell(value) for field, value in row.items()})
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    return {"book/ledger.csv": table.getvalue().encode(), "book/ledger.json": text.encode()}


def cell(value: Any) -> Any:
    """Return a value as a cell of the table; what nests is JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value
