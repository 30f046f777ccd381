r"""Zonal functions on the sphere: Gegenbauer polynomials, tilted averages, caps.

Everything is written for $t = x^\top y$ with y uniform on $S^{d-1}$, whose density is proportional to
$(1-t^2)^{(d-3)/2}$. $P_k$ is the Gegenbauer polynomial of degree k scaled to $P_k(1)=1$.
"""

import torch
from scipy import special

from iclutils import validation


def gegenbauer(t: torch.Tensor, d: int, degrees: torch.Tensor) -> torch.Tensor:
    r"""Scaled Gegenbauer polynomials, ``P[..., j]`` $= P_{k_j}(t)$ for ``degrees`` $= (k_j)$; ``(...) → (..., K)``.

    $$(k+d-2)P_{k+1} = (2k+d-2)\,t\,P_k - k\,P_{k-1},\qquad P_0=1,\ P_1=t$$
    (Chebyshev for d = 2, Legendre for d = 3). Raises ``ValueError`` for d < 2.
    """
    validation.whole("d", d, low=2)
    wanted = [validation.whole("degrees", int(k), low=0) for k in degrees]
    out = torch.empty(*t.shape, len(wanted), dtype=torch.float64)
    slots: dict[int, list[int]] = {}
    for j, k in enumerate(wanted):
        slots.setdefault(k, []).append(j)
    before, now = torch.zeros_like(t), torch.ones_like(t)
    for k in range(max(wanted, default=0) + 1):
        for j in slots.get(k, ()):
            out[..., j] = now
        before, now = now, t if k == 0 else ((2 * k + d - 2) * t * now - k * before) / (k + d - 2)
    return out


def log_partition(w: torch.Tensor, d: int) -> torch.Tensor:
    r"""$\log E\,e^{wt} = \log\left[\Gamma(d/2)(2/w)^{d/2-1}I_{d/2-1}(w)\right]$ for w ≥ 0."""
    w = _window(w, d)
    order = d / 2 - 1
    small = w < 1e-4  # here log E e^{wt} = w²/(2d) to 1e-16
    at = torch.where(small, torch.ones_like(w), w)
    full = (special.gammaln(d / 2) + order * torch.log(2 / at)
            + torch.as_tensor(special.ive(order, at.numpy())).log() + at)
    return torch.where(small, w**2 / (2 * d), full)


def tilted_average(w: torch.Tensor, d: int, degrees: torch.Tensor) -> torch.Tensor:
    r"""Mean of $P_k(t)$ under the tilted law $\propto e^{wt}$, a ratio of Bessel functions; ``(W,) → (W, K)``.

    $$\frac{E\,e^{wt}P_k(t)}{E\,e^{wt}} = \frac{I_{k+d/2-1}(w)}{I_{d/2-1}(w)}$$
    """
    w = _window(w, d)
    k = degrees.double()
    order = d / 2 - 1
    at = torch.where(w == 0, torch.ones_like(w), w).unsqueeze(-1).numpy()
    ratio = torch.as_tensor(special.ive(k.numpy() + order, at) / special.ive(order, at))
    return torch.where(w.unsqueeze(-1) == 0, (k == 0).double(), ratio)


def cap_area(epsilon: torch.Tensor, d: int) -> torch.Tensor:
    r"""Share of the sphere with $t \ge 1-\epsilon$, ε in [0, 1]: $\tfrac12 I_{1-(1-\epsilon)^2}(\tfrac{d-1}2,\tfrac12)$."""
    validation.whole("d", d, low=2)
    square = 1 - (1 - torch.as_tensor(epsilon, dtype=torch.float64)) ** 2
    return 0.5 * torch.as_tensor(special.betainc((d - 1) / 2, 0.5, square.numpy()))


def _window(w: torch.Tensor, d: int) -> torch.Tensor:
    validation.whole("d", d, low=2)
    w = validation.finite("w", torch.as_tensor(w, dtype=torch.float64))
    if bool((w < 0).any()):
        raise ValueError(f"w must be zero or above; its smallest entry is {float(w.min()):g}")
    return w
