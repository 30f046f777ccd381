"""Keep on disk what a chapter's two pages both compute.

A value belongs to the function with all of its arguments, and to the code that the function and the
objects among its arguments can reach (:mod:`claimbook.runs.page_key`), so that it is only read
where computing it again would give the same. ``make check`` begins with an empty store.
"""

import hashlib
import io
import os
import pickle
import pickletools
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from claimbook.files import CARRIED, ROOT, write_atomically
from claimbook.runs import page_key
from claimbook.runs.page_key import PACKAGES

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
    if module.partition(".")[0] not in PACKAGES or "<" in name:
        packages = " or ".join(PACKAGES)
        raise ValueError(f"function must be one of {packages}, by name; got {module}.{name}")
    call = serialise((module, name, args, sorted(kwargs.items())))
    file = folder() / f"{hashlib.sha256(call).hexdigest()[:32]}-{code_digest(modules(call))}.pickle"
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


def modules(call: bytes) -> frozenset[str]:
    """Collect the packages' modules that a serialised call names: its function's and arguments'.

    >>> modules(serialise(("iclutils.window.prompts", "draw", (0.5,))))
    frozenset({'iclutils.window.prompts'})
    """
    texts = {text for _, text, _ in pickletools.genops(call) if isinstance(text, str)}
    return frozenset(text for text in texts if text.partition(".")[0] in PACKAGES and "." in text)


@cache
def code_digest(names: frozenset[str], root: Path = ROOT) -> str:
    """Digest some modules, all that these import, the lock and the interpreter."""
    return page_key.digest(page_key.files_of(page_key.closure(names, root), root), root)


def folder(root: Path = ROOT) -> Path:
    """Locate the values that belong to this arithmetic."""
    usual = os.environ.get(ARITHMETIC, "usual")
    return root / "_build" / "store" / os.environ.get(VARIANT, usual)
