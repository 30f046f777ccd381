"""Keep on disk what a chapter's two pages both compute.

A value belongs to the function with all of its arguments, and to the code of the book's packages,
so that it is only read where computing it again would give the same. ``make check`` begins with an
empty store.
"""

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from claimbook.files import CARRIED, ROOT, packages, write_atomically
from claimbook.runs.page_key import digest

# the variables by which torch is told to use plainer instructions, and a run to stand for another
# machine (make portability)
ARITHMETIC, VARIANT = "ATEN_CPU_CAPABILITY", "CLAIMBOOK_VARIANT"

P = ParamSpec("P")
T = TypeVar("T")


def cached(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return ``function(*args, **kwargs)``, read from disk where an equal call was made before.

    ``function`` is one of the book's packages, which :mod:`pickle` can name, and its value depends
    on its arguments alone. A random stream among them is a fresh one, made in the call: one that
    is read again is not advanced. Raises ``ValueError`` for a function of the notebook itself or a
    lambda, whose code the key does not cover.
    """
    if ROOT.name == CARRIED:  # outside of a checkout there is no place for it
        return function(*args, **kwargs)
    module = getattr(function, "__module__", "") or ""
    name = getattr(function, "__qualname__", "")
    if module.partition(".")[0] not in packages() or "<" in name:
        known = " or ".join(packages())
        raise ValueError(f"function must be one of {known}, by name; got {module}.{name}")
    call = serialise((module, name, args, sorted(kwargs.items())))
    file = folder() / f"{hashlib.sha256(call).hexdigest()[:32]}-{code_digest()}.pickle"
    with suppress(OSError, EOFError, pickle.UnpicklingError):
        value: T = pickle.loads(file.read_bytes())
        return value
    value = function(*args, **kwargs)
    write_atomically(file, pickle.dumps(value, protocol=5))
    return value


def serialise(call: object) -> bytes:
    """Write a call as bytes, the same in every process for equal arguments."""
    file = io.BytesIO()
    pickler = _ByValue(file, protocol=5)
    pickler.fast = True  # equal parts are written out, whether or not they are one object
    pickler.dump(call)
    return file.getvalue()


class _ByValue(pickle.Pickler):
    """Writes tensors and random streams by what they hold: torch writes more of them than that."""

    def reducer_override(self, value: object) -> Any:
        """Reduce a tensor to dtype, shape and numbers, a generator to its state."""
        torch = sys.modules.get("torch")  # a book without it has no such arguments
        if torch is not None and isinstance(value, torch.Tensor):
            numbers = value.detach().contiguous().numpy().tobytes()
            return tuple, ((str(value.dtype), tuple(value.shape), numbers),)
        if torch is not None and isinstance(value, torch.Generator):
            return bytes, (value.get_state().numpy().tobytes(),)
        return NotImplemented


@cache
def code_digest(root: Path = ROOT) -> str:
    """Digest the code of the book's packages, the lock and the interpreter."""
    return digest(
        [file for name in packages() for file in sorted((root / name).rglob("*.py"))], root
    )


def folder(root: Path = ROOT) -> Path:
    """Locate the values that belong to this arithmetic."""
    usual = os.environ.get(ARITHMETIC, "usual")
    return root / "_build" / "store" / os.environ.get(VARIANT, usual)
