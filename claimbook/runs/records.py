"""The records of sweeps, as files: where they lie, how they are read, what tells a changed one.

Beside them lie numbers that authors have published, for a comparison.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claimbook.files import ROOT, read_json
from iclutils.ground import arguments

RECORDED = ROOT / "book" / "recorded"
PUBLISHED = RECORDED / "authors"


def read(name: str, folder: Path = RECORDED) -> dict[str, Any]:
    """Read a recorded sweep: its provenance and ``jobs``, one mapping of settings and results each.

    Raises ``FileNotFoundError`` with the command that records it where there is no such record, and
    ``ValueError`` where a record was changed after it was made.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        command = f"python -m iclutils.recorded {name}"
        raise FileNotFoundError(f"{path} is missing; record it with: {command}")
    return unbroken(path)


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


def unbroken(path: Path) -> dict[str, Any]:
    """What a record says; raises ``ValueError`` where its seal is another's."""
    data: dict[str, Any] = read_json(path)
    if not isinstance(data, dict) or data.get("seal") != seal(data):
        raise ValueError(f"{path} was changed by hand: its seal does not fit; record it anew")
    return data


def seal(data: Mapping[str, Any]) -> str:
    """The digest of all that a record says, but of the seal itself: a changed number breaks it."""
    said = {name: value for name, value in data.items() if name != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]
