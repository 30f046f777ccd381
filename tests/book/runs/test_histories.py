"""Reading the authors' histories: the numbers, and nothing that a pickle would run."""

import os
import pickle
import struct
import sys
import types

import pytest

from iclutils.book.runs import histories


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
    assert histories.losses(content) == {"train": [0.5, 0.25], "test": [2.0, 1.5]}


@pytest.mark.parametrize("named", [os.system, eval, print])
def test_a_pickle_that_names_anything_else_is_refused(named):
    with pytest.raises(pickle.UnpicklingError, match="must not name"):
        histories.losses(pickle.dumps({"train": [named], "test": []}))
