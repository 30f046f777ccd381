r"""Fleets of independent attention units, pretrained as one tensor program.

A fleet has S settings times T trials. Trials of the same index share their random draws across
settings that have the same context length (common random numbers), so that settings are compared
trial by trial. Every draw is a function of (seed, role, trial, block of steps): a unit's history
does not depend on which other units are trained beside it.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils import validation
from iclutils.products import product
from iclutils.randomness import start
from iclutils.window import attention
from iclutils.window.covariates import Law
from iclutils.window.function_classes import FunctionClass
from iclutils.window.prompts import BLOCK, Block, Labelled, Prompt, block_prompts, default_queries


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of the pretraining protocol: tasks, covariates, context length n and noise σ.

    Raises ``TypeError`` or ``ValueError`` where n is no whole number above zero, σ is negative or
    the tasks live in another dimension than the covariates.
    """

    function: FunctionClass
    covariates: Law
    n: int
    sigma: float

    def __post_init__(self) -> None:
        validation.whole("n", self.n)
        validation.noise("sigma", self.sigma)
        d = self.covariates.d
        if self.function.d != d:
            raise ValueError(
                f"function must live in d = {d}, the dimension of the covariates; "
                f"got d = {self.function.d}"
            )


@dataclass(frozen=True)
class Schedule:
    r"""How the steps are taken: step t has the rate :math:`\eta\,\mathrm{decay}^t`.

    ``learning_rate`` is one η > 0 or one per setting, ``decay`` in (0, 1], ``optimiser`` "adam" or
    "sgd" (the plain gradient). The defaults are those of Collins et al., Appendix J. Raises
    ``ValueError`` for numbers out of range, ``KeyError`` for another optimiser.
    """

    learning_rate: float | Sequence[float] = 0.1
    decay: float = 0.999
    optimiser: str = "adam"

    def __post_init__(self) -> None:
        for rate in self._listed():
            validation.positive("learning_rate", rate)
        validation.in_range("decay", self.decay, 0.0, 1.0, open_low=True)
        validation.one_of("optimiser", self.optimiser, ("adam", "sgd"))

    def rates(self, settings: int) -> Float[Tensor, " S"]:
        """η of every setting; ``ValueError`` where another number of them was given."""
        rates = self._listed()
        if len(rates) not in (1, settings):
            raise ValueError(
                f"learning_rate must be one number or {settings}, one per setting; got {len(rates)}"
            )
        return torch.tensor(rates, dtype=torch.float64).expand(settings)

    def _listed(self) -> list[float]:
        if hasattr(self.learning_rate, "__float__") and getattr(self.learning_rate, "ndim", 0) == 0:
            return [float(self.learning_rate)]
        return list(self.learning_rate)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pretraining:
    """Recorded histories of S settings, T trials: M after each of R numbers of steps."""

    steps: Int[Tensor, " R"]
    M: Float[Tensor, "S T R d d"]

    def split(self, size: int) -> "list[Pretraining]":
        """Return the histories of ``size`` settings at a time, in their order.

        Raises ``ValueError`` where that is no whole number above zero.
        """
        validation.whole("size", size)
        return [Pretraining(self.steps, M) for M in torch.split(self.M, size)]

    @property
    def norm(self) -> Float[Tensor, "S T R"]:
        """Spectral norm ‖M‖."""
        largest: Tensor = torch.linalg.matrix_norm(self.M, ord=2)
        return largest

    @property
    def scale(self) -> Float[Tensor, "S T R"]:
        """tr(M)/d: the w of M = w·I."""
        return self.M.diagonal(dim1=-2, dim2=-1).mean(-1)


def pretrain(
    settings: Sequence[Setting],
    *,
    trials: int = 10,
    steps: int = 2000,
    schedule: Schedule | None = None,
    queries: int | None = None,
    unit: str | Sequence[str] = "softmax",
    tied: bool = True,
    seed: int = 0,
    record_every: int = 20,
    role: str = "pretraining",
) -> Pretraining:
    r"""Train every setting for ``trials`` trials on one fresh task per step.

    The loss is the mean squared error over the task's queries (Collins et al., eq. (ICL)).

    :math:`M = A^\top A` (``tied``) or :math:`M = A_K^\top A_Q`, started at :math:`10^{-3}I`, in
    float64 (Collins et al., Appendix J). ``schedule`` defaults to
    :class:`iclutils.window.pretraining.Schedule`'s defaults, ``queries`` to
    :math:`\lfloor\sqrt n\rfloor` per task; ``unit`` is one for all or one per setting. M is
    recorded at the start, every ``record_every`` steps and at the end.

    Raises ``ValueError`` for empty settings, mixed d, numbers out of range or another number of
    learning rates or units than settings, ``KeyError`` for an unknown unit, ``RuntimeError`` where
    a training diverges.

    >>> from iclutils.window.covariates import Sphere
    >>> from iclutils.window.function_classes import Affine
    >>> setting = Setting(function=Affine(3), covariates=Sphere(3), n=9, sigma=0.1)
    >>> run = pretrain([setting], trials=2, steps=40)
    >>> run.steps.tolist(), tuple(run.M.shape)
    ([0, 20, 40], (1, 2, 3, 3, 3))
    """
    _check(settings, trials=trials, steps=steps, record_every=record_every)
    validation.flag("tied", tied)
    schedule = schedule or Schedule()
    groups = _groups(settings, _units(unit, len(settings)), queries)
    order = [row for group in groups for row in group.rows]  # a group's settings side by side
    rates = schedule.rates(len(settings))[order].view(-1, 1, 1)
    direction = _Adam() if schedule.optimiser == "adam" else _gradient_step
    first = start(1e-3 * torch.eye(settings[0].covariates.d, dtype=torch.float64))
    factors = first.expand(1 if tied else 2, trials, len(settings), -1, -1)
    M = product(factors[0].mT, factors[-1])
    recorded = [0]
    history = [M]
    for t in range(steps):
        if t % BLOCK == 0:
            block = Block(trials, t // BLOCK, seed, role)
            prompts_of = block_prompts(block, [group.tokens for group in groups])
        parts = torch.split(M, [len(group.rows) for group in groups], dim=1)
        slopes = [
            attention.gradient(part, group.of_settings(prompts[t % BLOCK]), group.unit)
            for part, prompts, group in zip(parts, prompts_of, groups, strict=True)
        ]
        slope = torch.cat(slopes, dim=1)
        step = direction(_through(factors, slope))
        factors = torch.addcmul(factors, rates * schedule.decay**t, step, value=-1)
        M = product(factors[0].mT, factors[-1])
        if (t + 1) % record_every == 0 or t + 1 == steps:
            _require_finite(M, order, t + 1)
            recorded.append(t + 1)
            history.append(M)
    whole = torch.stack(history, dim=2).transpose(0, 1)
    return Pretraining(torch.tensor(recorded), whole[torch.tensor(order).argsort()])


def _check(settings: Sequence[Setting], **numbers: int) -> None:
    if not settings:
        raise ValueError("settings must hold at least one Setting; got none")
    dimensions = {setting.covariates.d for setting in settings}
    if len(dimensions) > 1:
        raise ValueError(f"settings must share one d; got {sorted(dimensions)}")
    for name, number in numbers.items():
        validation.whole(name, number)


def _require_finite(M: Float[Tensor, "T S d d"], order: Sequence[int], steps: int) -> None:
    """Refuse a training that diverged, and say which."""
    bad = ~torch.isfinite(M).all(-1).all(-1).all(0)
    if bool(bad.any()):
        which = order[int(bad.nonzero()[0])]
        raise RuntimeError(
            f"the training of setting {which} diverged within {steps} steps: M is not finite; "
            "take a smaller learning_rate"
        )


def _through(
    factors: Float[Tensor, "F T S d d"], slope: Float[Tensor, "T S d d"]
) -> Float[Tensor, "F T S d d"]:
    """Compute the gradient in the factors, A or (A_K, A_Q), from that in their product M."""
    if len(factors) == 1:
        return product(factors, slope + slope.mT)
    return torch.stack([product(factors[1], slope.mT), product(factors[0], slope)])


@dataclass(frozen=True)
class _Group:
    """Settings that share their unit and tokens: covariates, context length, number of queries.

    ``rows`` are their places among all settings.
    """

    rows: list[int]
    settings: list[Setting]
    unit: str
    queries: int

    @functools.cached_property
    def classes(self) -> list[Labelled]:
        """The classes of tasks with their noise, each once: settings may differ in rates alone."""
        return list(dict.fromkeys((one.function, one.sigma) for one in self.settings))

    @functools.cached_property
    def of_classes(self) -> Int[Tensor, " S"]:
        """The place of every setting's class among the ``classes``."""
        classes = [(one.function, one.sigma) for one in self.settings]
        return torch.tensor([self.classes.index(one) for one in classes])

    @property
    def tokens(self) -> tuple[Law, int, int, list[Labelled]]:
        """What :func:`iclutils.window.prompts.block_prompts` draws for them."""
        first = self.settings[0]
        return first.covariates, first.n, self.queries, self.classes

    def of_settings(self, prompt: Prompt) -> Prompt:
        """Return the prompts of the settings from those of the classes."""
        if len(self.classes) == len(self.settings):
            return prompt
        y, target = (one.index_select(1, self.of_classes) for one in (prompt.y, prompt.target))
        return Prompt(prompt.x, y, prompt.query, target)


def _units(unit: str | Sequence[str], settings: int) -> list[str]:
    """Return the unit of every setting; ``ValueError`` where another number of them was given."""
    units = [unit] * settings if isinstance(unit, str) else list(unit)
    for one in units:
        validation.one_of("unit", one, attention.UNITS)
    if len(units) != settings:
        raise ValueError(f"unit must be one name or {settings}, one per setting; got {len(units)}")
    return units


def _groups(settings: Sequence[Setting], units: Sequence[str], queries: int | None) -> list[_Group]:
    groups: list[_Group] = []
    for row, (setting, unit) in enumerate(zip(settings, units, strict=True)):
        n = setting.n
        q = default_queries(n) if queries is None else validation.whole("queries", queries)
        for group in groups:
            first = group.settings[0]
            alike = (group.unit, group.queries, first.n) == (unit, q, n)
            if alike and first.covariates == setting.covariates:
                group.rows.append(row)
                group.settings.append(setting)
                break
        else:
            groups.append(_Group([row], [setting], unit, q))
    return groups


def _gradient_step(slope: Float[Tensor, "F T S d d"]) -> Float[Tensor, "F T S d d"]:
    return slope


class _Adam:
    """Adam's direction for every model of the fleet at once (Kingma and Ba 2015, Algorithm 1).

    Not torch.optim.Adam, because every setting of the fleet has a learning rate of its own.
    """

    betas = (0.9, 0.999)  # as in torch.optim.Adam
    epsilon = 1e-8

    def __init__(self) -> None:
        self.t = 0
        self.first = torch.zeros((), dtype=torch.float64)
        self.second = torch.zeros((), dtype=torch.float64)

    def __call__(self, slope: Float[Tensor, "F T S d d"]) -> Float[Tensor, "F T S d d"]:
        if self.t == 0:
            self.first = torch.zeros_like(slope)
            self.second = torch.zeros_like(slope)
        self.t += 1
        slow, slower = self.betas
        self.first.lerp_(slope, 1 - slow)
        self.second.mul_(slower).addcmul_(slope, slope, value=1 - slower)
        # both corrections of the bias are numbers: one pass for the two instead of one each
        unbias = (1 - slower**self.t) ** 0.5
        root = self.second.sqrt().add_(self.epsilon * unbias)
        return torch.div(self.first, root, out=root).mul_(unbias / (1 - slow**self.t))
