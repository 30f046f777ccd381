"""Heads pretrained at each of several steepnesses, noises and lengths: Figures 3, 4 and 6.

A sweep varies one setting and keeps the others; its results go by the names of the classes of tasks
and, over steepness, of the law of the tokens.
"""

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils.stats import Estimate, estimate
from iclutils.window.covariates import Law, Sphere, Stretched
from iclutils.window.function_classes import by_name
from iclutils.window.pretraining import Pretraining, Schedule, Setting, pretrain

CLASSES = ("relu", "cosine")
LAWS = ("isotropic", "R = Σ", "R = Σ^½")
STEEPNESSES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
NOISES = (0.01, 0.03, 0.1, 0.3, 1.0)
LENGTHS = (5, 10, 20, 50, 100, 200)
SLOW = Schedule(0.01)  # the learning rate of Figure 4


class Sweep(NamedTuple):
    """What heads learn at each value of one setting, by the name of what else is varied."""

    values: Sequence[float]
    steps: Int[Tensor, " records"]
    norm: Mapping[Hashable, Float[Tensor, "values trials records"]]  # of M
    scale: Mapping[Hashable, Float[Tensor, "values trials records"]]  # tr(M)/d

    def of(self, name: Hashable, value: float) -> Float[Tensor, "trials records"]:
        """Return the sizes of M at one value."""
        return self.norm[name][self.values.index(value)]

    def end(self, name: Hashable, value: float) -> Float[Tensor, " trials"]:
        """Return the sizes of M at one value, at the end of the training."""
        return self.of(name, value)[:, -1]

    def end_scale(self, name: Hashable, value: float) -> Float[Tensor, " trials"]:
        """Return the window parameters at one value, at the end of the training."""
        return self.scale[name][self.values.index(value)][:, -1]

    def change(self, name: Hashable, start: float, end: float) -> Estimate:
        """Estimate how the sizes at the end change from one value to another, trial by trial."""
        return estimate(self.end(name, end) - self.end(name, start))


def by_steepness(d: int, n: int, sigma: float, *, trials: int, steps: int, seed: int) -> Sweep:
    """Pretrain at each steepness, for both classes and the three laws of the tokens."""
    stretch = torch.diag(torch.arange(1.0, d + 1, dtype=torch.float64))
    laws: tuple[Law, ...] = (Sphere(d), Stretched(stretch), Stretched(stretch.sqrt()))
    settings = [
        Setting(function=by_name(name, d, L), covariates=law, n=n, sigma=sigma)
        for name, law, L in itertools.product(CLASSES, laws, STEEPNESSES)
    ]
    run = pretrain(settings, trials=trials, steps=steps, seed=seed)
    return sweep_of(run, STEEPNESSES, list(itertools.product(CLASSES, LAWS)))


def by_noise(
    d: int,
    n: int,
    L: float,
    *,
    trials: int,
    steps: int,
    seed: int,
    schedule: Schedule = SLOW,
    queries: int | None = None,
) -> Sweep:
    """Pretrain at each noise of the labels, for both classes."""
    settings = [
        Setting(function=by_name(name, d, L), covariates=Sphere(d), n=n, sigma=sigma)
        for name, sigma in itertools.product(CLASSES, NOISES)
    ]
    run = pretrain(
        settings, trials=trials, steps=steps, schedule=schedule, queries=queries, seed=seed
    )
    return sweep_of(run, NOISES, CLASSES)


def by_length(
    d: int,
    sigma: float,
    L: float,
    *,
    trials: int,
    steps: int,
    seed: int,
    schedule: Schedule = SLOW,
    queries: int | None = 1,
) -> Sweep:
    """Pretrain at each length of the prompts, for both classes."""
    settings = [
        Setting(function=by_name(name, d, L), covariates=Sphere(d), n=n, sigma=sigma)
        for name, n in itertools.product(CLASSES, LENGTHS)
    ]
    run = pretrain(
        settings, trials=trials, steps=steps, schedule=schedule, queries=queries, seed=seed
    )
    return sweep_of(run, LENGTHS, CLASSES)


def sweep_of(run: Pretraining, values: Sequence[float], names: Sequence[Hashable]) -> Sweep:
    """Name the settings of a pretraining: for each of ``names`` one at each of ``values``."""
    norms, scales = (torch.split(of, len(values)) for of in (run.norm, run.scale))
    norm_of, scale_of = (dict(zip(names, of, strict=True)) for of in (norms, scales))
    return Sweep(values, run.steps, norm_of, scale_of)
