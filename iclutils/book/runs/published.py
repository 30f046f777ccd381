"""Numbers that authors have published, kept with where they come from, for a comparison."""

import json
from pathlib import Path
from typing import Any

from iclutils.book.runs.files import ROOT
from iclutils.ground import validation

PUBLISHED = ROOT / "book" / "recorded" / "authors"


def published(name: str, folder: Path = PUBLISHED) -> dict[str, Any]:
    """The authors' numbers ``folder/name.json``, with their source.

    ``repository``, ``commit`` and ``licence`` say where they were published, ``settings`` how far
    their settings are known, and ``rows`` are the numbers, each with its ``path`` there. Nothing is
    fetched. Raises ``KeyError`` for an unknown name.
    """
    known = {path.stem: path for path in folder.glob("*.json")}
    validation.one_of("name", name, known)
    found: dict[str, Any] = json.loads(known[name].read_text(encoding="utf8"))
    return found
