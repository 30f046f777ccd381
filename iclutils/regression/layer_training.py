r"""Two ways to train a fleet of attention layers: Levenberg–Marquardt until it stops, and AdamW.

Both start from Gaussian weights of variance 1/d and minimise, for each layer apart, the sum of
squares :math:`\|r\|^2=\sum_\mu(\hat y_\mu-y_\mu)^2` over its own prompts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import stream
from iclutils.regression.fleet import Fleet
from iclutils.regression.layers import Layers, jacobian, layer_output

# A loss this small a share of the labels' power is an exact fit: what is left is rounding.
EXACT = 1e-20


@dataclass(frozen=True)
class FittedLayers(Layers):
    """Trained layers, and the criterion of convergence of each.

    ``cosine`` is the largest cosine between a layer's residuals and a column of their Jacobian,
    see :func:`iclutils.regression.layer_training.fit`.
    """

    cosine: Float[Tensor, " models"] = field(kw_only=True)
    tolerance: float = field(kw_only=True)

    @property
    def converged(self) -> Bool[Tensor, " models"]:
        """Which layers have a cosine of at most the ``tolerance``."""
        return self.cosine <= self.tolerance


class _State(NamedTuple):
    """The weights θ = (u, M) of all layers, flattened, their residuals and sums of squares."""

    theta: Float[Tensor, "models parameters"]
    residual: Float[Tensor, "models prompts"]
    loss: Float[Tensor, "models 1"]


@dataclass(frozen=True)
class _LeastSquares:
    """The residuals of a fleet of layers as functions of their flattened weights."""

    fleet: Fleet
    softmax: bool

    def of(self, chosen: Bool[Tensor, " models"]) -> "_LeastSquares":
        """The problem of the ``chosen`` layers alone."""
        fleet = Fleet(self.fleet.z[chosen], self.fleet.y[chosen], self.fleet.mask[chosen])
        return _LeastSquares(fleet, self.softmax)

    def split(
        self, theta: Float[Tensor, "models parameters"]
    ) -> tuple[Float[Tensor, "models e"], Float[Tensor, "models e e-1"]]:
        """The weights u and M."""
        e = self.fleet.z.shape[2]
        return theta[:, :e], theta[:, e:].reshape(len(theta), e, e - 1)

    def at(self, theta: Float[Tensor, "models parameters"]) -> _State:
        """The weights ``theta`` with their residuals and sums of squares."""
        answers = layer_output(self.fleet.z, *self.split(theta), softmax=self.softmax)
        residual = (answers - self.fleet.y) * self.fleet.mask
        return _State(theta, residual, residual.square().sum(1, keepdim=True))

    def jacobian(
        self, theta: Float[Tensor, "models parameters"]
    ) -> Float[Tensor, "models prompts parameters"]:
        """The derivatives of the residuals."""
        derivatives = jacobian(self.fleet.z, *self.split(theta), softmax=self.softmax)
        return derivatives * self.fleet.mask[..., None]

    def step(
        self, state: _State, damping: Float[Tensor, "models 1"]
    ) -> Float[Tensor, "models parameters"]:
        """The step (JᵀJ + damping)⁻¹Jᵀr that is to be subtracted from the weights."""
        j = self.jacobian(state.theta)
        eye = torch.eye(j.shape[2], dtype=torch.float64)
        normal = j.mT @ j + damping[:, :, None] * eye
        step: Tensor = torch.linalg.solve(normal, j.mT @ state.residual[..., None])[..., 0]
        return step

    def cosine(self, state: _State) -> Float[Tensor, " models"]:
        """The largest cosine between a layer's residuals and a column of J; 0 for an exact fit."""
        j = self.jacobian(state.theta)
        gradient = (j.mT @ state.residual[..., None])[..., 0]
        lengths = j.norm(dim=1) * state.loss.sqrt()
        # a weight without influence has a column of zeros, and cosine 0
        cosine = (gradient.abs() / lengths.clamp_min(torch.finfo(torch.float64).tiny)).amax(1)
        power = (self.fleet.y.square() * self.fleet.mask).sum(1)
        return torch.where(state.loss[:, 0] <= EXACT * power, 0.0, cosine)


def fit(
    fleet: Fleet,
    seed: int,
    *,
    iterations: int = 200,
    rounds: int = 1,
    softmax: bool = False,
    tolerance: float = 0.01,
    unconverged: float = 0.0,
) -> FittedLayers:
    r"""Train by Levenberg–Marquardt, each layer with its own damping, and say how far it came.

    .. math:: \theta\leftarrow\theta-(J^\top J+\lambda I)^{-1}J^\top r

    where that lowers :math:`\|r\|^2`, and λ falls to a third; else λ grows fourfold. A layer has
    *converged* when its fit is exact (:math:`\|r\|^2` at most 10⁻²⁰ of :math:`\|y\|^2`, which is
    rounding), or when its residuals are almost orthogonal to every column :math:`J_k` of J,

    .. math:: \max_k \frac{|J_k^\top r|}{\|J_k\|\,\|r\|} \le \text{tolerance},

    MINPACK's criterion: no change of one weight would lower the linearised sum of squares by
    more than tolerance² of itself. It needs no scale of the weights or of the loss, and a layer
    whose last steps were all refused does not pass by standing still. It is a first-order
    criterion, so it does not tell a minimum from a saddle, and where a softmax saturates the loss
    may still fall slowly as the weights grow without bound.

    ``seed`` chooses the initial weights. Every layer takes ``iterations`` steps. The step leaves
    out the second derivatives of the residuals, so where these stay large it converges only
    linearly; layers that have not converged take as many steps again, until they have or
    ``rounds`` are over. ``unconverged`` is the share of the layers that may fail the criterion,
    from 0 to 1; ``converged`` of the result says which layers meet it.

    >>> from iclutils.regression.fleet import draw_fleet
    >>> fleet = draw_fleet([10, 60], d=3, ell=3, rho=0.01, seed=0)
    >>> layers = fit(fleet, seed=0)
    >>> layers.converged.tolist()
    [True, True]
    >>> (layers.loss(fleet) < 1e-10).tolist()  # up to d(d+2) = 15 prompts can be fitted
    [True, False]
    >>> test = draw_fleet([400, 400], d=3, ell=3, rho=0.01, seed=0, role="test")
    >>> bool((layers.loss(test) > layers.loss(fleet)).all())
    True

    Raises ``ValueError`` where ``iterations`` or ``rounds`` is below 1, ``tolerance`` or
    ``unconverged`` outside [0, 1], and ``RuntimeError`` where more than the share ``unconverged``
    has not converged.
    """
    validation.whole("iterations", iterations)
    validation.whole("rounds", rounds)
    validation.in_range("tolerance", tolerance, 0, 1)
    validation.in_range("unconverged", unconverged, 0, 1)
    count, e = fleet.z.shape[0], fleet.z.shape[2]
    generator = stream(seed, "start", count, e - 1)
    theta = torch.randn(count, e**2, dtype=torch.float64, generator=generator) / math.sqrt(e - 1)
    problem = _LeastSquares(fleet, softmax)
    slow = torch.ones(count, dtype=torch.bool)
    for _ in range(rounds):
        theta[slow] = _minimise(problem.of(slow), theta[slow], iterations)
        cosine = problem.cosine(problem.at(theta))
        slow = cosine > tolerance
        if not slow.any():
            break
    fitted = FittedLayers(*problem.split(theta), softmax, cosine=cosine, tolerance=tolerance)
    failed = int((~fitted.converged).sum())
    if failed > unconverged * count:
        raise RuntimeError(
            f"fit: {failed} of {count} layers have not converged after {rounds * iterations} "
            f"iterations: cosine of residuals and derivatives up to {float(cosine.max()):.2g}, "
            f"wanted at most {tolerance:g}; raise rounds, or unconverged, the share that may fail"
        )
    return fitted


def _minimise(
    problem: _LeastSquares, start: Float[Tensor, "models parameters"], iterations: int
) -> Float[Tensor, "models parameters"]:
    """Levenberg–Marquardt from ``start``; only steps that lower a layer's loss are taken."""
    state = problem.at(start)
    damping = torch.ones(len(start), 1, dtype=torch.float64)
    for _ in range(iterations):
        tried = problem.at(state.theta - problem.step(state, damping))
        better = tried.loss < state.loss
        state = _State(
            torch.where(better, tried.theta, state.theta),
            torch.where(better, tried.residual, state.residual),
            torch.where(better, tried.loss, state.loss),
        )
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-12, 1e8)
    return state.theta


def train(
    fleet: Fleet,
    seed: int,
    checkpoints: Sequence[int],
    *,
    learning_rate: float = 0.01,
    softmax: bool = False,
) -> list[Layers]:
    """Train K, Q and V by AdamW on full batches; the layers after each of ``checkpoints`` steps.

    Gradients flow through K, Q and V themselves, not through u and M. The weight decay is
    AdamW's default, 0.01. ``seed`` chooses the initial weights. Nothing here claims convergence:
    the number of steps is the caller's.

    >>> from iclutils.regression.fleet import draw_fleet
    >>> fleet = draw_fleet([20], d=3, ell=3, rho=0.01, seed=0)
    >>> early, late = train(fleet, seed=0, checkpoints=[10, 200])
    >>> bool(late.loss(fleet) < early.loss(fleet))
    True

    Raises ``ValueError`` where there are no ``checkpoints`` or one is below 1, and where
    ``learning_rate`` is not positive.
    """
    validation.positive("learning_rate", learning_rate)
    if not checkpoints:
        raise ValueError("checkpoints must hold at least one number of steps; got none")
    for step in checkpoints:
        validation.whole("checkpoints", step)
    k, q, u = _start_of_kqv(fleet.z.shape[0], fleet.z.shape[2], seed)
    optimiser = torch.optim.AdamW([k, q, u], lr=learning_rate, fused=True)
    kept = []
    for step in range(1, max(checkpoints) + 1):
        optimiser.zero_grad()
        error = layer_output(fleet.z, u, k.mT @ q[..., :-1], softmax=softmax) - fleet.y
        mean = (error.square() * fleet.mask).sum(1) / fleet.mask.sum(1)
        mean.sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step in checkpoints:
            m = (k.mT @ q[..., :-1]).detach()
            kept.append(Layers(u.detach().clone(), m, softmax))
    return kept


def _start_of_kqv(count: int, e: int, seed: int) -> list[Tensor]:
    """Gaussian K and Q (B, d, d+1) and last row of V (B, d+1), of variance 1/d, to be trained."""
    generator = stream(seed, "start of K, Q, V", count, e)
    shapes = ((count, e - 1, e), (count, e - 1, e), (count, e))
    return [
        (torch.randn(shape, dtype=torch.float64, generator=generator) / math.sqrt(e - 1))
        .requires_grad_()
        for shape in shapes
    ]
