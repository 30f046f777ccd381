"""What a chapter's two pages both need is computed once, and kept for the other page.

A kept value belongs to the function with all of its arguments, and to the code that the function
and the objects among its arguments can reach (:mod:`claimbook.runs.code`), so that it can only
be found again where computing it anew would give the same. ``make check`` begins with an empty
store.
"""

import hashlib
import io
import os
import pickle
import pickletools
from collections.abc import Callable
from functools import cache as once
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

from claimbook.files import CARRIED, ROOT, write_atomically
from claimbook.runs import code
from claimbook.runs.processor import ARITHMETIC, VARIANT

P = ParamSpec("P")
T = TypeVar("T")


def kept(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """``function(*args, **kwargs)``, or what an earlier call with equal arguments returned.

    ``function`` is one of the package's, which :mod:`pickle` can name, and its value depends on its
    arguments alone. A random stream among them is a fresh one, made in the call: one that was found
    again is not advanced. Raises ``ValueError`` for a function of the notebook itself or a lambda,
    whose code the key does not cover.
    """
    module = getattr(function, "__module__", "") or ""
    name = getattr(function, "__qualname__", "")
    if not module.startswith("iclutils.") or "<" in name:
        raise ValueError(f"function must be one of iclutils, by name; got {module}.{name}")
    if ROOT.name == CARRIED:  # outside of a checkout there is no place for it
        return function(*args, **kwargs)
    call = written((module, name, args, sorted(kwargs.items())))
    path = folder() / digest(call) / f"{code_key(frozenset(modules(call)))}.pickle"
    try:
        found: T = pickle.loads(path.read_bytes())
        return found
    except (OSError, EOFError, pickle.UnpicklingError):
        pass
    value = function(*args, **kwargs)
    write_atomically(path, pickle.dumps(value, protocol=5))
    for older in path.parent.glob("*.pickle"):
        if older != path:
            older.unlink(missing_ok=True)
    return value


def written(call: object) -> bytes:
    """A call as bytes, the same in every process for equal arguments."""
    file = io.BytesIO()
    _ByValue(file, protocol=5).dump(call)
    return file.getvalue()


def digest(call: bytes) -> str:
    """The digest of a call as it is written."""
    return hashlib.sha256(call).hexdigest()[:32]


def modules(call: bytes) -> set[str]:
    """The modules of the package that a written call names: its function's and its arguments'.

    >>> modules(written(("iclutils.window.prompts", "draw", (0.5,))))
    {'iclutils.window.prompts'}
    """
    texts = (text for _, text, _ in pickletools.genops(call) if isinstance(text, str))
    return {text for text in texts if text.startswith(tuple(f"{name}." for name in code.PACKAGES))}


@once
def code_key(names: frozenset[str], root: Path = ROOT) -> str:
    """The digest of some modules, of all that these import, of the lock and the interpreter."""
    return code.digest(code.files_of(code.closure(names, root), root), root)


class _ByValue(pickle.Pickler):
    """Writes tensors and random streams by what they hold: torch writes more of them than that."""

    def __init__(self, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.fast = True  # equal parts are written out, whether or not they are one object

    def reducer_override(self, value: object) -> Any:
        """A tensor by dtype, shape and numbers; a generator by its state; else as it is usual."""
        if isinstance(value, Tensor):
            numbers = value.detach().contiguous().numpy().tobytes()
            return tuple, ((str(value.dtype), tuple(value.shape), numbers),)
        if isinstance(value, torch.Generator):
            return bytes, (value.get_state().numpy().tobytes(),)
        return NotImplemented


def folder(root: Path = ROOT) -> Path:
    """Where the values lie that belong to this arithmetic."""
    usual = os.environ.get(ARITHMETIC, "usual")
    return root / "_build" / "store" / os.environ.get(VARIANT, usual)
