r"""The experiment at finite size: draw a pretraining set, train Γ, find its exact errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import stream
from iclutils.regression.phase import Phase
from iclutils.regression.prompts import (
    Context,
    Moments,
    Prompts,
    draw_tasks,
    fresh_moments,
    moments,
    sample,
)
from iclutils.regression.solver import solve


class Pair(NamedTuple):
    """Moments on the pretraining tasks and on fresh tasks."""

    train: Moments
    fresh: Moments


@dataclass(frozen=True)
class Setting:
    r"""A point of the phase diagram at finite d.

    ``d``: the dimension, at least 2; ``alpha, kappa, tau, rho``: numbers as in
    :class:`iclutils.regression.phase.Phase`; ``normalised``: tasks of norm :math:`\sqrt d`.
    Raises ``ValueError`` for a value out of its range, with its name.
    """

    d: int
    alpha: float
    kappa: float
    tau: float
    rho: float
    normalised: bool = False

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        _ = self.phase  # refuses what is out of range

    @cached_property
    def phase(self) -> Phase:
        """The point of the phase diagram, without d."""
        return Phase(self.alpha, self.kappa, self.tau, self.rho)

    @cached_property
    def context(self) -> Context:
        """What a prompt's context is drawn from."""
        return Context(self.d, self.ell, self.rho)

    @property
    def ell(self) -> int:
        """Context length ℓ = αd, rounded, at least 1."""
        return max(1, round(self.alpha * self.d))

    @property
    def n(self) -> int:
        """Number of pretraining prompts n = τd², rounded, at least 1."""
        return max(1, round(self.tau * self.d**2))

    @property
    def k(self) -> int:
        """Number of pretraining tasks k = κd, rounded, at least 1; n for κ = ∞."""
        return self.n if self.kappa == math.inf else max(1, round(self.kappa * self.d))

    def tasks(self, seed: int, trial: int) -> Float[Tensor, "k d"]:
        """The pretraining tasks of one trial: a function of (seed, trial, k, d) alone."""
        generator = stream(seed, "tasks", self.d, self.k, trial)
        return draw_tasks(self.k, self.d, generator, normalised=self.normalised)

    def prompts(self, seed: int, trial: int) -> Prompts:
        """The pretraining prompts of one trial, balanced over its tasks."""
        generator = stream(seed, "prompts", self.d, self.ell, self.n, self.k, trial)
        return sample(self.tasks(seed, trial), self.context, generator, n=self.n)

    def moments(self, seed: int, trial: int) -> Pair:
        """Exact moments on this trial's pretraining tasks and on fresh ones (equal for κ = ∞)."""
        fresh = fresh_moments(self.context, normalised=self.normalised)
        if self.kappa == math.inf:
            return Pair(fresh, fresh)
        counts = torch.bincount(torch.arange(self.n) % self.k, minlength=self.k).double()
        return Pair(moments(self.tasks(seed, trial), self.context, counts), fresh)

    def other_prompts(self, seed: int, trial: int, m: int) -> tuple[Float[Tensor, "k d"], Prompts]:
        """About ``m`` prompts that are not trained on, and their tasks.

        They are on this trial's tasks, balanced; on fresh ones for κ = ∞.
        """
        if self.kappa == math.inf:
            other = stream(seed, "other tasks", self.d, trial)
            tasks = draw_tasks(m, self.d, other, normalised=self.normalised)
        else:
            tasks = self.tasks(seed, trial)
        generator = stream(seed, "other prompts", self.d, self.ell, len(tasks), trial)
        whole = max(1, m // len(tasks)) * len(tasks)
        return tasks, sample(tasks, self.context, generator, n=whole)


def errors(
    setting: Setting, ridges: Sequence[float], seed: int, trial: int, *, tol: float = 1e-5
) -> Float[Tensor, "ridges 2"]:
    """Draw one pretraining set, train Γ for each ridge ≥ 0, return the exact (e_ICL, e_IDG).

    The default residual ``tol`` of the solver leaves a relative error of about 1e-6 in the errors;
    at the longest contexts (α = 100) without a ridge it is 1e-4.
    Raises what :func:`iclutils.regression.solver.solve` raises.
    """
    prompts = setting.prompts(seed, trial)
    train, fresh = setting.moments(seed, trial)
    found = []
    for lam in ridges:
        gamma = solve(prompts, lam, tol=tol).gamma
        found.append([fresh.error(gamma, setting.rho), train.error(gamma, setting.rho)])
    return torch.tensor(found, dtype=torch.float64)


def curve(
    settings: Sequence[Setting], lam: float, seed: int, trials: int
) -> Float[Tensor, "trials settings 2"]:
    """The errors (e_ICL, e_IDG) for every trial and setting at one ridge ``lam`` ≥ 0.

    Raises ``ValueError`` unless ``trials`` is at least 1.
    """
    validation.whole("trials", trials)
    rows = []
    for trial in range(trials):
        rows.append(torch.stack([errors(s, [lam], seed, trial)[0] for s in settings]))
    return torch.stack(rows)
