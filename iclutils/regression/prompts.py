r"""The reduced features of linear attention, H_Z = x vᵀ: their exact moments and an exact sampler that is O(d) a prompt.

Prompt: tokens x_i ~ N(0, I_d/d), labels y_i = ⟨x_i, w⟩ + ε_i, ε_i ~ N(0, ρ), i ≤ ℓ, and a query x with label y.
Context vector (Lu et al., slides "Predictor for y_{ℓ+1}"), of length d + 1:

    v = [(d/ℓ) Σ y_i x_i ; (1/ℓ) Σ y_i²].
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from iclutils import validation

MEMORY_LIMIT = 4e9  # bytes that the arrays of one problem may take


@dataclass(frozen=True)
class Moments:
    """Exact moments given the task distribution: S = E vvᵀ (d+1, d+1), A = E wvᵀ (d, d+1) and E‖w‖²."""

    second: torch.Tensor
    cross: torch.Tensor
    power: float

    def error(self, gamma: torch.Tensor, rho: float) -> float:
        r"""The test error of the predictor xᵀΓv, exactly: E(y − xᵀΓv)² = ρ + (E‖w‖² − 2 tr ΓᵀA + tr ΓSΓᵀ)/d.

        ``gamma: (d, d+1)``. The query is integrated out, so there are no test prompts. Raises ``ValueError``.
        """
        d = self.cross.shape[0]
        validation.shape("gamma", gamma, "d e", d=d, e=d + 1)
        quadratic = ((gamma @ self.second) * gamma).sum() - 2 * (gamma * self.cross).sum()
        return rho + (self.power + float(quadratic)) / d


def _context(d: int, ell: int, rho: float) -> None:
    validation.whole("d", d), validation.whole("ell", ell), validation.nonnegative("rho", rho)


def moments(tasks: torch.Tensor, ell: int, rho: float, weights: torch.Tensor | None = None) -> Moments:
    r"""Exact S = E vvᵀ and A = E wvᵀ over prompts whose task is ``tasks[j]`` with probability ``weights[j]``.

    With r = ‖w‖²/d + ρ (a label's variance given w), averaged over the tasks:

    .. math::
        S = \begin{pmatrix} \tfrac d\ell r I + (1+\tfrac1\ell) ww^\top & (1+\tfrac2\ell)\, r w\\ \cdot & (1+\tfrac2\ell)\, r^2
        \end{pmatrix}, \qquad A = \begin{pmatrix} ww^\top & r w \end{pmatrix}

    ``tasks: (k, d)``, ``weights: (k,)`` (uniform if not given). Raises ``ValueError``.
    """
    k, d = validation.shape("tasks", tasks, "k d").values()
    _context(d, ell, rho)
    tasks = validation.finite("tasks", tasks).double()
    p = torch.full((k,), 1 / k, dtype=torch.float64) if weights is None else weights.double() / weights.sum()
    validation.shape("weights", p, "k", k=k)
    r = tasks.square().sum(1) / d + rho
    spread, mean = (tasks.T * p) @ tasks, tasks.T @ (p * r)
    second = torch.zeros(d + 1, d + 1, dtype=torch.float64)
    second[:d, :d] = (1 + 1 / ell) * spread + d / ell * float(p @ r) * torch.eye(d, dtype=torch.float64)
    second[:d, d] = second[d, :d] = (1 + 2 / ell) * mean
    second[d, d] = (1 + 2 / ell) * float(p @ r**2)
    return Moments(second, torch.cat([spread, mean[:, None]], 1), float(spread.trace()))


def fresh_moments(d: int, ell: int, rho: float, *, normalised: bool = False) -> Moments:
    """The same moments for a fresh task in every prompt: w ~ N(0, I_d), or of norm √d exactly if ``normalised``."""
    _context(d, ell, rho)
    excess = 0.0 if normalised else 2 / d  # Var ‖w‖²/d, and the extra of E r w wᵀ
    eye = torch.eye(d, dtype=torch.float64)
    second = torch.zeros(d + 1, d + 1, dtype=torch.float64)
    second[:d, :d] = (1 + 1 / ell + d / ell * (1 + rho)) * eye
    second[d, d] = (1 + 2 / ell) * ((1 + rho) ** 2 + excess)
    return Moments(second, torch.cat([eye, torch.zeros(d, 1, dtype=torch.float64)], 1), float(d))


def without_corner(exact: Moments) -> Moments:
    """The moments of the features without their last entry (1/ℓ)Σ y_i², held at zero: d² features for d(d+1)."""
    d = exact.cross.shape[0]
    second, cross = exact.second.clone(), exact.cross.clone()
    second[d], second[:, d], cross[:, d] = 0, 0, 0
    return Moments(second, cross, exact.power)


def draw_tasks(k: int, d: int, generator: torch.Generator, *, normalised: bool = False) -> torch.Tensor:
    """``k`` tasks w ~ N(0, I_d), as the talk prints; of norm √d if ``normalised`` (the authors' code). Returns (k, d)."""
    validation.whole("k", k), validation.whole("d", d)
    w = torch.randn(k, d, dtype=torch.float64, generator=generator)
    return w * (math.sqrt(d) / w.norm(dim=1, keepdim=True)) if normalised else w


@dataclass(frozen=True)
class Prompts:
    """``n`` prompts, reduced: queries x (n, d), context vectors v (n, d+1), query labels y (n,)."""

    x: torch.Tensor
    v: torch.Tensor
    y: torch.Tensor


def chi_square(degrees: int, n: int, generator: torch.Generator) -> torch.Tensor:
    """``n`` draws of χ² with ``degrees`` degrees of freedom (NumPy's gamma, seeded by one draw of ``generator``)."""
    seed = int(torch.randint(2**62, (), generator=generator))
    return torch.from_numpy(2 * np.random.default_rng(seed).standard_gamma(degrees / 2, n))


def sample(tasks: torch.Tensor, ell: int, rho: float, generator: torch.Generator, *, n: int | None = None) -> Prompts:
    r"""Draw ``n`` prompts exactly, in O(d) each whatever ℓ; prompt μ has the task ``tasks[μ mod k]`` (balanced).

    Along w and in the noise, the tokens enter through a 2 × 2 Wishart matrix W of ℓ degrees of freedom (Bartlett):
    Σ y_i² = (‖w‖²/d) W₁₁ + 2‖w‖(ρ/d)^{1/2} W₁₂ + ρW₂₂ and Σ y_i⟨x_i, w⟩/‖w‖ = (‖w‖/d) W₁₁ + (ρ/d)^{1/2} W₁₂.
    Across w, given the labels, Σ y_i x_i is N(0, Σ y_i²/d). ``tasks: (k, d)``, ``n`` (default k) prompts.
    Raises ``ValueError``, also where the arrays would take more than ``MEMORY_LIMIT`` bytes.
    """
    k, d = validation.shape("tasks", tasks, "k d").values()
    n = k if n is None else validation.whole("n", n)
    _context(d, ell, rho)
    check_memory(n, d)
    w = tasks.double()[torch.arange(n) % k]
    norm = w.norm(dim=1)
    w11, t = chi_square(ell, n, generator), torch.randn(n, dtype=torch.float64, generator=generator)
    w22 = t.square() + (chi_square(ell - 1, n, generator) if ell > 1 else 0.0)
    w12 = w11.sqrt() * t
    along = norm * w11 / d + math.sqrt(rho / d) * w12
    labels = norm * (along + math.sqrt(rho / d) * w12) + rho * w22
    u = w / norm.clamp_min(1e-300)[:, None]
    across = torch.randn(n, d, dtype=torch.float64, generator=generator) * (labels.clamp_min(0) / d).sqrt()[:, None]
    across += u * (along - (across * u).sum(1))[:, None]
    v = torch.cat([across * (d / ell), labels[:, None] / ell], 1)
    x = torch.randn(n, d, dtype=torch.float64, generator=generator) / math.sqrt(d)
    noise = torch.randn(n, dtype=torch.float64, generator=generator)
    return Prompts(x, v, (x * w).sum(1) + math.sqrt(rho) * noise)


def check_memory(n: int, d: int) -> None:
    """Raise ``ValueError`` if a problem with ``n`` prompts of dimension ``d`` does not fit ``MEMORY_LIMIT``."""
    need = 8 * 6 * n * (d + 1)
    if need > MEMORY_LIMIT:
        raise ValueError(f"n·d is too large: n = {n} prompts at d = {d} need about {need / 1e9:.1f} GB, "
                         f"{MEMORY_LIMIT / 1e9:.0f} GB are allowed; lower τ or d")


def sample_naive(tasks: torch.Tensor, ell: int, rho: float, generator: torch.Generator, *, n: int | None = None,
                 covariance: torch.Tensor | None = None) -> Prompts:
    """The same prompts token by token, in O(ℓd) each: the reference of the tests, and x ~ N(0, C/d) for a ``covariance`` C.

    ``tasks: (k, d)``, ``covariance: (d, d)`` positive definite (identity if not given).
    """
    k, d = validation.shape("tasks", tasks, "k d").values()
    n = k if n is None else validation.whole("n", n)
    _context(d, ell, rho)
    check_memory(n * (ell + 1), d)
    w = tasks.double()[torch.arange(n) % k]
    x = torch.randn(n, ell + 1, d, dtype=torch.float64, generator=generator) / math.sqrt(d)
    if covariance is not None:
        x = x @ torch.linalg.cholesky(covariance).T
    y = torch.einsum("nld,nd->nl", x, w)
    y = y + math.sqrt(rho) * torch.randn(n, ell + 1, dtype=torch.float64, generator=generator)
    v = torch.einsum("nl,nld->nd", y[:, :ell], x[:, :ell]) * (d / ell)
    return Prompts(x[:, ell], torch.cat([v, y[:, :ell].square().mean(1, keepdim=True)], 1), y[:, ell])


def sample_orthonormal(K: int, ell: int, rho: float, generator: torch.Generator, *, n: int) -> Prompts:
    """The reduced prompts of chapter 6's tokens: K = d orthonormal features, each with probability 1/K (chapter 7).

    In the features' frame a token is a unit vector; every prompt has a task w ~ N(0, I_K) of its own. The query's label
    carries noise, as in :func:`sample`.
    """
    validation.whole("n", n)
    _context(K, ell, rho)
    check_memory(n * (ell + 1) // K + n, K)
    index = torch.randint(K, (n, ell + 1), generator=generator)
    w = torch.randn(n, K, dtype=torch.float64, generator=generator)
    y = w.gather(1, index) + math.sqrt(rho) * torch.randn(n, ell + 1, dtype=torch.float64, generator=generator)
    sums = torch.zeros(n, K, dtype=torch.float64).scatter_add_(1, index[:, :ell], y[:, :ell])
    v = torch.cat([K / ell * sums, y[:, :ell].square().mean(1, keepdim=True)], 1)
    return Prompts(torch.nn.functional.one_hot(index[:, ell], K).double(), v, y[:, ell])
