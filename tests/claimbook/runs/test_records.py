"""Records are read as they were written: sweeps, and what authors published with its source."""

import json
import os
import pickle
import struct
import subprocess
import sys
import types
from pathlib import Path

import authors
import pytest

from claimbook.runs import records


@pytest.mark.parametrize("path", sorted(records.PUBLISHED.glob("*.json")), ids=lambda p: p.stem)
def test_every_number_says_where_it_comes_from(path):
    found = records.published(path.stem)
    assert found == json.loads(path.read_text(encoding="utf8"))
    assert found["repository"].startswith("https://github.com/")
    assert len(found["commit"]) == 40
    assert found["licence"].startswith("MIT")
    assert found["settings"]
    assert all(row["path"] and (row.get("icl") or row["idg"]) for row in found["rows"])


def test_an_unknown_name_is_refused():
    with pytest.raises(KeyError, match="name must be one of"):
        records.published("nobody")


CLONES = {  # of each repository whose numbers are kept
    "https://github.com/Pehlevan-Group/icl-asymptotic": "ICL_ASYMPTOTIC",
}


@pytest.mark.parametrize("path", sorted(records.PUBLISHED.glob("*.json")), ids=lambda p: p.stem)
def test_every_number_stands_in_the_authors_repository(path):
    found = records.published(path.stem)
    variable = CLONES[found["repository"]]
    if variable not in os.environ:
        pytest.skip(f"{variable} names no clone of {found['repository']}")
    assert authors.missing(found, Path(os.environ[variable])) == []


def test_a_number_that_is_not_there_is_found(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    git("init", "-q")
    (tmp_path / "error.txt").write_text("1.2345678\n2.5\n3e-2\n")
    git("add", ".")
    git("commit", "-qm", "numbers")
    right = [
        {"path": "error.txt", "icl": [1.23457, 2.5]},
        {"path": "error.txt", "icl": 0.03, "icl_sd": 2.5},
    ]
    wrong = [
        {"path": "error.txt", "icl": [2.5, 1.23457]},
        {"path": "error.txt", "icl": [1.23457, 2.5], "idg": [2.51]},
    ]
    found = {"commit": git("rev-parse", "HEAD"), "rows": right + wrong}
    assert authors.missing(found, tmp_path) == [json.dumps(row) for row in wrong]
    with pytest.raises(subprocess.CalledProcessError):
        authors.missing({**found, "rows": [{"path": "none.txt", "icl": 1}]}, tmp_path)


def written(monkeypatch, train, test):
    """A pickle as the authors' programs write it, made with modules of the same names."""
    jax, core, module = (types.ModuleType(n) for n in ("jax._src.array", "core", "traintheory"))

    class Array:
        def __init__(self, number):
            self.number = number

        def __reduce__(self):
            state = (1, (), Kind("f4", False, True), False, struct.pack("<f", self.number))
            return jax._reconstruct_array, (core._reconstruct, (), state, {})

    class Kind:
        def __init__(self, *of):
            self.of = of

        def __reduce__(self):
            return numpy.dtype, self.of, (3, "<")

    class Metrics:
        def __init__(self, loss):
            self.loss = Array(loss)

    numpy = types.ModuleType("numpy")
    for place, name, item in (
        (jax, "_reconstruct_array", lambda *_: None),
        (core, "_reconstruct", lambda *_: None),
        (numpy, "dtype", lambda *_: None),
        (module, "Metrics", Metrics),
    ):
        item.__module__ = "numpy.core.multiarray" if place is core else place.__name__
        item.__qualname__ = item.__name__ = name
        setattr(place, name, item)
    core.__name__ = "numpy.core.multiarray"
    parents = [types.ModuleType(name) for name in ("jax", "jax._src", "numpy.core")]
    for place in (jax, core, module, numpy, *parents):
        monkeypatch.setitem(sys.modules, place.__name__, place)
    history = {"train": [Metrics(x) for x in train], "test": [Metrics(x) for x in test]}
    return pickle.dumps(history)


def test_losses_are_the_numbers_written(monkeypatch):
    with monkeypatch.context() as patched:
        content = written(patched, [0.5, 0.25], [2.0, 1.5])
    # eighths and halves are exact in single precision
    assert authors.losses(content) == {"train": [0.5, 0.25], "test": [2.0, 1.5]}


@pytest.mark.parametrize("named", [os.system, eval, print])
def test_a_pickle_that_names_anything_else_is_refused(named):
    with pytest.raises(pickle.UnpicklingError, match="must not name"):
        authors.losses(pickle.dumps({"train": [named], "test": []}))
