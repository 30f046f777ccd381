"""Numbers that authors have published, kept with where they come from, for a comparison."""

import functools
import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iclutils.book.runs import histories
from iclutils.book.runs.files import ROOT, read_json
from iclutils.ground import validation

PUBLISHED = ROOT / "book" / "recorded" / "authors"
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def published(name: str) -> dict[str, Any]:
    """The authors' numbers of this name, with their source.

    ``repository``, ``commit`` and ``licence`` say where they were published, ``settings`` how far
    their settings are known, and ``rows`` are the numbers, each with its ``path`` there. Nothing is
    fetched. Raises ``KeyError`` for an unknown name, ``ValueError`` for a broken file.
    """
    known = {path.stem: path for path in PUBLISHED.glob("*.json")}
    validation.one_of("name", name, known)
    found: dict[str, Any] = read_json(known[name])
    return found


def missing(found: Mapping[str, Any], clone: Path) -> list[str]:
    """Which of the rows of :func:`published` a ``clone`` of the repository does not bear out.

    A row of a pickled history has for each of its ``runs`` the losses at its ``checkpoints``
    (``train``, and ``icl`` or ``idg`` the test loss), to four digits; the numbers of any other row
    stand in its file as they are, to six digits, those of a list one after the other. Raises
    ``subprocess.CalledProcessError`` where the clone lacks the commit or a file.
    """
    right = {True: _in_histories, False: _in_text}
    return [
        json.dumps(row)
        for row in found["rows"]
        if not right["checkpoints" in row](row, clone, found["commit"])
    ]


@functools.lru_cache(maxsize=64)
def _content(clone: Path, commit: str, path: str) -> bytes:
    shown = ["git", "-C", str(clone), "show", f"{commit}:{path}"]
    return subprocess.run(shown, check=True, capture_output=True).stdout


def _in_histories(row: Mapping[str, Any], clone: Path, commit: str) -> bool:
    for name in {"train", "icl", "idg"} & set(row):
        field = "train" if name == "train" else "test"
        for run, kept in zip(row["runs"], row[name], strict=True):
            losses = histories.losses(_content(clone, commit, row["path"].format(run=run)))
            at = [float(f"{losses[field][number - 1]:.4g}") for number in row["checkpoints"]]
            if at != kept:
                return False
    return True


def _six_digits(number: float) -> float:
    return float(f"{number:.6g}")


def _in_text(row: Mapping[str, Any], clone: Path, commit: str) -> bool:
    for name, kept in row.items():
        if name not in ("icl", "idg", "icl_sd", "idg_sd"):
            continue
        text = _content(clone, commit, row.get(f"path_{name}", row["path"])).decode()
        there = [_six_digits(float(number)) for number in _NUMBER.findall(text)]
        wanted = [_six_digits(number) for number in (kept if isinstance(kept, list) else [kept])]
        starts = range(len(there) - len(wanted) + 1)
        if not any(there[i : i + len(wanted)] == wanted for i in starts):
            return False
    return True
