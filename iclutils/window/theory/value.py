r"""The softmax unit's population loss when its value weight c is free too, M = w·I on the sphere.

With $t_i = x_i^\top x$, weights $\gamma_i\propto e^{wt_i}$ and a task class of covariance
$k(t) = \sum_k c_kP_k(t)$, tasks, noise **and** the directions of the tokens around the query are integrated exactly:

$$B = \sum_i\gamma_ik(t_i),\qquad
A = \sum_kc_k\Big(\sum_i\gamma_iP_k(t_i)\Big)^2 + \sum_i\gamma_i^2\Big(k(1)-\sum_kc_kP_k(t_i)^2\Big),\qquad
N = \sum_i\gamma_i^2,$$

$$\mathcal L(w,c) = F - 2c\,E B + c^2(E A + \sigma^2E N).$$

(the addition theorem gives the average of $k(x_i^\top x_j)$ at fixed $t_i, t_j$, $i\ne j$). Only the n numbers
$t_i$ are sampled. Collins et al. fix c = 1, where this is the loss of :mod:`iclutils.population`, kept there by degree;
the best is $c^* = EB/(EA+\sigma^2EN)$. Chapter 3 uses this.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from scipy import optimize

from iclutils import sphere, validation
from iclutils.population import Isotropic
from iclutils.population_linear import LinearUnit

CHUNK = 4_000_000  # entries of the largest tensor held at once
GROUPS = 16        # jackknife groups for the standard error of w*


def grid(low: float = 0.02, high: float = 2e4, points: int = 90) -> torch.Tensor:
    """Windows to scan: w = 0 (the plain average) and ``points`` − 1 more, evenly spaced in log w; ``(points,)``."""
    return torch.cat([torch.zeros(1, dtype=torch.float64),
                      torch.logspace(math.log10(low), math.log10(high), points - 1, dtype=torch.float64)])


@dataclass(frozen=True)
class Best:
    """The least loss over windows: where, how large, with standard errors over contexts, and the value weight used."""

    w: float
    w_se: float
    loss: float
    loss_se: float
    c: float

    @property
    def log_se(self) -> float:
        """Standard error of log loss."""
        return self.loss_se / self.loss


@dataclass(frozen=True)
class Windows:
    """Moments of one task class over C contexts and W windows: ``w: (W,)``; ``B, A, N: (C, W)``; ``power`` is F."""

    w: torch.Tensor
    B: torch.Tensor
    A: torch.Tensor
    N: torch.Tensor
    power: float

    def scaled(self, L: float) -> "Windows":
        """The same class with labels multiplied by L (for affine and ReLU: Lipschitz constant L)."""
        return replace(self, B=L**2 * self.B, A=L**2 * self.A, power=L**2 * self.power)

    def loss(self, sigma: float, c: float | torch.Tensor = 1.0) -> torch.Tensor:
        """Loss in each context at each window, ``(C, W)``; ``c`` a number or ``(W,)``."""
        return self.power - 2 * c * self.B + c**2 * (self.A + sigma**2 * self.N)

    def value_weight(self, sigma: float) -> torch.Tensor:
        """c* = B/A at each window, labels' noise included; ``(W,)``."""
        return self.B.mean(0) / (self.A + sigma**2 * self.N).mean(0)

    def best(self, sigma: float, *, free: bool = False) -> Best:
        """Minimise over the window, and over the value weight where ``free``; parabola in log w between grid points."""
        validation.nonnegative("sigma", sigma)
        c = self.value_weight(sigma) if free else torch.ones_like(self.w)
        loss = self.loss(sigma, c)
        w, least, at = _parabola(self.w, loss.mean(0))
        se = float(loss[:, at].std() / loss.shape[0] ** 0.5)
        size = loss.shape[0] // GROUPS
        groups = loss[: size * GROUPS].view(GROUPS, size, -1).sum(1)
        left_out = torch.tensor([_parabola(self.w, groups.sum(0) - g)[0] for g in groups], dtype=torch.float64)
        w_se = float(((GROUPS - 1) / GROUPS * (left_out - left_out.mean()).square().sum()).sqrt())
        return Best(w, w_se, least, se, float(c[at]))


def windows(functions: Sequence[Isotropic], n: int, w: torch.Tensor, *, contexts: int, generator: torch.Generator,
            degree: int = 60) -> list[Windows]:
    """Moments of several task classes of one d on common contexts; ``degree`` bounds the sum over k.

    The neglected degrees enter A only through pairs i ≠ j; their weight is at most Σ_{k>degree} c_k.
    Raises ``ValueError`` for mixed d or fewer than 32 contexts.
    """
    d = functions[0].d
    if any(f.d != d for f in functions):
        raise ValueError(f"functions must share one d; got {sorted({f.d for f in functions})}")
    validation.whole("n", n)
    validation.whole("contexts", contexts, low=2 * GROUPS)
    degrees = torch.arange(degree + 1)
    spectra = torch.stack([f.spectrum(degrees) for f in functions])                # (functions, K)
    used = spectra.abs().amax(0) > 0
    degrees, spectra = degrees[used], spectra[:, used]
    power = [float(f.covariance(torch.ones((), dtype=torch.float64))) for f in functions]
    found: list[list[torch.Tensor]] = [[] for _ in functions]
    shared = []
    step = max(1, CHUNK // (n * max(len(w), degree)))
    for start in range(0, contexts, step):
        z = torch.randn(min(step, contexts - start), n, d, generator=generator, dtype=torch.float64)
        t = z[..., 0] / z.norm(dim=-1)
        gamma = torch.softmax(w.unsqueeze(-1) * t.unsqueeze(-2), -1)                # (C, W, n)
        squares = gamma.square()
        P = sphere.gegenbauer(t, d, degrees)                                        # (C, n, K)
        pooled = (gamma @ P).square()                                               # (C, W, K)
        shared.append(squares.sum(-1))
        for f, c, F, out in zip(functions, spectra, power, found, strict=True):
            B = (gamma @ f.covariance(t).unsqueeze(-1)).squeeze(-1)
            rest = F - P.square() @ c                                               # (C, n)
            A = pooled @ c + (squares @ rest.unsqueeze(-1)).squeeze(-1)
            out.append(torch.stack([B, A]))
    N = torch.cat(shared)
    joined = [torch.cat(parts, 1) for parts in found]
    return [Windows(w, BA[0], BA[1], N, F) for BA, F in zip(joined, power, strict=True)]


def hills_windows(nu: float, n: int, w: torch.Tensor, *, contexts: int, generator: torch.Generator) -> Windows:
    r"""Moments for tasks $\cos(\nu\theta-b)$ on the circle cut at ±π, query included in the draw (any ν)."""
    validation.nonnegative("nu", nu)
    validation.whole("contexts", contexts, low=2 * GROUPS)
    theta = math.pi * (2 * torch.rand(contexts, n + 1, generator=generator, dtype=torch.float64) - 1)
    gamma = torch.softmax(w[:, None] * (theta[:, None, :n] - theta[:, None, n:]).cos(), -1)  # (C, W, n)
    wave = torch.stack([(nu * theta).cos(), (nu * theta).sin()], -1)                # (C, n + 1, 2)
    pooled = gamma @ wave[:, :n]
    B = 0.5 * (pooled @ wave[:, n:].mT).squeeze(-1)
    return Windows(w, B, 0.5 * pooled.square().sum(-1), gamma.square().sum(-1), 0.5)


def advantage(unit: LinearUnit, moments: Windows, n: int, sigma: float, *, free: bool = False) -> tuple[float, float]:
    """Log of linear attention's minimum over the softmax unit's (value weight 1, or ``free``), with its standard error.

    Positive where softmax attention wins; ``unit`` and ``moments`` of the same task class.
    """
    best = moments.best(sigma, free=free)
    least = max(float(unit.minimum(n, sigma)), 1e-9 * best.loss)  # tasks f = 0 leave linear attention no error at all
    return math.log(least / best.loss), best.log_se


def boundary(unit: LinearUnit, moments: Windows, n: int, *, free: bool = False) -> tuple[float, float]:
    r"""The noise $u = \sigma^2/n$ at which both minima are equal, with its standard error; at L = 1, $u = \sigma^2/(nL^2)$.

    Searched in log u over [10⁻⁶, 10⁴]; ``inf`` where softmax wins at the largest u, 0 where it loses at the
    smallest. The standard error is that of the log ratio over its slope in log u.
    """
    def gap(log_u: float) -> float:
        return advantage(unit, moments, n, math.exp(log_u / 2) * n**0.5, free=free)[0]

    low, high = math.log(1e-6), math.log(1e4)
    if gap(high) > 0:
        return math.inf, 0.0
    if gap(low) < 0:
        return 0.0, 0.0
    root = float(optimize.brentq(gap, low, high, xtol=1e-4))
    slope = (gap(root + 0.1) - gap(root - 0.1)) / 0.2
    return math.exp(root), math.exp(root) * advantage(unit, moments, n, math.exp(root / 2) * n**0.5)[1] / abs(slope)


def _parabola(w: torch.Tensor, loss: torch.Tensor) -> tuple[float, float, int]:
    """Minimum of a curve known on the grid: place, value, and the nearest grid index."""
    at = int(loss.argmin())
    if at < 2 or at == len(w) - 1:
        return float(w[at]), float(loss[at]), at
    below, here, above = (float(v) for v in loss[at - 1: at + 2])
    curve = below - 2 * here + above
    shift = 0.5 * (below - above) / curve if curve > 0 else 0.0
    return float(w[at] * (w[at + 1] / w[at]) ** shift), here - 0.25 * (below - above) * shift, at
