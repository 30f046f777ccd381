"""A value is computed once, and only an equal call finds it again."""

import subprocess
import sys

import pytest
import torch

from claimbook.files import write_atomically
from claimbook.runs import memo
from iclutils.randomness import stream
from iclutils.window import covariates, function_classes


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(memo, "folder", lambda: tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def calls(monkeypatch):
    seen = []

    def whole(*args, **kwargs):
        seen.append((args, kwargs))
        return torch.full((2,), float(len(seen)))

    whole.__module__ = "iclutils.window.covariates"
    whole.__qualname__ = "whole"
    return seen, whole


def test_an_equal_call_is_found_again(calls):
    seen, whole = calls
    first = memo.cached(whole, 3, sigma=0.5)
    second = memo.cached(whole, 3, sigma=0.5)
    assert torch.equal(first, second)
    assert len(seen) == 1


@pytest.mark.parametrize(("args", "kwargs"), [((4,), {"sigma": 0.5}), ((3,), {"sigma": 0.25})])
def test_another_argument_is_another_value(calls, args, kwargs):
    seen, whole = calls
    memo.cached(whole, 3, sigma=0.5)
    memo.cached(whole, *args, **kwargs)
    assert len(seen) == 2


def test_a_value_cut_off_is_computed_again(calls, own_folder):
    _, whole = calls
    memo.cached(whole, 3)
    (file,) = own_folder.rglob("*.pickle")
    file.write_bytes(file.read_bytes()[:10])
    assert float(memo.cached(whole, 3)[0]) == 2.0


def test_a_fresh_stream_is_an_argument_like_others():
    law = covariates.Sphere(3)
    draws = [memo.cached(covariates.sample, law, (4,), stream(seed, "x")) for seed in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_equal_calls_have_one_digest_in_every_process(capsys):
    code = (
        "import torch\n"
        "from claimbook.runs.memo import call_digest, serialise\n"
        "from iclutils.randomness import stream\n"
        "from iclutils.window.function_classes import Affine\n"
        "grid = torch.linspace(0, 1, 50).double()\n"
        "call = (grid, stream(3, 'x'), [Affine(5), Affine(5)], {'a': 0.1})\n"
        "print(call_digest(serialise(call)))\n"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    exec(code, {})
    assert capsys.readouterr().out == there
    assert len(there.strip()) == 32


def test_only_functions_of_the_packages_are_cached():
    with pytest.raises(ValueError, match="one of claimbook or iclutils, by name; got"):
        memo.cached(lambda: 1)
    with pytest.raises(ValueError, match="one of claimbook or iclutils, by name; got"):
        memo.cached(torch.ones, 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.zeros(3), torch.tensor([0.0, 0.0, 1e-6])),
        (torch.zeros(3), torch.zeros(3, dtype=torch.float64)),
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        ([torch.zeros(2), torch.ones(2)], [torch.ones(2), torch.zeros(2)]),
        (stream(0, "a"), stream(1, "a")),
        (covariates.Sphere(3), covariates.Sphere(4)),
        ({"trials": 3}, {"trials": 4}),
        (1, 1.0),
    ],
)
def test_calls_that_differ_in_one_value_are_told_apart(one, other):
    assert memo.serialise(one) == memo.serialise(one)
    assert memo.serialise(one) != memo.serialise(other)


def test_a_value_belongs_to_the_code_that_its_call_can_reach(tmp_path):
    """Of the function's module, of what that imports, and of the objects among its arguments."""
    call = memo.serialise(("iclutils.window.prompts", "draw", (covariates.Sphere(3), "iclutils")))
    assert memo.modules(call) == {"iclutils.window.prompts", "iclutils.window.covariates"}
    for name, text in {
        "iclutils/__init__.py": "",
        "iclutils/one.py": "def f():\n    from iclutils import two\n",
        "iclutils/two.py": "",
        "iclutils/three.py": "",
    }.items():
        write_atomically(tmp_path / name, text)
    keys = []
    for name in ("iclutils/three.py", "iclutils/two.py", "requirements.lock"):
        memo.code_digest.cache_clear()
        before = memo.code_digest(frozenset({"iclutils.one"}), tmp_path)
        write_atomically(tmp_path / name, '"""Changed."""\n')
        memo.code_digest.cache_clear()
        keys.append(memo.code_digest(frozenset({"iclutils.one"}), tmp_path) == before)
    assert keys == [True, False, False]


def test_after_an_edit_a_value_is_computed_anew_and_the_old_one_goes(
    calls, own_folder, monkeypatch
):
    seen, whole = calls
    law = function_classes.Affine(5)
    memo.cached(whole, law)
    asked = []
    monkeypatch.setattr(memo, "code_digest", lambda names: asked.append(names) or "edited")
    assert float(memo.cached(whole, law)[0]) == 2.0
    assert len(seen) == 2
    assert asked == [{"iclutils.window.covariates", "iclutils.window.function_classes"}]
    assert [path.name for path in own_folder.rglob("*.pickle")] == ["edited.pickle"]
