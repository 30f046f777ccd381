r"""Functions on the sphere by degree: Gegenbauer polynomials, coefficients of a kernel, and tilted averages.

A rotation-invariant covariance on $S^{d-1}$ is a sum over degrees,
$k(t) = \sum_k c_k P_k(t)$ with $t = x^\top y$, $P_k(1) = 1$ and $c_k \ge 0$; $c_k$ is the variance that
tasks have in degree k. Degree 0 is the mean, degree 1 the linear part, even degrees the even part.
"""

import functools
import math
from collections.abc import Callable
from typing import Protocol

import torch
from scipy import special

from iclutils import validation


class Kernel(Protocol):
    """A rotation-invariant task class on the sphere: its dimension, and its covariance as a function of t = xᵀy."""

    @property
    def d(self) -> int: ...

    def covariance(self, t: torch.Tensor) -> torch.Tensor: ...


def polynomials(t: torch.Tensor, degree: int, d: int) -> torch.Tensor:
    r"""$P_0(t), \dots, P_K(t)$, Gegenbauer polynomials of the sphere $S^{d-1}$ with $P_k(1) = 1$; ``(..., K + 1)``.

    $(k+d-2)P_{k+1} = (2k+d-2)\,t\,P_k - k\,P_{k-1}$; Chebyshev for d = 2, Legendre for d = 3.
    """
    validation.whole("degree", degree, low=1)
    validation.whole("d", d, low=2)
    values = [torch.ones_like(t), t]
    for k in range(1, degree):
        values.append(((2 * k + d - 2) * t * values[k] - k * values[k - 1]) / (k + d - 2))
    return torch.stack(values, -1)


def multiplicity(degree: int, d: int) -> torch.Tensor:
    """How many independent harmonics each degree 0..K has on S^{d−1}; ``(K + 1,)``."""
    counts = [1.0] + [special.binom(k + d - 2, d - 2) * (2 * k + d - 2) / (k + d - 2) for k in range(1, degree + 1)]
    return torch.tensor(counts, dtype=torch.float64)


def coefficients(covariance: Callable[[torch.Tensor], torch.Tensor], degree: int, d: int,
                 nodes: int = 400) -> torch.Tensor:
    r"""$c_k = N_k\,E[k(t)P_k(t)]$, t distributed as $x^\top y$ on the sphere, by quadrature; ``(K + 1,)``."""
    t, weight = _quadrature(max(nodes, 2 * degree), validation.whole("d", d, low=2))
    return multiplicity(degree, d) * ((weight * covariance(t)) @ polynomials(t, degree, d))


@functools.cache
def _quadrature(nodes: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    # Gauss–Legendre in the angle: the book's kernels are smooth in θ also where they are not in t = cos θ
    x, weight = special.roots_legendre(nodes)
    theta = math.pi * (torch.as_tensor(x) + 1) / 2
    weight = torch.as_tensor(weight) * theta.sin() ** (d - 2)
    return theta.cos(), weight / weight.sum()


def tilted_means(w: torch.Tensor, degree: int, d: int) -> torch.Tensor:
    r"""$E[P_k(t)e^{wt}]/E[e^{wt}] = I_{k+d/2-1}(w)/I_{d/2-1}(w)$, ``w: (W,)`` positive; ``(W, K + 1)``."""
    order = torch.arange(degree + 1, dtype=torch.float64) + d / 2 - 1
    bessel = torch.as_tensor(special.ive(order.numpy()[None], w.numpy()[:, None]))
    return bessel / bessel[:, :1]


def log_partition(w: torch.Tensor, d: int) -> torch.Tensor:
    r"""$\log E\,e^{wt} = \log\Gamma(d/2) + (d/2-1)\log(2/w) + \log I_{d/2-1}(w)$, ``w: (W,)`` positive; ``(W,)``."""
    scaled = torch.as_tensor(special.ive(d / 2 - 1, w.numpy()))
    return math.lgamma(d / 2) + (d / 2 - 1) * (2 / w).log() + scaled.log() + w
