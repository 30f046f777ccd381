"""A value is computed once, and only an equal call finds it again."""

import subprocess
import sys

import pytest
import torch

from claimbook.files import write_atomically
from claimbook.runs import store
from iclutils.ground.randomness import stream
from iclutils.window import covariates, functions


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: tmp_path / "store")
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
    first = store.kept(whole, 3, sigma=0.5)
    second = store.kept(whole, 3, sigma=0.5)
    assert torch.equal(first, second)
    assert len(seen) == 1


@pytest.mark.parametrize(("args", "kwargs"), [((4,), {"sigma": 0.5}), ((3,), {"sigma": 0.25})])
def test_another_argument_is_another_value(calls, args, kwargs):
    seen, whole = calls
    store.kept(whole, 3, sigma=0.5)
    store.kept(whole, *args, **kwargs)
    assert len(seen) == 2


def test_a_value_cut_off_is_computed_again(calls, own_folder):
    _, whole = calls
    store.kept(whole, 3)
    (file,) = own_folder.rglob("*.pickle")
    file.write_bytes(file.read_bytes()[:10])
    assert float(store.kept(whole, 3)[0]) == 2.0


def test_a_fresh_stream_is_an_argument_like_others():
    law = covariates.Sphere(3)
    draws = [store.kept(covariates.sample, law, (4,), stream(seed, "x")) for seed in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_equal_calls_have_one_digest_in_every_process(capsys):
    code = (
        "import torch\n"
        "from claimbook.runs.store import digest, written\n"
        "from iclutils.ground.randomness import stream\n"
        "from iclutils.window.functions import Affine\n"
        "grid = torch.linspace(0, 1, 50).double()\n"
        "print(digest(written((grid, stream(3, 'x'), [Affine(5), Affine(5)], {'a': 0.1}))))\n"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    exec(code, {})
    assert capsys.readouterr().out == there
    assert len(there.strip()) == 32


def test_only_functions_of_the_package_are_kept():
    with pytest.raises(ValueError, match="one of iclutils, by name; got"):
        store.kept(lambda: 1)
    with pytest.raises(ValueError, match="one of iclutils, by name; got"):
        store.kept(torch.ones, 3)


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
    assert store.written(one) == store.written(one)
    assert store.written(one) != store.written(other)


def test_a_value_belongs_to_the_code_that_its_call_can_reach(tmp_path):
    """Of the function's module, of what that imports, and of the objects among its arguments."""
    call = store.written(("iclutils.window.prompts", "draw", (covariates.Sphere(3), "iclutils")))
    assert store.modules(call) == {"iclutils.window.prompts", "iclutils.window.covariates"}
    for name, text in {
        "iclutils/__init__.py": "",
        "iclutils/one.py": "def f():\n    from iclutils import two\n",
        "iclutils/two.py": "",
        "iclutils/three.py": "",
    }.items():
        write_atomically(tmp_path / name, text)
    keys = []
    for name in ("iclutils/three.py", "iclutils/two.py", "requirements.lock"):
        store.code_key.cache_clear()
        before = store.code_key(frozenset({"iclutils.one"}), tmp_path)
        write_atomically(tmp_path / name, '"""Changed."""\n')
        store.code_key.cache_clear()
        keys.append(store.code_key(frozenset({"iclutils.one"}), tmp_path) == before)
    assert keys == [True, False, False]


def test_after_an_edit_a_value_is_computed_anew_and_the_old_one_goes(
    calls, own_folder, monkeypatch
):
    seen, whole = calls
    law = functions.Affine(5)
    store.kept(whole, law)
    asked = []
    monkeypatch.setattr(store, "code_key", lambda names: asked.append(names) or "edited")
    assert float(store.kept(whole, law)[0]) == 2.0
    assert len(seen) == 2
    assert asked == [{"iclutils.window.covariates", "iclutils.window.functions"}]
    assert [path.name for path in own_folder.rglob("*.pickle")] == ["edited.pickle"]
