"""Reads the records of long sweeps, and the numbers that authors published."""

from pathlib import Path
from typing import Any

from claimbook.files import ROOT, read_json

RECORDED = ROOT / "book" / "recorded"
opened: set[Path] = set()  # by this process: the checker asks whether they are in the page's key


def read_record(name: str, folder: Path = RECORDED) -> dict[str, Any]:
    """Read the record ``name`` of the book, or of the installed package outside of it.

    A recorded sweep says where it comes from, and under ``jobs`` the settings and results of each
    job. A record ``authors/…`` holds numbers that were published: ``repository``, ``commit`` and
    ``licence`` say where, ``settings`` how far their settings are known, ``rows`` are the numbers.
    Raises ``FileNotFoundError`` with the names that there are, and ``ValueError`` for a file that
    is no JSON.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        paths = sorted(folder.rglob("*.json"))
        names = [one.relative_to(folder).with_suffix("").as_posix() for one in paths]
        raise FileNotFoundError(f"{path} is missing; the records are {', '.join(names)}")
    opened.add(path)
    record: dict[str, Any] = read_json(path)
    return record
