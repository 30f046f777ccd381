r"""The prompts of a fleet of units (:mod:`iclutils.window.pretraining`), drawn in blocks of steps.

Every draw is a function of (seed, role, trial, block of steps), and of the context length and the
number of queries: settings that agree in these see the same Gaussians and, where their tasks have
one law, the same tasks. What several settings share is computed once.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground.randomness import normal, stream
from iclutils.window.covariates import Law, Stretched, StretchedAnew
from iclutils.window.functions import Affine, ReLU
from iclutils.window.prompts import Prompt
from iclutils.window.tasks import FunctionClass, Task

BLOCK = 50  # steps drawn at once from one stream; part of the definition of the random draws

Labelled = tuple[FunctionClass, float]  # a class of tasks and the noise σ of its labels


@dataclass(frozen=True)
class Block:
    """The draws of all trials for one block of steps: their role, and which block it is."""

    trials: int
    number: int
    seed: int
    role: str


def block_prompts(
    block: Block, settings: Sequence[tuple[Law, int, int, Sequence[Labelled]]]
) -> list[list[Prompt]]:
    """For each (covariates, n, queries, classes with noise) the prompts of every step of a block.

    ``x: (T, n, d)``, ``y: (T, S, n)``, ``query: (T, q, d)``, ``target: (T, S, q)`` in each step,
    for S pairs of a class and a noise.
    """

    def streams(what: str, n: int, q: int) -> list[torch.Generator]:
        trials = range(block.trials)
        return [stream(block.seed, block.role, what, n, q, trial, block.number) for trial in trials]

    @functools.cache
    def gaussian(what: str, n: int, q: int, *size: int) -> Float[Tensor, "T BLOCK ..."]:
        draws = [normal(BLOCK, *size, generator=generator) for generator in streams(what, n, q)]
        return torch.stack(draws)

    @functools.cache
    def tokens(covariates: Law, n: int, q: int) -> Float[Tensor, "T BLOCK m d"]:
        z = gaussian("covariates", n, q, n + q, covariates.d)
        if isinstance(covariates, StretchedAnew):
            covariates = Stretched(gaussian("stretches", n, q, covariates.d, covariates.d))
        return covariates.from_gaussian(z)

    drawn: dict[object, Task] = {}

    def tasks(function: FunctionClass, n: int, q: int) -> Task:
        key = (function.law, n, q)
        if key not in drawn:
            each = [function.sample((BLOCK,), generator) for generator in streams("tasks", n, q)]
            drawn[key] = {name: torch.stack([task[name] for task in each]) for name in each[0]}
        return drawn[key]

    @functools.cache
    def values(
        function: FunctionClass, covariates: Law, n: int, q: int
    ) -> Float[Tensor, "T BLOCK m"]:
        if isinstance(function, Affine | ReLU) and function.L != 1:
            return function.L * values(replace(function, L=1.0), covariates, n, q)
        return function.evaluate(tasks(function, n, q), tokens(covariates, n, q))

    @functools.cache
    def noise(sigma: float, n: int, q: int) -> Float[Tensor, "T BLOCK n"]:
        return sigma * gaussian("noise", n, q, n)

    found = []
    for covariates, n, q, classes in settings:
        x = tokens(covariates, n, q)
        each = [(values(function, covariates, n, q), sigma) for function, sigma in classes]
        # (T, BLOCK, S, n) and (T, BLOCK, S, q)
        y = torch.stack([value[..., :n] + noise(sigma, n, q) for value, sigma in each], dim=2)
        target = torch.stack([value[..., n:] for value, _ in each], dim=2)
        steps = range(BLOCK)
        found.append([Prompt(x[:, t, :n], y[:, t], x[:, t, n:], target[:, t]) for t in steps])
    return found
