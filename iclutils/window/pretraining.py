"""Fleets of independent attention units, pretrained as one tensor program.

A fleet has S settings times T trials. Trials of the same index share their random draws across
settings that have the same context length (common random numbers), so that settings are compared
trial by trial. Every draw is a function of (seed, role, trial, block of steps): a unit's history
does not depend on which other units are trained beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from iclutils import validation
from iclutils.attention import UNITS, _loss_and_gradient
from iclutils.covariates import Covariates
from iclutils.functions import FunctionClass
from iclutils.prompts import Prompt, default_queries
from iclutils.randomness import stream

BLOCK = 50  # steps drawn at once from one stream; part of the definition of the random draws
BETAS, EPSILON = (0.9, 0.999), 1e-8  # Adam's defaults, as in torch.optim.Adam


@dataclass(frozen=True)
class Setting:
    """One setting of the pretraining protocol: tasks, covariates, context length n and noise σ."""

    function: FunctionClass
    covariates: Covariates
    n: int
    sigma: float

    def __post_init__(self) -> None:
        validation.whole("n", self.n)
        validation.nonnegative("sigma", self.sigma)


@dataclass(frozen=True)
class Pretraining:
    """Recorded histories: ``steps: (R,)`` and ``M: (S, T, R, d, d)``."""

    steps: torch.Tensor
    M: torch.Tensor

    @property
    def norm(self) -> torch.Tensor:
        """Spectral norm ‖M‖, ``(S, T, R)``."""
        return torch.linalg.matrix_norm(self.M, ord=2)

    @property
    def scale(self) -> torch.Tensor:
        """tr(M)/d, ``(S, T, R)``: the w of M = w·I."""
        return self.M.diagonal(dim1=-2, dim2=-1).mean(-1)


@dataclass(frozen=True)
class _Group:
    """Settings that share their tokens: same covariates, context length and number of queries."""

    rows: list[int]
    covariates: Covariates
    n: int
    queries: int


def pretrain(settings: Sequence[Setting], *, trials: int = 10, steps: int = 2000,
             learning_rate: float | Sequence[float] = 0.1, decay: float = 0.999, queries: int | None = None,
             unit: str = "softmax", optimiser: str = "adam", tied: bool = True, seed: int = 0,
             record_every: int = 20, role: str = "pretraining") -> Pretraining:
    r"""Train every setting for ``trials`` trials: one fresh task per step, loss (ICL) on its queries.

    $M = A^\top A$ (``tied``) or $M = A_K^\top A_Q$, started at $10^{-3}I$; step t uses the learning
    rate times ``decay``^t (Collins et al., Appendix J). ``queries`` defaults to ⌊√n⌋ per task;
    ``learning_rate`` may be one number per setting. ``optimiser`` is "adam" or "sgd" (plain gradient).
    All in float64.

    Raises ``ValueError`` for empty settings, mixed d, or numbers out of range, ``KeyError`` for an
    unknown unit or optimiser.
    """
    if not settings:
        raise ValueError("settings must hold at least one Setting; got none")
    if len({s.covariates.d for s in settings}) > 1:
        raise ValueError(f"settings must share one d; got {sorted({s.covariates.d for s in settings})}")
    for name, number in (("trials", trials), ("steps", steps), ("record_every", record_every)):
        validation.whole(name, number)
    validation.one_of("unit", unit, UNITS)
    validation.one_of("optimiser", optimiser, ("adam", "sgd"))
    validation.in_range("decay", decay, 0.0, 1.0, open_low=True)
    rates = [learning_rate] * len(settings) if isinstance(learning_rate, (int, float)) else list(learning_rate)
    if len(rates) != len(settings):
        raise ValueError(f"learning_rate must be one number or {len(settings)}, one per setting; got {len(rates)}")
    rate = torch.tensor([validation.positive("learning_rate", r) for r in rates], dtype=torch.float64)

    S, d = len(settings), settings[0].covariates.d
    groups = _groups(settings, queries)
    start = 1e-3 * torch.eye(d, dtype=torch.float64).expand(S, trials, d, d)
    factors = start.clone().unsqueeze(0) if tied else torch.stack([start, start])
    step_rule = _Adam(factors) if optimiser == "adam" else _gradient_step
    M = factors[0].mT @ factors[-1]
    recorded, history = [0], [M]
    gradient = torch.empty_like(M)
    for t in range(steps):
        if t % BLOCK == 0:
            blocks = [_draw(settings, g, trials, t // BLOCK, seed, role) for g in groups]
        for group, block in zip(groups, blocks, strict=True):
            gradient[group.rows] = _loss_and_gradient(M[group.rows], block[t % BLOCK], unit)[1]
        if tied:
            slope = (factors[0] @ (gradient + gradient.mT)).unsqueeze(0)
        else:
            slope = torch.stack([factors[1] @ gradient.mT, factors[0] @ gradient])
        factors = factors - (rate * decay**t).view(1, S, 1, 1, 1) * step_rule(slope)
        M = factors[0].mT @ factors[-1]
        if (t + 1) % record_every == 0 or t + 1 == steps:
            recorded.append(t + 1)
            history.append(M)
    return Pretraining(torch.tensor(recorded), torch.stack(history, dim=2))


def _groups(settings: Sequence[Setting], queries: int | None) -> list[_Group]:
    groups: list[_Group] = []
    for row, setting in enumerate(settings):
        q = default_queries(setting.n) if queries is None else validation.whole("queries", queries)
        for group in groups:
            if group.covariates == setting.covariates and (group.n, group.queries) == (setting.n, q):
                group.rows.append(row)
                break
        else:
            groups.append(_Group([row], setting.covariates, setting.n, q))
    return groups


def _draw(settings: Sequence[Setting], group: _Group, trials: int, block: int, seed: int, role: str) -> list[Prompt]:
    """The prompts of one block of steps, ``x: (T, n, d)``, ``y: (S_g, T, n)`` for each of its BLOCK steps."""
    n, q, d = group.n, group.queries, group.covariates.d

    def streams(what: str) -> list[torch.Generator]:
        return [stream(seed, role, what, n, q, trial, block) for trial in range(trials)]

    z = torch.stack([torch.randn(BLOCK, n + q, d, generator=g, dtype=torch.float64) for g in streams("covariates")])
    noise = torch.stack([torch.randn(BLOCK, n, generator=g, dtype=torch.float64) for g in streams("noise")])
    tokens = group.covariates.from_gaussian(z)                                      # (T, BLOCK, n + q, d)
    values = []
    for row in group.rows:
        function = settings[row].function
        tasks = [function.sample((BLOCK,), g) for g in streams("tasks")]
        values.append(function.evaluate({key: torch.stack([task[key] for task in tasks]) for key in tasks[0]}, tokens))
    value = torch.stack(values)                                                     # (S_g, T, BLOCK, n + q)
    sigma = torch.tensor([settings[row].sigma for row in group.rows], dtype=torch.float64)
    y = value[..., :n] + sigma.view(-1, 1, 1, 1) * noise
    return [Prompt(tokens[:, t, :n], y[:, :, t], tokens[:, t, n:], value[:, :, t, n:]) for t in range(BLOCK)]


def _gradient_step(slope: torch.Tensor) -> torch.Tensor:
    return slope


class _Adam:
    """Adam's direction for every model of the fleet at once (Kingma and Ba 2015, Algorithm 1)."""

    def __init__(self, like: torch.Tensor) -> None:
        self.t = 0
        self.first, self.second = torch.zeros_like(like), torch.zeros_like(like)

    def __call__(self, slope: torch.Tensor) -> torch.Tensor:
        self.t += 1
        self.first.lerp_(slope, 1 - BETAS[0])
        self.second.mul_(BETAS[1]).addcmul_(slope, slope, value=1 - BETAS[1])
        root = (self.second / (1 - BETAS[1] ** self.t)).sqrt_().add_(EPSILON)
        return self.first / (1 - BETAS[0] ** self.t) / root
