r"""The exact in-context loss of a softmax unit with M = w·I, and the window w* that minimises it.

Tasks and noise are integrated out. With weights $\gamma_i$ and the covariance $K(x^\top y) = E f(x)f(y)$ of
an isotropic class, $K(t) = \sum_k c_k P_k(t)$ in Gegenbauer polynomials, the loss (ICL) of a context is
signal + σ² Σγᵢ². Only $t_i = x_i^\top x_{n+1}$ has to be drawn: averaged over all rotations of each token
about the query, $P_k(x_i^\top x_j)$ becomes $P_k(t_i)P_k(t_j)$, hence

$$\mathcal L(w) = \sum_k c_k\,E\Big[\big(1-\textstyle\sum_i\gamma_iP_k(t_i)\big)^2
  + \sum_i\gamma_i^2\big(1-P_k(t_i)^2\big)\Big] + \sigma^2E\sum_i\gamma_i^2 .$$

The expectations know neither the class nor L nor σ: one :class:`PopulationLoss` on a grid of w serves them
all, with common contexts. For n → ∞ they are ratios of Bessel functions (:func:`limit`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from iclutils import sphere, validation
from iclutils.covariates import Sphere, sample

BATCHES = 20        # batch means, for the standard errors
SMALL_W = 0.1       # the grid is linear below and logarithmic above
CHUNK = 2_000_000   # numbers per temporary tensor


class Isotropic(Protocol):
    """What the exact loss needs of a class: its dimension and the c_k of its covariance."""

    @property
    def d(self) -> int: ...

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor: ...

    def covariance(self, t: torch.Tensor) -> torch.Tensor: ...


@dataclass(frozen=True)
class Window:
    """The optimal window parameter w* and its loss, with standard errors over contexts (0 in the closed form)."""

    w: float
    w_se: float
    loss: float
    loss_se: float


@dataclass(frozen=True)
class PopulationLoss:
    r"""The parts of the loss on a grid of w, for every isotropic class, L and σ.

    ``w: (W,)``; ``degrees: (K,)``; ``parts: (B, W, K)``, the expectation that multiplies $c_k$ in batch b of the
    contexts; ``concentration: (B, W)``, $E\sum_i\gamma_i^2$. ``n`` may be ``inf``-like large in the closed form.
    """

    d: int
    n: int
    w: torch.Tensor
    degrees: torch.Tensor
    parts: torch.Tensor
    concentration: torch.Tensor

    def signal(self, function: Isotropic) -> torch.Tensor:
        """The part of the loss that comes from the tasks, ``(W,)``."""
        return self._signal(function).mean(0)

    def noise(self, sigma: float) -> torch.Tensor:
        """σ²·E Σγᵢ², ``(W,)``."""
        return validation.nonnegative("sigma", sigma) ** 2 * self.concentration.mean(0)

    def loss(self, function: Isotropic, sigma: float) -> torch.Tensor:
        """signal + noise, ``(W,)``."""
        return self.signal(function) + self.noise(sigma)

    def at(self, function: Isotropic, sigma: float, w: torch.Tensor | float) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss and its standard error at any w inside the grid (cubic spline); shapes of ``w``."""
        w = torch.as_tensor(w, dtype=torch.float64)
        if not bool(((w >= 0) & (w <= self.w[-1])).all()):
            raise ValueError(f"w must be in [0, {float(self.w[-1]):g}], the grid; got {w.tolist()}")
        spline = CubicSpline(_stretch(self.w).numpy(), self._batches(function, sigma).numpy(), axis=1)
        values = torch.as_tensor(spline(_stretch(w).numpy()))
        return values.mean(0), _se(values)

    def best_window(self, function: Isotropic, sigma: float) -> Window:
        r"""$w^*(L,\sigma,n)$, the minimiser over $w\ge 0$, and its loss; standard errors by the jackknife over batches.

        Raises ``ValueError`` where the minimum lies at the grid's upper end: take a longer grid.
        """
        batches = self._batches(function, sigma)
        w, loss = self._minimum(batches.mean(0))
        if len(batches) == 1:
            return Window(w, 0.0, loss, 0.0)
        b = len(batches)
        left_out = [self._minimum((batches.sum(0) - one) / (b - 1))[0] for one in batches]
        w_se = math.sqrt((b - 1) / b * sum((v - sum(left_out) / b) ** 2 for v in left_out))
        return Window(w, w_se, loss, float(self.at(function, sigma, w)[1]))

    def _signal(self, function: Isotropic) -> torch.Tensor:
        if function.d != self.d:
            raise ValueError(f"function must live in d = {self.d}, the dimension of this loss; got d = {function.d}")
        c = function.spectrum(self.degrees)
        # degrees beyond the last see uncorrelated values: P_k(t_i) averages to zero over the window
        rest = function.covariance(torch.ones((), dtype=torch.float64)) - c.sum()
        rest = rest - function.spectrum(torch.zeros(1, dtype=torch.int64)).sum()
        return self.parts @ c + rest.clamp(min=0) * (1 + self.concentration)

    def _batches(self, function: Isotropic, sigma: float) -> torch.Tensor:
        return self._signal(function) + validation.nonnegative("sigma", sigma) ** 2 * self.concentration

    def _minimum(self, loss: torch.Tensor) -> tuple[float, float]:
        u = _stretch(self.w).numpy()
        spline = CubicSpline(u, loss.numpy())
        low = int(loss.argmin())
        if low == len(u) - 1:
            raise ValueError(f"w* lies beyond the grid's end {float(self.w[-1]):g}; give a longer grid w")
        found = minimize_scalar(spline, bounds=(u[max(low - 1, 0)], u[low + 1]), method="bounded", options={"xatol": 1e-9})
        if low == 0 and loss[0] <= found.fun + 1e-14 * abs(found.fun):
            return 0.0, float(loss[0])
        return float(SMALL_W * math.sinh(found.x)), float(found.fun)


def grid(largest: float = 1000.0, points: int = 61) -> torch.Tensor:
    """A grid of w from 0 to ``largest``, linear below 0.1 and logarithmic above; ``(W,)``."""
    validation.positive("largest", largest)
    validation.whole("points", points, low=8)
    return SMALL_W * torch.linspace(0, math.asinh(largest / SMALL_W), points, dtype=torch.float64).sinh()


def even_degrees(last: int = 64) -> torch.Tensor:
    """Degrees 1, 2, 4, …, ``last``: all that the affine, ReLU and cosine classes have besides the constant."""
    return torch.tensor([1, *range(2, validation.whole("last", last, low=2) + 1, 2)])


def sampled(d: int, n: int, generator: torch.Generator, *, contexts: int | None = None, w: torch.Tensor | None = None,
            degrees: torch.Tensor | None = None) -> PopulationLoss:
    r"""The loss at context length n, tasks and noise integrated out, contexts drawn (the same for all w).

    Each of the ``contexts`` (default 100 000/n, at least 1000) is used with its mirror image; this gives w* to 1 %.
    ``degrees`` defaults to 1, 2, 4, …, 64; take the last well above $\sqrt{w}$. Raises ``ValueError``/``TypeError`` for d < 2, n < 1 or a bad grid.
    """
    validation.whole("d", d, low=2)
    validation.whole("n", n)
    contexts = max(1000, 100_000 // n) if contexts is None else validation.whole("contexts", contexts, low=BATCHES)
    w, degrees = _grid(w), even_degrees() if degrees is None else degrees
    parts, concentration = [], []
    for _ in range(BATCHES):
        left, total, square = contexts // BATCHES, torch.zeros(len(w), len(degrees)).double(), torch.zeros(len(w)).double()
        while left:
            size = min(left, max(1, CHUNK // (2 * n * max(len(w), len(degrees)))))
            t = sample(Sphere(d), (size, n), generator)[..., 0]
            # with each context its mirror image, so that even classes get a loss that is exactly even in w
            a, b = _given_t(torch.cat([t, -t]), d, w, degrees)
            total, square, left = total + a, square + b, left - size
        parts.append(total / (2 * (contexts // BATCHES)))
        concentration.append(square / (2 * (contexts // BATCHES)))
    return PopulationLoss(d, n, w, degrees, torch.stack(parts), torch.stack(concentration))


def _given_t(t: torch.Tensor, d: int, w: torch.Tensor, degrees: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums over the contexts ``t: (C, n)`` of the two expectations in the module's equation, ``(W, K)`` and ``(W,)``."""
    gamma = torch.softmax(w.view(-1, 1) * t.unsqueeze(1), dim=-1)          # (C, W, n)
    P = sphere.gegenbauer(t, d, degrees)                                    # (C, n, K)
    squared = gamma.square()
    spread = squared.sum(-1)                                                # (C, W)
    parts = (1 - gamma @ P).square() + spread.unsqueeze(-1) - squared @ P.square()
    return parts.sum(0), spread.sum(0)


def limit(d: int, n: int, *, w: torch.Tensor | None = None, degrees: torch.Tensor | None = None) -> PopulationLoss:
    r"""The loss for n → ∞ in closed form (noise kept at order 1/n, the signal's sampling variance dropped).

    $$\mathcal L(w) = \sum_k c_k\Big(1-\frac{I_{k+d/2-1}(w)}{I_{d/2-1}(w)}\Big)^2
      + \frac{\sigma^2}{n}\,\frac{E e^{2wt}}{(E e^{wt})^2}$$
    Choose ``degrees`` up to well above $\sqrt{w}$ (default: six times that).
    """
    validation.whole("n", n)
    w = _grid(w)
    degrees = even_degrees(2 * max(32, math.ceil(3 * float(w[-1]) ** 0.5))) if degrees is None else degrees
    parts = (1 - sphere.tilted_average(w, d, degrees)).square()
    concentration = (sphere.log_partition(2 * w, d) - 2 * sphere.log_partition(w, d)).exp() / n
    return PopulationLoss(d, n, w, degrees, parts.unsqueeze(0), concentration.unsqueeze(0))


def context_loss(covariance: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], x: torch.Tensor, query: torch.Tensor,
                 gamma: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Signal and Σγᵢ² of given contexts and given weights, for any M and any law of x; both ``(*B, q)``.

    $$E_f\big(\textstyle\sum_i\gamma_if(x_i)-f(x)\big)^2 = K(x,x)-2\sum_i\gamma_iK(x_i,x)+\sum_{ij}\gamma_i\gamma_jK(x_i,x_j)$$
    ``covariance(a, b)`` maps ``(*B, r, d), (*B, s, d)`` to ``(*B, r, s)``; ``x: (*B, n, d)``, ``query: (*B, q, d)``,
    ``gamma: (*B, n, q)``. Differentiable in ``gamma``: the way to optimise over all M.
    """
    size = validation.shape("x", x, "... n d")
    validation.shape("query", query, "... q d", d=size["d"])
    validation.shape("gamma", gamma, "... n q", n=size["n"], q=query.shape[-2])
    own = covariance(query.unsqueeze(-2), query.unsqueeze(-2)).squeeze(-1).squeeze(-1)
    signal = own - 2 * (gamma * covariance(x, query)).sum(-2) + (gamma * (covariance(x, x) @ gamma)).sum(-2)
    return signal, gamma.square().sum(-2)


def zonal(function: Isotropic) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The covariance of an isotropic class as a function of two sets of unit vectors, for :func:`context_loss`."""
    return lambda a, b: function.covariance(a @ b.mT)


def _grid(w: torch.Tensor | None) -> torch.Tensor:
    if w is None:
        return grid()
    validation.finite("w", w)
    validation.shape("w", w, "W")
    if len(w) < 4 or float(w[0]) < 0 or bool((w.diff() <= 0).any()):
        raise ValueError(f"w must be a rising grid of at least 4 values, zero or above; got {w.tolist()}")
    return w.double()


def _stretch(w: torch.Tensor) -> torch.Tensor:
    return (w / SMALL_W).asinh()


def _se(values: torch.Tensor) -> torch.Tensor:
    return values.std(0) / math.sqrt(len(values)) if len(values) > 1 else torch.zeros_like(values[0])
