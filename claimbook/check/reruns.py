"""A page that is run otherwise than for the book: other settings, other seeds, other machines.

Its settings are the values of its cell tagged ``parameters``, the master seed among them. What the
last bit of a number can change is no property of a model: a *variant* computes as another machine
does, and is held to the same reference. ``perturbed`` stands for all machines that
are not here: the book's own function, which ``pyproject.toml`` names, moves every draw and every
start; ``perturbed:2`` moves them another way. Nothing of any rerun is cached.
"""

import ast
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from claimbook import files
from claimbook.pages import code_cells
from claimbook.runs.memo import ARITHMETIC, VARIANT

TAG = "parameters"  # papermill's convention
PERTURBED = "perturbed"
TELLS = {  # what a variant tells the libraries that compute
    "default": {ARITHMETIC: "default"},  # the plainest instructions
    "avx2": {ARITHMETIC: "avx2"},
    PERTURBED: {},
}


class Rerun(NamedTuple):
    """One way to run a page: its settings, its kernel's environment, the code that runs first."""

    name: str
    settings: Mapping[str, Any] = {}
    seed: int | None = None  # where the verdicts of this master seed are compared
    environment: Mapping[str, str] = {}
    prelude: str = ""


def reruns(settings: str, seeds: str, variants: str) -> list[Rerun]:
    """Read what the command line asks for: settings, master seeds and variants.

    Raises ``ValueError`` for what is none.

    >>> [one.name for one in reruns("n=3", "1 2", "avx2 perturbed perturbed:2")]
    ['seed=1', 'seed=2', 'avx2', 'perturbed:1', 'perturbed:2', 'n=3']
    """
    ways = [Rerun(f"seed={seed}", {"seed": int(seed)}, int(seed)) for seed in seeds.split()]
    ways += [read_variant(word) for word in variants.split()]
    return [*ways, Rerun(settings, parse(settings))] if settings else ways


def parse(words: str) -> dict[str, Any]:
    """Read settings as the command line gives them.

    >>> parse("n=100 sigma=0.3 kappa=\\"'inf'\\"")
    {'n': 100, 'sigma': 0.3, 'kappa': 'inf'}

    Raises ``ValueError`` for a word that is no name with a value.
    """
    settings = {}
    for word in shlex.split(words):
        name, _, value = word.partition("=")
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise ValueError(f"a setting must be like n=100; got '{word}'") from None
    return settings


def set_parameters(notebook: Any, settings: Mapping[str, Any]) -> None:
    """Give the parameters of a page other values, in lines behind its own.

    Raises ``ValueError`` for a page without a cell of parameters, and a name that is not set there.
    """
    cells = [cell for cell in code_cells(notebook) if TAG in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise ValueError(f"a page must have one cell tagged '{TAG}'; got {len(cells)}")
    names = [one for one in ast.walk(ast.parse(cells[0].source)) if isinstance(one, ast.Name)]
    known = [name.id for name in names if isinstance(name.ctx, ast.Store)]
    for name, value in settings.items():
        if name not in known:
            raise ValueError(f"a setting of this page must be one of {known}; got '{name}'")
        cells[0].source += f"\n{name} = {value!r}"


def read_variant(word: str) -> Rerun:
    """Read the name of a variant; ``ValueError`` for another word."""
    name, _, xi = word.partition(":")
    if name not in TELLS or (xi and not (name == PERTURBED and xi.isdecimal())):
        known = f"{', '.join(TELLS)} or {PERTURBED}:2"
        raise ValueError(f"a variant must be one of {known}; got '{word}'")
    if name != PERTURBED:
        return Rerun(name, environment={**TELLS[name], VARIANT: name})
    word = f"{name}:{xi or 1}"
    return Rerun(word, environment={VARIANT: word}, prelude=perturbation(xi or "1"))


def perturbation(xi: str) -> str:
    """Write the code that moves draws and starts; ``ValueError`` where the book names none."""
    module, _, function = files.settings().get("perturb", "").partition(":")
    if not function:
        raise ValueError("[tool.claimbook] of pyproject.toml must name 'perturb', module:function")
    return f"from {module} import {function} as _perturb; _perturb({xi}); del _perturb"
