"""Whether the authors' numbers stand in a clone of their repository, whose code is not run.

Numbers stand in text files, or in pickled histories of training: of each trained network Lu et al.
publish a pickle of two lists, ``train`` and ``test``, with a record of metrics for each checkpoint.
Its numbers are scalars of JAX and NumPy. A pickle may name any function to be called; here it gets
only the six stand-ins of :data:`KNOWN`, which make plain numbers of plain bytes, and no JAX is
needed.
"""

import functools
import io
import json
import pickle
import re
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
FORMATS = {"f4": "<f", "i4": "<i"}


class _Record(dict[str, Any]):
    """A record of metrics by name."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.update(state)


class _Type:
    """A type of numbers, by its name in NumPy."""

    def __init__(self, name: str, *_: object) -> None:
        self.name = name

    def __setstate__(self, state: object) -> None:
        """The byte order, which is little-endian for these types."""


class _Nothing:
    """What stands for an array before it has its numbers."""

    def __init__(self, *_: object) -> None:
        pass


def _scalar(_make: object, _arguments: object, state: tuple[Any, ...], _kind: object) -> float:
    """The number of an array with one entry, from its bytes."""
    _, shape, kind, _, content = state
    if shape != ():
        raise pickle.UnpicklingError(f"a history must hold single numbers; got shape {shape}")
    [number] = struct.unpack(FORMATS[kind.name], content)
    return float(number)


KNOWN: dict[tuple[str, str], Any] = {
    ("jax._src.array", "_reconstruct_array"): _scalar,
    ("numpy.core.multiarray", "_reconstruct"): _Nothing,
    ("numpy", "ndarray"): _Nothing,
    ("numpy", "dtype"): _Type,
    ("traintheory", "Metrics"): _Record,
    ("trainmini", "Metrics"): _Record,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """A stand-in for what the pickle names; raises ``UnpicklingError`` for anything else."""
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(f"a history must not name {module}.{name}")
        return KNOWN[module, name]


def losses(content: bytes) -> dict[str, list[float]]:
    """The losses ``train`` and ``test`` of a history at each of its checkpoints.

    Raises ``pickle.UnpicklingError`` where the pickle names anything but the metrics and numbers.
    """
    history = _Reader(io.BytesIO(content)).load()
    return {name: [record["loss"] for record in history[name]] for name in ("train", "test")}


def missing(found: Mapping[str, Any], clone: Path) -> list[str]:
    """Which of the rows of what is published a ``clone`` of the repository does not bear out.

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
            found = losses(_content(clone, commit, row["path"].format(run=run)))
            at = [float(f"{found[field][number - 1]:.4g}") for number in row["checkpoints"]]
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
