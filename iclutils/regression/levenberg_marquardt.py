r"""Two ways to train a fleet of attention layers: Levenberg–Marquardt until it stops, and AdamW.

Both start from Gaussian weights of variance 1/d and minimise, for each layer apart, the sum of
squares :math:`\|r\|^2=\sum_\mu(\hat y_\mu-y_\mu)^2` over its own prompts.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from iclutils import validation
from iclutils.products import product
from iclutils.randomness import stream
from iclutils.regression.layers import Layers, Slopes, flattened
from iclutils.regression.training_sets import Fleet, draw_fleet

# A loss this small a share of the labels' power is an exact fit: what is left is rounding.
EXACT = 1e-20


class Weights(NamedTuple):
    """u and M of all layers, or derivatives by them."""

    u: Float[Tensor, "models e"]
    m: Float[Tensor, "models e e-1"]


class State(NamedTuple):
    """The weights θ = (u, M) of all layers, flattened, sums of squares, and JᵀJ and Jᵀr there."""

    theta: Float[Tensor, "models parameters"]
    loss: Float[Tensor, " models"]
    matrix: Float[Tensor, "models parameters parameters"]
    slope: Float[Tensor, "models parameters"]


@dataclass(frozen=True)
class LeastSquares:
    r"""The residuals of a fleet of layers as functions of their flattened weights.

    Linear attention sees a prompt through its matrix :math:`S=\tfrac1\ell ZZ^\top` alone,

    .. math:: \hat y = u^\top SMx,\qquad \frac{\partial\hat y}{\partial u} = SMx,\qquad
              \frac{\partial\hat y}{\partial(Mx)} = Su,

    which is computed once. A softmax needs all tokens; the prompts then lie along the last axis,
    for sums over a token's few entries, and over few tokens, are fast along long rows. Prompts that
    do not count are zero.
    """

    fleet: Fleet
    softmax: bool

    def __post_init__(self) -> None:
        validation.flag("softmax", self.softmax)

    @functools.cached_property
    def z(self) -> Float[Tensor, "models prompts e t"]:
        """The prompts that count."""
        return self.fleet.z * self.fleet.mask[..., None, None]

    @functools.cached_property
    def x(self) -> Float[Tensor, "models prompts d"]:
        """Their queries."""
        return self.z[..., :-1, -1].contiguous()

    @functools.cached_property
    def y(self) -> Float[Tensor, "models prompts"]:
        """Their labels."""
        return self.fleet.y * self.fleet.mask

    @functools.cached_property
    def second_moment(self) -> Float[Tensor, "models prompts e e"]:
        """S of every prompt."""
        return product(self.z, self.z.mT) / (self.z.shape[-1] - 1)

    def of(self, chosen: Tensor) -> "LeastSquares":
        """Restrict the problem to the ``chosen`` layers, and to prompts that one of them has."""
        z, y, mask = self.fleet.z[chosen], self.fleet.y[chosen], self.fleet.mask[chosen]
        most = int(mask.sum(1).max()) if len(mask) else 0
        return LeastSquares(Fleet(z[:, :most], y[:, :most], mask[:, :most]), self.softmax)

    def split(self, theta: Float[Tensor, "models parameters"]) -> Weights:
        """Split the parameters into the weights u and M."""
        e = self.fleet.z.shape[2]
        return Weights(theta[:, :e], theta[:, e:].reshape(len(theta), e, e - 1))

    @functools.cached_property
    def _tokens(self) -> NDArray[np.float64]:
        """The tokens, (models, e, t, prompts)."""
        return self.z.permute(0, 2, 3, 1).contiguous().numpy()

    def slopes(self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]) -> Slopes:
        """As :func:`iclutils.regression.layers.slopes`, by the way that is fast."""
        if self.softmax:
            return self._softmax_slopes(u, m)
        query, by_query = self._parts(u, m)
        by_u = product(self.second_moment, query.unsqueeze(-1)).squeeze(-1)
        return Slopes((by_query * query).sum(-1), by_u, by_query)

    def _softmax_slopes(
        self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]
    ) -> Slopes:
        query = product(m, self.x.mT)
        scores = torch.from_numpy(np.einsum("bitn,bin->btn", self._tokens, query.numpy()))
        attention = torch.softmax(scores, 1)
        values = torch.from_numpy(np.einsum("bitn,bi->btn", self._tokens, u.numpy()))
        answer = (attention * values).sum(1)
        by_score = attention * (values - answer.unsqueeze(1))
        by_u, by_query = (
            torch.from_numpy(np.einsum("bitn,btn->bin", self._tokens, weight.numpy())).mT
            for weight in (attention, by_score)
        )
        return Slopes(answer, by_u, by_query)

    def at(self, theta: Float[Tensor, "models parameters"]) -> State:
        """Compute the sums of squares and the normal equations at the weights ``theta``."""
        answer, by_u, by_query = self.slopes(*self.split(theta))
        residual = answer - self.y
        j = flattened(by_u, by_query, self.x)
        slope = product(j.mT, residual.unsqueeze(-1)).squeeze(-1)
        return State(theta, residual.square().sum(1), j.mT @ j, slope)

    def gradient(self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]) -> Weights:
        """Compute the gradient of each layer's mean squared error in u and M."""
        share = 2 / self.fleet.mask.sum(1, keepdim=True)
        if self.softmax:
            answer, by_u, by_query = self.slopes(u, m)
            pull = (share * (answer - self.y)).unsqueeze(-1)
            of_u = (pull * by_u).sum(1)
        else:
            query, by_query = self._parts(u, m)
            pull = (share * ((by_query * query).sum(-1) - self.y)).unsqueeze(-1)
            pulled = product(self._rows.mT, (pull * query).flatten(1).unsqueeze(-1))
            of_u = pulled.squeeze(-1)
        return Weights(of_u, product((pull * by_query).mT, self.x))

    def cosine(self, state: State) -> Float[Tensor, " models"]:
        """Compute the largest cosine of the residuals with a column of J; 0 for an exact fit."""
        lengths = state.matrix.diagonal(dim1=1, dim2=2).sqrt() * state.loss.sqrt()[:, None]
        # a weight without influence has a column of zeros, and cosine 0
        cosine = (state.slope.abs() / lengths.clamp_min(torch.finfo(torch.float64).tiny)).amax(1)
        power = self.y.square().sum(1)
        return torch.where(state.loss <= EXACT * power, 0.0, cosine)

    def _parts(
        self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]
    ) -> tuple[Float[Tensor, "models prompts e"], Float[Tensor, "models prompts e"]]:
        """Mx and Su."""
        query = product(self.x, m.mT)
        return query, product(self._rows, u.unsqueeze(-1)).view(query.shape)

    @property
    def _rows(self) -> Float[Tensor, "models rows e"]:
        """The rows of S of all prompts: Su is one product for a layer."""
        return self.second_moment.flatten(1, 2)


def of_one_size(fleet: Fleet, chosen: Bool[Tensor, " models"]) -> list[Int[Tensor, " _"]]:
    """Group the chosen layers by number of prompts, so that none carries another's padding."""
    sizes = fleet.mask.sum(1)
    return [(chosen & (sizes == size)).nonzero()[:, 0] for size in torch.unique(sizes[chosen])]


# No step lowers a sum of squares by more than the square of this cosine, which is near rounding;
# and an exact fit is left alone when nothing but rounding, (1e-16)², is left of the labels' power.
RESTING = 1e-7
ROUNDING = 1e-28
LOOK_EVERY = 5  # steps between two looks at which layers rest


@dataclass(frozen=True)
class FittedLayers(Layers):
    """Trained layers, and the criterion of convergence of each.

    ``cosine`` is the largest cosine between a layer's residuals and a column of their Jacobian,
    see :func:`fit`.
    """

    cosine: Float[Tensor, " models"] = field(kw_only=True)
    tolerance: float = field(kw_only=True)

    @property
    def converged(self) -> Bool[Tensor, " models"]:
        """Which layers have a cosine of at most the ``tolerance``."""
        return self.cosine <= self.tolerance


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

    ``seed`` chooses the initial weights. Every layer takes ``iterations`` steps, or rests where
    rounding is all that is left to gain. The step leaves
    out the second derivatives of the residuals, so where these stay large it converges only
    linearly; layers that have not converged take as many steps again, until they have or
    ``rounds`` are over. ``unconverged`` is the share of the layers that may fail the criterion,
    from 0 to 1; ``converged`` of the result says which layers meet it.

    >>> from iclutils.regression.training_sets import draw_fleet
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
    problem = LeastSquares(fleet, softmax)
    slow = torch.ones(count, dtype=torch.bool)
    for _ in range(rounds):
        for chosen in of_one_size(fleet, slow):
            theta[chosen] = _minimise(problem.of(chosen), theta[chosen], iterations)
        state = problem.at(theta)
        cosine = problem.cosine(state)
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
    problem: LeastSquares, start: Float[Tensor, "models parameters"], iterations: int
) -> Float[Tensor, "models parameters"]:
    """Levenberg–Marquardt from ``start``; only steps that lower a layer's loss are taken.

    A layer rests once its cosine is at most RESTING or its fit as good as rounding allows.
    """
    theta = start.clone()
    active = torch.arange(len(start))
    power = problem.y.square().sum(1)
    state = problem.at(theta.clone())
    damping = torch.ones(len(start), dtype=torch.float64)
    eye = torch.eye(start.shape[1], dtype=torch.float64)
    for step in range(iterations):
        if step % LOOK_EVERY == 0:
            cosine = problem.cosine(state)
            moves = (cosine > RESTING) | (state.loss > ROUNDING * power) & (cosine == 0)
            if not bool(moves.all()):
                theta[active] = state.theta
                rows = moves.nonzero()[:, 0]
                active, power, damping = active[rows], power[rows], damping[rows]
                state = State(*(part[rows] for part in state))
                problem = problem.of(rows)
            if not len(active):
                return theta
        damped = state.matrix + damping[:, None, None] * eye
        move = torch.linalg.solve(damped, state.slope[..., None])[..., 0]
        tried = problem.at(state.theta - move)
        better = tried.loss < state.loss
        for old, new in zip(state, tried, strict=True):
            old[better] = new[better]
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-12, 1e8)
    theta[active] = state.theta
    return theta


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

    >>> from iclutils.regression.training_sets import draw_fleet
    >>> fleet = draw_fleet([20], d=3, ell=3, rho=0.01, seed=0)
    >>> early, late = train(fleet, seed=0, checkpoints=[10, 200])
    >>> bool(late.loss(fleet) < early.loss(fleet))
    True

    Raises ``ValueError`` where there are no ``checkpoints`` or one is below 1, and where
    ``learning_rate`` is not positive, ``RuntimeError`` where a training diverges.
    """
    validation.positive("learning_rate", learning_rate)
    if not checkpoints:
        raise ValueError("checkpoints must hold at least one number of steps; got none")
    for step in checkpoints:
        validation.whole("checkpoints", step)
    k, q, u = _start_of_kqv(fleet.z.shape[0], fleet.z.shape[2], seed)
    optimiser = torch.optim.AdamW([k, q, u], lr=learning_rate, fused=True)
    whole = LeastSquares(fleet, softmax)
    alike = of_one_size(fleet, torch.ones(len(u), dtype=torch.bool))
    problems = [(rows, whole.of(rows)) for rows in alike]
    of_u, of_m = torch.empty_like(u), torch.empty_like(k.mT)
    snapshots = []
    for step in range(1, max(checkpoints) + 1):
        m = product(k.mT, q[..., :-1])
        for rows, problem in problems:
            of_u[rows], of_m[rows] = problem.gradient(u[rows], m[rows])
        u.grad = of_u
        k.grad = product(q[..., :-1], of_m.mT)
        q.grad = torch.nn.functional.pad(product(k, of_m), (0, 1))
        optimiser.step()
        if step in checkpoints:
            m = product(k.mT, q[..., :-1])
            if not bool(torch.isfinite(m).all() and torch.isfinite(u).all()):
                raise RuntimeError(
                    f"learning_rate must be smaller; with {learning_rate:g} a layer diverged within"
                    f" {step} steps"
                )
            snapshots.append(Layers(u.clone(), m, softmax))
    return snapshots


def fresh_errors(
    layers: Layers, d: int, rho: float, seed: int, each: int
) -> Float[Tensor, "numbers each"]:
    r"""Compute the error of each layer on 400 fresh prompts of its own, at :math:`\ell=d`.

    A row for each number of prompts that the layers were trained on, ``each`` layers in turn.
    Raises what :func:`iclutils.regression.training_sets.draw_fleet` raises, and ``RuntimeError``
    where the layers are no whole number of rows.
    """
    prompts = draw_fleet([400] * len(layers.u), d, d, rho, seed, role="test")
    return layers.loss(prompts).reshape(-1, each)


def _start_of_kqv(count: int, e: int, seed: int) -> list[Tensor]:
    """Gaussian K and Q (B, d, d+1) and last row of V (B, d+1), of variance 1/d, to be trained."""
    generator = stream(seed, "start of K, Q, V", count, e)
    shapes = ((count, e - 1, e), (count, e - 1, e), (count, e))
    return [
        torch.randn(shape, dtype=torch.float64, generator=generator) / math.sqrt(e - 1)
        for shape in shapes
    ]
