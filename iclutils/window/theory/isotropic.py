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
from dataclasses import dataclass, field
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

    @property
    def L(self) -> float: ...

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor: ...

    def covariance(self, t: torch.Tensor) -> torch.Tensor: ...


@dataclass(frozen=True)
class Window:
    """The optimal window parameter w* and its loss, with standard errors over contexts (0 in the closed form).

    ``replicas: (B,)`` are the minimisers with one batch of contexts left out, for :func:`compare`.
    """

    w: float
    w_se: float
    loss: float
    loss_se: float
    replicas: torch.Tensor = field(repr=False, compare=False)


@dataclass(frozen=True)
class PopulationLoss:
    r"""The parts of the loss on a grid of w, for every isotropic class, L and σ.

    ``w: (W,)``; ``degrees: (K,)``; ``parts: (B, W, K)``, the expectation that multiplies $c_k$ in batch b of the
    contexts; ``concentration: (B, W)``, $E\sum_i\gamma_i^2$; ``tail: (B, W)`` multiplies the variance in all degrees
    beyond the last, where $P_k(t_i)$ averages to zero over the window.
    """

    d: int
    n: int
    w: torch.Tensor
    degrees: torch.Tensor
    parts: torch.Tensor
    concentration: torch.Tensor
    tail: torch.Tensor

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
            return Window(w, 0.0, loss, 0.0, torch.tensor([w], dtype=torch.float64))
        left_out = [self._minimum((batches.sum(0) - one) / (len(batches) - 1))[0] for one in batches]
        replicas = torch.tensor(left_out, dtype=torch.float64)
        return Window(w, _jackknife(replicas), loss, float(self.at(function, sigma, w)[1]), replicas)

    def optimal_for(self, function: Isotropic) -> torch.Tensor:
        r"""The $\Lambda = nL^2/\sigma^2$ for which each w of the grid is stationary, ``(W,)``; inverts $w^*(\Lambda)$.

        With signal $L^2S(w)$ and noise $\sigma^2C(w)$: $\Lambda = -n\,C'(w)/S'(w)$, negative where the signal no longer falls.
        """
        u = _stretch(self.w).numpy()
        signal, spread = (CubicSpline(u, curve.numpy())(u, 1)
                          for curve in (self.signal(function) / function.L**2, self.concentration.mean(0)))
        return torch.as_tensor(-self.n * spread / signal)

    def _signal(self, function: Isotropic) -> torch.Tensor:
        if function.d != self.d:
            raise ValueError(f"function must live in d = {self.d}, the dimension of this loss; got d = {function.d}")
        c = function.spectrum(self.degrees)
        whole = function.covariance(torch.ones((), dtype=torch.float64))
        rest = whole - c.sum() - function.spectrum(torch.zeros(1, dtype=torch.int64)).sum()
        rest = torch.where(rest > 1e-15 * whole, rest, torch.zeros(()).double())  # rounding is no tail
        return self.parts @ c + rest * self.tail

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


def compare(first: Window, second: Window, *, log: bool = True) -> tuple[float, float]:
    r"""$\log w_2^* - \log w_1^*$ (or $w_2^*-w_1^*$) and its jackknife standard error; both from one :class:`PopulationLoss`.

    Raises ``ValueError`` for windows of different losses (their contexts are not common) and for the log of w* = 0.
    """
    if len(first.replicas) != len(second.replicas) or (log and min(first.w, second.w) <= 0):
        raise ValueError("first and second must be windows of the same loss, positive for log = True; "
                         f"got w = {first.w:g}, {second.w:g} with {len(first.replicas)}, {len(second.replicas)} batches")
    if not log:
        return second.w - first.w, _jackknife(second.replicas - first.replicas)
    return math.log(second.w / first.w), _jackknife(second.replicas.log() - first.replicas.log())


def power(w: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
    r"""The exponent p of $y \sim w^p$ for w → ∞, and the uncertainty of the extrapolation.

    Local slopes of log y in log w at the last w and one and two decades before, extrapolated by a parabola in
    $w^{-1/2}$ (the corrections here are powers of it); the uncertainty is the change from the straight line through
    the last two. ``w, y: (W,)``, w over more than two decades.
    """
    validation.shape("y", y, "W", W=validation.shape("w", w, "W")["W"])
    slope = torch.gradient(y.log(), spacing=(w.log(),))[0][8:-8]  # derivatives are poor at the ends
    x = w[8:-8].rsqrt()
    i, j, k = (int((x - x[-1] * 10 ** (decades / 2)).abs().argmin()) for decades in (0, 1, 2))

    def straight(i: int, j: int) -> float:
        return float((slope[i] * x[j] - slope[j] * x[i]) / (x[j] - x[i]))

    parabola = float((straight(i, j) * x[k] - straight(j, k) * x[i]) / (x[k] - x[i]))
    return parabola, abs(parabola - straight(i, j))


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
    ``degrees`` defaults to 1, 2, 4, …, 64; take the last well above $\sqrt{w}$.
    Raises ``ValueError``/``TypeError`` for d < 2, n < 1 or a bad grid.
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
    spread = torch.stack(concentration)
    return PopulationLoss(d, n, w, degrees, torch.stack(parts), spread, 1 + spread)


def _given_t(t: torch.Tensor, d: int, w: torch.Tensor, degrees: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums over the contexts ``t: (C, n)`` of the two expectations in the module's equation, ``(W, K)`` and ``(W,)``."""
    gamma = torch.softmax(w.view(-1, 1) * t.unsqueeze(1), dim=-1)          # (C, W, n)
    P = sphere.gegenbauer(t, d, degrees)                                    # (C, n, K)
    squared = gamma.square()
    spread = squared.sum(-1)                                                # (C, W)
    parts = (1 - gamma @ P).square() + spread.unsqueeze(-1) - squared @ P.square()
    return parts.sum(0), spread.sum(0)


def limit(d: int, n: int, *, w: torch.Tensor | None = None, degrees: torch.Tensor | None = None,
          sampling: bool = False) -> PopulationLoss:
    r"""The loss for n → ∞ in closed form, with the noise at order 1/n.

    $$\mathcal L(w) = \sum_k c_k\big(1-r_k(w)\big)^2 + \frac{\sigma^2}{n}\,\frac{E e^{2wt}}{(E e^{wt})^2},\qquad
      r_k(w)=\frac{I_{k+d/2-1}(w)}{I_{d/2-1}(w)}$$
    ``sampling=True`` adds what a finite context adds to the signal at order 1/n (delta method), with $C = E\sum_i\gamma_i^2$:
    $C\,\big[1 + 3r_k^2 - 2r_k + 2(1-2r_k)\,r_k(2w)\big]$ to the factor of $c_k$. Choose ``degrees`` up to well above
    $\sqrt{w}$ (default: six times that).
    """
    validation.whole("n", n)
    w = _grid(w)
    degrees = even_degrees(2 * max(32, math.ceil(3 * float(w[-1]) ** 0.5))) if degrees is None else degrees
    ratio = sphere.tilted_average(w, d, degrees)
    concentration = (sphere.log_partition(2 * w, d) - 2 * sphere.log_partition(w, d)).exp() / n
    parts, tail = (1 - ratio).square(), torch.ones_like(w)
    if sampling:
        sharper = sphere.tilted_average(2 * w, d, degrees)
        parts = parts + concentration.unsqueeze(-1) * (1 + 3 * ratio**2 - 2 * ratio + 2 * (1 - 2 * ratio) * sharper)
        tail = tail + concentration
    return PopulationLoss(d, n, w, degrees, parts.unsqueeze(0), concentration.unsqueeze(0), tail.unsqueeze(0))


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


def _jackknife(replicas: torch.Tensor) -> float:
    b = len(replicas)
    return math.sqrt((b - 1) / b * float((replicas - replicas.mean()).square().sum()))


def _se(values: torch.Tensor) -> torch.Tensor:
    return values.std(0) / math.sqrt(len(values)) if len(values) > 1 else torch.zeros_like(values[0])
