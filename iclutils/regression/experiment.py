r"""The experiment at finite size: draw a pretraining set, train Γ, find its exact errors."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression.moments import Moments, fresh_moments, moments, without_corner
from iclutils.regression.ridge import solve_each, solve_ridgeless
from iclutils.regression.samplers import Context, Prompts, draw_tasks, sample
from iclutils.regression.theory.asymptotics import Errors, Phase
from iclutils.regression.theory.equivalents import finite_equivalent, leverage_equivalent
from iclutils.stats import Estimate, estimate, weighted


class Pair(NamedTuple):
    """Moments on the pretraining tasks and on fresh tasks."""

    train: Moments
    fresh: Moments


@dataclass(frozen=True, kw_only=True)
class Setting:
    r"""A point of the phase diagram at finite d.

    ``d``: the dimension, at least 2; ``alpha, kappa, tau, rho``: numbers as in
    :class:`iclutils.regression.theory.asymptotics.Phase`; ``normalised``: tasks of norm
    :math:`\sqrt d`. Raises ``ValueError`` for a value out of its range and ``TypeError`` for what
    is no single number, with its name.
    """

    d: int
    alpha: float
    kappa: float
    tau: float
    rho: float
    normalised: bool = False

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        for name in ("alpha", "kappa", "tau", "rho"):
            validation.real(name, getattr(self, name))
        validation.flag("normalised", self.normalised)
        _ = self.phase  # refuses what is out of range

    @cached_property
    def phase(self) -> Phase:
        """The point of the phase diagram, without d."""
        return Phase(alpha=self.alpha, kappa=self.kappa, tau=self.tau, rho=self.rho)

    @cached_property
    def context(self) -> Context:
        """What a prompt's context is drawn from."""
        return Context(d=self.d, ell=self.ell, rho=self.rho)

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
        """Draw the pretraining tasks of one trial: a function of (seed, trial, k, d) alone."""
        return _tasks(self.k, self.d, self.normalised, seed, trial)

    def prompts(self, seed: int, trial: int) -> Prompts:
        """Draw the pretraining prompts of one trial, balanced over its tasks."""
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
        k = None if self.kappa == math.inf else self.k
        return _other_prompts(self.context, k, self.normalised, seed, trial, m)


def _tasks(k: int, d: int, normalised: bool, seed: int, trial: int) -> Float[Tensor, "k d"]:
    """Draw the ``k`` pretraining tasks of one trial."""
    return draw_tasks(k, d, stream(seed, "tasks", d, k, trial), normalised=normalised)


@lru_cache(maxsize=4)  # the points of a curve that differ in n alone have the same
def _other_prompts(
    context: Context, k: int | None, normalised: bool, seed: int, trial: int, m: int
) -> tuple[Float[Tensor, "k d"], Prompts]:
    """About ``m`` prompts that are not trained on, on ``k`` tasks of a trial or on fresh ones."""
    d = context.d
    if k is None:
        tasks = draw_tasks(m, d, stream(seed, "other tasks", d, trial), normalised=normalised)
    else:
        tasks = _tasks(k, d, normalised, seed, trial)
    generator = stream(seed, "other prompts", d, context.ell, len(tasks), trial)
    whole = max(1, m // len(tasks)) * len(tasks)
    return tasks, sample(tasks, context, generator, n=whole)


def errors(
    setting: Setting, ridges: Sequence[float], seed: int, trial: int, *, tol: float = 1e-5
) -> Float[Tensor, "ridges 2"]:
    """Draw one pretraining set, train Γ for each ridge ≥ 0, return the exact (e_ICL, e_IDG).

    Where the solver iterates, its default residual ``tol`` leaves a relative error in the errors.
    Against 1e-11, at d = 20 and 50, it is at most 3e-6 for τ = 0.4 and 0.8; for τ from 1.2 on it
    grows with the context, to 1e-5, 4e-5 and 3e-4 for α = 1, 10 and 100.
    Raises ``TypeError`` or ``ValueError`` where ``ridges`` is no sequence of at least one number,
    and what :func:`iclutils.regression.ridge.solve` raises.
    """
    if not isinstance(ridges, Sequence):
        raise TypeError(f"ridges must be a sequence of numbers; got {ridges!r}")
    if not ridges:
        raise ValueError("ridges must hold at least one ridge; got none")
    prompts = setting.prompts(seed, trial)
    train, fresh = setting.moments(seed, trial)
    rows = []
    for gamma in (solution.gamma for solution in solve_each(prompts, ridges, tol=tol)):
        rows.append([fresh.error(gamma, setting.rho), train.error(gamma, setting.rho)])
    return torch.tensor(rows, dtype=torch.float64)


def ridgeless_curve(
    settings: Sequence[Setting], seed: int, trials: int
) -> Float[Tensor, "trials settings 2"]:
    """Train Γ without a ridge: its exact e_ICL and its size ‖Γ‖, for every trial and setting.

    Of all Γ that fit best it is the smallest, for small d
    (:func:`iclutils.regression.ridge.solve_ridgeless`). Raises ``ValueError`` unless ``trials`` is
    at least 1 and there is a setting.
    """
    validation.whole("trials", trials)
    if not settings:
        raise ValueError("settings must hold at least one Setting; got none")
    rows = []
    for trial, setting in itertools.product(range(trials), settings):
        gamma = solve_ridgeless(setting.prompts(seed, trial))
        fresh = setting.moments(seed, trial).fresh
        rows.append((fresh.error(gamma, setting.rho), float(gamma.norm())))
    return torch.tensor(rows, dtype=torch.float64).view(trials, len(settings), 2)


def equivalent(
    setting: Setting, lam: float, seed: int, trial: int, *, corner: bool = True
) -> Errors:
    """Compute the errors that the deterministic equivalent expects on the tasks of one trial.

    See :func:`iclutils.regression.theory.equivalents.finite_equivalent`, also for what is raised.
    ``corner=False`` leaves the last entry of v out, and with it d of the d(d+1) features.
    """
    train, fresh = setting.moments(seed, trial)
    if not validation.flag("corner", corner):
        train = without_corner(train)
        fresh = without_corner(fresh)
    return finite_equivalent(train, fresh, setting.n, setting.rho, lam)


def leveraged(setting: Setting, lam: float, seed: int, trial: int, *, m: int = 5000) -> Errors:
    """Add the spread of the leverages, from about ``m`` prompts that are not trained on.

    See :func:`iclutils.regression.theory.equivalents.leverage_equivalent`, also for what is raised.
    """
    tasks, other = setting.other_prompts(seed, trial, m)
    train, fresh = setting.moments(seed, trial)
    return leverage_equivalent(train, fresh, tasks, other, setting.n, setting.rho, lam)


def leveraged_estimate(
    setting: Setting, lam: float, seed: int, *, draws: int, leverages: int, m: int = 2000
) -> Estimate:
    r"""Compute the expected :math:`e_{ICL}` with leverages, over lists of tasks.

    The mean of :func:`equivalent` over ``draws`` ≥ 2 lists, and of what the leverages add over the
    first ``leverages`` ≥ 2 of them, which costs more a list and spreads less. The two count as
    independent. Raises ``ValueError`` where ``leverages`` is above ``draws``.
    """
    validation.whole("leverages", leverages, low=2, high=draws)
    equal = torch.tensor(
        [equivalent(setting, lam, seed, trial).icl for trial in range(draws)], dtype=torch.float64
    )
    spread = torch.tensor(
        [leveraged(setting, lam, seed, trial, m=m).icl for trial in range(leverages)],
        dtype=torch.float64,
    )
    return weighted([1.0, 1.0], [estimate(equal), estimate(spread - equal[:leverages])])


def theory_curve(
    theory: Callable[..., Errors],
    settings: Sequence[Setting],
    lam: float,
    seed: int,
    trials: int,
    **options: bool | int,
) -> Float[Tensor, "trials settings 2"]:
    """Compute what a theory expects of :func:`curve`: (e_ICL, e_IDG) for every trial and setting.

    ``theory`` is :func:`equivalent` or :func:`leveraged`, called with the ``options``. Raises
    ``ValueError`` unless ``trials`` is at least 1 and there is a setting, and what it raises.
    """
    validation.whole("trials", trials)
    if not settings:
        raise ValueError("settings must hold at least one Setting; got none")
    pairs = itertools.product(range(trials), settings)
    points = [theory(setting, lam, seed, trial, **options) for trial, setting in pairs]
    both = torch.tensor([(point.icl, point.idg) for point in points], dtype=torch.float64)
    return both.view(trials, len(settings), 2)


def curve(
    settings: Sequence[Setting], lam: float, seed: int, trials: int
) -> Float[Tensor, "trials settings 2"]:
    """Compute the errors (e_ICL, e_IDG) for every trial and setting at one ridge ``lam`` ≥ 0.

    Raises ``ValueError`` unless ``trials`` is at least 1 and there is a setting.
    """
    validation.whole("trials", trials)
    if not settings:
        raise ValueError("settings must hold at least one Setting; got none")
    rows = []
    for trial in range(trials):
        rows.append(torch.stack([errors(s, [lam], seed, trial)[0] for s in settings]))
    return torch.stack(rows)
