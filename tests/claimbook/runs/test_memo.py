"""A value is computed once, and only an equal call finds it again."""

import subprocess
import sys

import pytest
import torch

from claimbook.files import write_atomically
from claimbook.runs import memo
from iclutils.randomness import stream
from iclutils.window import covariates


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(memo, "folder", lambda: tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def count():
    """Return a function of the package that says how often it was called."""
    calls = []

    def count(*args, **kwargs):
        calls.append((args, kwargs))
        return torch.full((2,), float(len(calls)))

    count.__module__, count.__qualname__ = "iclutils.window.covariates", "count"
    return count


@pytest.mark.parametrize(
    ("args", "kwargs", "calls"),
    [((3,), {"sigma": 0.5}, 1), ((4,), {"sigma": 0.5}, 2), ((3,), {"sigma": 0.25}, 2)],
)
def test_an_equal_call_is_found_again_and_another_argument_is_another_value(
    count, args, kwargs, calls
):
    memo.cached(count, 3, sigma=0.5)
    assert memo.cached(count, *args, **kwargs).tolist() == [calls, calls]


CALL = """
import hashlib, torch
from claimbook.runs.memo import serialise
from iclutils.randomness import stream
from iclutils.window.function_classes import Affine
grid = torch.linspace(0, 1, 50).double()
call = (grid, stream(3, "x"), [Affine(5), Affine(5)], {"a": 0.1})
print(hashlib.sha256(serialise(call)).hexdigest())
"""


def test_equal_calls_are_the_same_bytes_in_every_process(capsys):
    there = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True).stdout
    exec(CALL, {})
    assert capsys.readouterr().out == there != ""


@pytest.mark.parametrize(("function", "args"), [(lambda: 1, ()), (torch.ones, (3,))])
def test_only_functions_of_the_packages_are_cached(function, args):
    with pytest.raises(ValueError, match="one of iclutils, by name; got"):
        memo.cached(function, *args)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.zeros(3), torch.tensor([0.0, 0.0, 1e-6])),
        (torch.zeros(3), torch.zeros(3, dtype=torch.float64)),
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        ([torch.zeros(2), torch.ones(2)], [torch.ones(2), torch.zeros(2)]),
        (stream(0, "a"), stream(1, "a")),
        (covariates.Sphere(3), covariates.Sphere(4)),
        (1, 1.0),
    ],
)
def test_calls_that_differ_in_one_value_are_told_apart(one, other):
    assert memo.serialise(one) == memo.serialise(one) != memo.serialise(other)


@pytest.mark.parametrize("name", ["iclutils/deep/two.py", "requirements.lock"])
def test_a_value_belongs_to_the_code_of_the_packages(tmp_path, name):
    digests = set()
    for text in ("", '"""Changed."""\n'):
        write_atomically(tmp_path / name, text)
        memo.code_digest.cache_clear()
        digests.add(memo.code_digest(tmp_path))
    assert len(digests) == 2


def test_after_an_edit_or_a_damage_a_value_is_computed_anew(count, own_folder, monkeypatch):
    memo.cached(count, 3)
    monkeypatch.setattr(memo, "code_digest", lambda: "edited")
    assert float(memo.cached(count, 3)[0]) == 2.0
    (file,) = own_folder.glob("*-edited.pickle")
    file.write_bytes(file.read_bytes()[:10])  # as a machine that stops leaves it
    assert float(memo.cached(count, 3)[0]) == 3.0
