"""A chapter as other machines compute it: other instructions, two threads, draws moved by rounding.

What the last bit of a number can change is no property of a model. A run under a *variant* is
compared as any run is, nothing of it enters the cache, and it says what moved and by how much of
what it may. ``perturbed`` stands for all machines that are not here: the book's own function, which
``pyproject.toml`` names, moves every draw and every start; ``perturbed:2`` moves them another way.
"""

import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from claimbook.files import ROOT, settings
from claimbook.runs.processor import ARITHMETIC, THREADS, VARIANT

MOVES = "moves"  # of a report's properties: page, variant, and how far each number moved
SHOWN = 3  # moves of a page, the largest ones
LEAST = 1e-3  # of what a number may: below it nobody sees a move
ALL = "all"  # on the command line: each variant that this machine has
PERTURBED, THREADED = "perturbed", "threads"
CPU = Path("/proc/cpuinfo")
ONE, TWO = "torch.set_num_threads(1)", "torch.set_num_threads(2)"
TELLS = {  # what a variant tells the libraries that compute
    "default": {ARITHMETIC: "default"},
    "avx2": {ARITHMETIC: "avx2"},
    "avx512": {ARITHMETIC: "avx512"},
    "blas": {"OPENBLAS_CORETYPE": "Nehalem", "MKL_CBWR": "COMPATIBLE"},
    THREADED: dict.fromkeys(THREADS, "2"),
    PERTURBED: {},
}
NEEDS = {"avx2": "avx2", "avx512": "avx512f", "blas": "sse4_2"}  # of the processor


class Variant(NamedTuple):
    """One way to compute; ``xi`` seeds the changes of a perturbed run."""

    name: str
    xi: int = 1

    def __str__(self) -> str:
        return f"{self.name}:{self.xi}" if self.name == PERTURBED else self.name

    @property
    def tells(self) -> dict[str, str]:
        """The environment of its kernels."""
        return {**TELLS[self.name], VARIANT: str(self)}

    @property
    def missing(self) -> str:
        """The instructions that the processor lacks for it; empty where it can run."""
        need = NEEDS.get(self.name, "")
        return "" if not need or need in instructions() else need

    @property
    def prelude(self) -> str:
        """The code that its kernels run before the first cell."""
        if self.name != PERTURBED:
            return ""
        module, _, function = perturbing(ROOT).partition(":")
        return f"from {module} import {function} as _perturb; _perturb({self.xi}); del _perturb"


def variants(asked: str) -> list[Variant]:
    """Read the variants that ``asked`` names: ``all``, or words like ``"avx2 perturbed:3"``.

    Raises ``ValueError`` for another word. All are those that this machine has.

    >>> [str(one) for one in variants("avx2 perturbed perturbed:2")]
    ['avx2', 'perturbed:1', 'perturbed:2']
    """
    if asked == ALL:
        return [one for one in map(Variant, TELLS) if not one.missing]
    return [_variant(word) for word in asked.split()]


def _variant(word: str) -> Variant:
    name, _, xi = word.partition(":")
    if name not in TELLS or (xi and not (name == PERTURBED and xi.isdecimal())):
        known = f"{', '.join(TELLS)} or {PERTURBED}:2"
        raise ValueError(f"a variant must be one of {known}; got '{word}'")
    return Variant(name, int(xi or 1))


def instructions() -> set[str]:
    """List the sets of instructions of this processor, where the system says them."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not CPU.exists():
        return set()
    lines = CPU.read_text(encoding="utf8").splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def perturbing(root: Path) -> str:
    """Look up the book's function that moves draws and starts, as ``module:function``.

    Raises ``ValueError`` where ``pyproject.toml`` names none.
    """
    found: str = settings(root).get("perturb", "")
    if not found:
        raise ValueError("[tool.claimbook] of pyproject.toml must name 'perturb', module:function")
    return found


@contextmanager
def told(variant: Variant | None) -> Iterator[None]:
    """Tell the kernels that start meanwhile; without a variant nothing."""
    tells = {} if variant is None else variant.tells
    before = {name: os.environ.get(name) for name in tells}
    os.environ.update(tells)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def give_threads(notebook: Any) -> None:
    """Give a chapter two threads in the place of its one.

    Raises ``ValueError`` where it does not say in exactly one place that it has one.
    """
    cells = [cell for cell in notebook.cells if ONE in cell.source]
    if len(cells) != 1 or cells[0].source.count(ONE) != 1:
        raise ValueError(f"a chapter must have one line {ONE}; found it in {len(cells)} cells")
    cells[0].source = cells[0].source.replace(ONE, TWO)


def report(found: Iterable[tuple[str, str, dict[str, float]]]) -> Iterator[str]:
    """Say for each page and variant what moved, and by how much of what it may.

    >>> print(*report([("06_stages", "avx2", {"slope": 0.25, "count": 0.0})]), sep="\\n")
    06_stages, avx2: 1 of 2 numbers moved, at most by 0.25 of what they may
       0.25  slope
    """
    for page, variant, moves in sorted(found, key=lambda one: one[:2]):
        moved = sorted(moves.items(), key=lambda one: -one[1])
        moved = [(name, size) for name, size in moved if size > LEAST]
        most = f", at most by {moved[0][1]:.2g} of what they may" if moved else ""
        yield f"{page}, {variant}: {len(moved)} of {len(moves)} numbers moved{most}"
        red = sum(size > 1 for _, size in moved)
        yield from (f"   {size:.2g}  {name}" for name, size in moved[: max(SHOWN, red)])
