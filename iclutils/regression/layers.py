r"""Trained attention layers instead of the reduced model: K, Q and V of a linear or a softmax layer.

The answer at the query x is Σ_j p_j uᵀz_j over the columns z_j of Z, with u the last row of V, M the first d columns of
KᵀQ and the attention p_j = z_jᵀMx/ℓ (linear) or p = softmax(z_jᵀMx). Nothing is dropped (compare
:mod:`iclutils.linear_icl`). A fleet of B layers, each with its own prompts, is one tensor program. Page 5b uses it.
"""

import math
from dataclasses import dataclass

import torch

from iclutils import features, validation
from iclutils.randomness import stream


@dataclass(frozen=True)
class Fleet:
    """Prompts of B independent pretraining sets: tokens z (B, n, d+1, ℓ+1), last label zeroed, and query labels y (B, n).

    ``mask: (B, n)`` is 1 for the prompts that a model trains on: sets of different sizes stand in one tensor.
    """

    z: torch.Tensor
    y: torch.Tensor
    mask: torch.Tensor


def draw_fleet(sizes: list[int], d: int, ell: int, rho: float, seed: int, *, tasks: int | None = None,
               role: str = "train") -> Fleet:
    """One set of prompts for each of ``sizes`` (its number n), tokens N(0, I/d), labels ⟨x, w⟩ + ε.

    Every prompt has a fresh task, or one of the ``tasks`` tasks of its set, in turn; set b has the same tasks under
    every ``role``, so that ``role="test"`` draws other prompts on them. Raises ``ValueError``.
    """
    validation.whole("d", d), validation.whole("ell", ell), validation.nonnegative("rho", rho)
    for n in sizes:
        validation.whole("sizes", n)
    most = max(sizes)
    z, y, mask = [], [], torch.zeros(len(sizes), most, dtype=torch.float64)
    for b, n in enumerate(sizes):
        draw = stream(seed, "fleet prompts", role, d, ell, b)
        pool = features.draw_tasks(most, d, draw) if tasks is None else \
            features.draw_tasks(tasks, d, stream(seed, "fleet tasks", d, tasks, b))
        w = pool[torch.arange(most) % len(pool)]
        x = torch.randn(most, d, ell + 1, dtype=torch.float64, generator=draw) / math.sqrt(d)
        labels = torch.einsum("nd,ndl->nl", w, x)
        labels = labels + math.sqrt(rho) * torch.randn(most, ell + 1, dtype=torch.float64, generator=draw)
        y.append(labels[:, -1].clone())
        labels[:, -1] = 0
        z.append(torch.cat([x, labels[:, None]], 1))
        mask[b, :n] = 1
    return Fleet(torch.stack(z), torch.stack(y), mask)


def _attend(z: torch.Tensor, u: torch.Tensor, m: torch.Tensor, softmax: bool) -> tuple[torch.Tensor, torch.Tensor]:
    scores = torch.einsum("bnij,bni->bnj", z, torch.einsum("bid,bnd->bni", m, z[..., :-1, -1]))
    values = torch.einsum("bnij,bi->bnj", z, u)
    return (torch.softmax(scores, -1) if softmax else scores / (z.shape[-1] - 1)), values


def layer_output(z: torch.Tensor, u: torch.Tensor, m: torch.Tensor, *, softmax: bool = False) -> torch.Tensor:
    """The answers of B layers; ``z: (B, n, d+1, ℓ+1)``, ``u: (B, d+1)``, ``m: (B, d+1, d)``; returns (B, n)."""
    attention, values = _attend(z, u, m, softmax)
    return (attention * values).sum(-1)


def jacobian(z: torch.Tensor, u: torch.Tensor, m: torch.Tensor, *, softmax: bool = False) -> torch.Tensor:
    """Derivatives of :func:`layer_output` by (u, M), flattened; returns (B, n, (d+1)²)."""
    attention, values = _attend(z, u, m, softmax)
    centred = values - (attention * values).sum(-1, keepdim=True)
    pull = attention * centred if softmax else values / (z.shape[-1] - 1)
    by_u, by_score = torch.einsum("bnij,bnj->bni", z, attention), torch.einsum("bnij,bnj->bni", z, pull)
    return torch.cat([by_u, (by_score[..., None] * z[..., None, :-1, -1]).flatten(2)], 2)


def identifiable_parameters(d: int, seed: int = 0, *, softmax: bool = False) -> int:
    """How many directions of (K, Q, V) change the answer: the rank of the Jacobian at random weights, on many prompts."""
    fleet = draw_fleet([4 * d * (d + 2)], d, d, 0.1, seed, role="identifiable")
    draw = stream(seed, "identifiable weights", d)
    u = torch.randn(1, d + 1, dtype=torch.float64, generator=draw)
    m = torch.randn(1, d + 1, d, dtype=torch.float64, generator=draw)
    return int(torch.linalg.matrix_rank(jacobian(fleet.z, u, m, softmax=softmax)[0], rtol=1e-9))


@dataclass(frozen=True)
class Layers:
    """B trained layers: u (B, d+1), the last row of V, m (B, d+1, d), the first d columns of KᵀQ, and the attention."""

    u: torch.Tensor
    m: torch.Tensor
    softmax: bool = False

    def loss(self, fleet: Fleet) -> torch.Tensor:
        """Mean squared error of each layer on its own prompts of ``fleet``; returns (B,)."""
        error = (layer_output(fleet.z, self.u, self.m, softmax=self.softmax) - fleet.y).square() * fleet.mask
        return error.sum(1) / fleet.mask.sum(1)


def fit(fleet: Fleet, seed: int, *, iterations: int = 200, softmax: bool = False) -> Layers:
    """Train to convergence by Levenberg–Marquardt, each layer with its own damping, from Gaussian weights of variance 1/d.

    Raises ``ValueError``.
    """
    validation.whole("iterations", iterations)
    count, e = fleet.z.shape[0], fleet.z.shape[2]
    d = e - 1
    theta = torch.randn(count, e + e * d, dtype=torch.float64, generator=stream(seed, "start", count, d)) / math.sqrt(d)
    damping, eye = torch.ones(count, 1, dtype=torch.float64), torch.eye(e + e * d, dtype=torch.float64)

    def split(theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return theta[:, :e], theta[:, e:].reshape(count, e, d)

    def residual(theta: torch.Tensor) -> torch.Tensor:
        return (layer_output(fleet.z, *split(theta), softmax=softmax) - fleet.y) * fleet.mask

    r = residual(theta)
    loss = r.square().sum(1, keepdim=True)
    for _ in range(iterations):
        j = jacobian(fleet.z, *split(theta), softmax=softmax) * fleet.mask[..., None]
        step = torch.linalg.solve(j.mT @ j + damping[:, :, None] * eye, j.mT @ r[..., None])[..., 0]
        tried = residual(theta - step)
        new = tried.square().sum(1, keepdim=True)
        better = new < loss
        theta, r, loss = (torch.where(better, b, a) for a, b in ((theta, theta - step), (r, tried), (loss, new)))
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-12, 1e8)
    return Layers(*split(theta), softmax)


def train(fleet: Fleet, seed: int, checkpoints: list[int], *, rate: float = 0.01, softmax: bool = False) -> list[Layers]:
    """Train K, Q and V by AdamW on full batches from Gaussian weights of variance 1/d; the layers after each of ``checkpoints``.

    ``rate`` is the learning rate; weight decay is AdamW's default, 0.01. Raises ``ValueError``.
    """
    for step in checkpoints:
        validation.whole("checkpoints", step)
    count, e = fleet.z.shape[0], fleet.z.shape[2]
    draw = stream(seed, "start of K, Q, V", count, e)
    shapes = ((count, e - 1, e), (count, e - 1, e), (count, e))
    k, q, u = ((torch.randn(s, dtype=torch.float64, generator=draw) / math.sqrt(e - 1)).requires_grad_() for s in shapes)
    optimiser = torch.optim.AdamW([k, q, u], lr=rate, fused=True)
    kept = []
    for step in range(1, max(checkpoints) + 1):
        optimiser.zero_grad()
        error = layer_output(fleet.z, u, k.mT @ q[..., :-1], softmax=softmax) - fleet.y
        ((error.square() * fleet.mask).sum(1) / fleet.mask.sum(1)).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step in checkpoints:
            kept.append(Layers(u.detach().clone(), (k.mT @ q[..., :-1]).detach(), softmax))
    return kept


def job(*, d: int, n: int, sets: int, rho: float, seed: int) -> dict[str, list[float]]:
    """One fleet of a recorded sweep, see :mod:`iclutils.sweeps`: linear layers trained to convergence on n prompts at α = 1.

    The error of each of the ``sets`` layers on its training set and on 400 fresh prompts, to four digits.
    """
    fleet = draw_fleet([n] * sets, d, d, rho, seed)
    layers = fit(fleet, seed)
    test = draw_fleet([400] * sets, d, d, rho, seed, role="test")
    return {name: [float(f"{e:.4g}") for e in layers.loss(f).tolist()] for name, f in (("train", fleet), ("icl", test))}
