"""Numbers that authors have published, kept with where they come from, for a comparison."""

from typing import Any

from iclutils.book.runs.files import ROOT, read_json
from iclutils.ground import arguments

PUBLISHED = ROOT / "book" / "recorded" / "authors"


def published(name: str) -> dict[str, Any]:
    """The authors' numbers of this name, with their source.

    ``repository``, ``commit`` and ``licence`` say where they were published, ``settings`` how far
    their settings are known, and ``rows`` are the numbers, each with its ``path`` there. Nothing is
    fetched. Raises ``KeyError`` for an unknown name, ``ValueError`` for a broken file.
    """
    known = {path.stem: path for path in PUBLISHED.glob("*.json")}
    arguments.one_of("name", name, known)
    found: dict[str, Any] = read_json(known[name])
    return found
