r"""A softmax unit on orthonormal features as a window: exact loss, best window, Bayes error, and how training closes it.

Tokens are K orthonormal features, each with probability 1/K; labels $y_i = \langle w, x_i\rangle + \epsilon_i$ with
$w\sim N(0,I)$, $\epsilon_i\sim N(0,\sigma^2)$. All distances are $\sqrt2$, so $M=wI$ makes of the count $n_k$ of the
query's own feature, its target, the attention

$$1-s = \mathrm{Attn}_k = \frac{n_ke^w}{n_ke^w+N-n_k},$$

and the loss, tasks and noise integrated out, needs the binomial law of $n_k$ alone:

$$\mathcal L(w) = E\Big[s^2\Big(1+q+\tfrac{1-q}{N-n_k}\Big)+\sigma^2\Big(\tfrac{(1-s)^2}{n_k}+\tfrac{s^2}{N-n_k}\Big)\Big],
\qquad q = \tfrac1{K-1}.$$

It is chapter 1's loss on chapter 6's tokens, without chapter 6's factor ½ and in units of the tasks' power
$E f^2 = 1$. Chapter 7 uses it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import cumulative_simpson
from scipy.optimize import minimize_scalar

from iclutils import validation

Array = NDArray[np.float64]
LARGEST = 60.0  # e⁻⁶⁰: no weight is left on other features


@dataclass(frozen=True)
class Lookup:
    """The unit on K features with N tokens in a prompt; ``sigma`` below is the label noise σ ≥ 0."""

    K: int
    N: int

    def __post_init__(self) -> None:
        validation.whole("K", self.K, low=3)
        validation.whole("N", self.N)

    @property
    def law(self) -> tuple[Array, Array]:
        """The counts 0, …, N of the target and their probabilities."""
        n = np.arange(self.N + 1)
        return n.astype(float), stats.binom.pmf(n, self.N, 1 / self.K)

    def attention(self, w: float) -> Array:
        """The attention on the target for every count 0, …, N."""
        n = self.law[0]
        return n / (n + (self.N - n) * math.exp(-w))

    def loss(self, w: float, sigma: float) -> float:
        """The exact loss of the window w."""
        validation.nonnegative("sigma", sigma)
        n, p = self.law
        a = self.attention(w)
        return float(p @ (_rest(n, a, self.K, self.N, sigma) + sigma**2 * a**2 / np.maximum(n, 1)))

    def best_window(self, sigma: float) -> tuple[float, float]:
        r"""$w^*$ and its loss. Raises ``ValueError`` for σ = 0, where the best window is closed, $w^*=\infty$."""
        validation.positive("sigma", sigma)
        found = minimize_scalar(lambda w: self.loss(w, sigma), bounds=(0, LARGEST), method="bounded", options={"xatol": 1e-9})
        return float(found.x), float(found.fun)

    def bayes(self, sigma: float) -> float:
        r"""The error of the posterior mean, $E[\sigma^2/(n_k+\sigma^2)]$: no predictor has a smaller one."""
        n, p = self.law
        return float(p @ (sigma**2 / (n + validation.positive("sigma", sigma) ** 2)))

    def cells(self, w: float) -> float:
        r"""$D = N\,E\sum_i\gamma_i^2$, how many numbers the window makes the prompt pay for: 1 at w = 0, K for a closed one."""
        n, p = self.law
        a = self.attention(w)
        return float(self.N * p @ (a**2 / np.maximum(n, 1) + (1 - a) ** 2 / np.maximum(self.N - n, 1)))

    def others(self, sigma: float) -> float:
        r"""The mean of $q+(1-q+\sigma^2)/(N-n_k)$: the bound on $\mathcal L(w^*)$ over the Bayes error, less 1."""
        n, p = self.law
        q = 1 / (self.K - 1)
        return q + float(p @ ((1 - q + sigma**2) / np.maximum(self.N - n, 1)))


def _rest(n: Array, a: Array, K: int, N: int, sigma: float) -> Array:
    """What the weight 1 − a on other features costs: their values and their noise."""
    q, left = 1 / (K - 1), np.maximum(N - n, 1)
    return np.asarray((1 - a) ** 2 * (1 + q + (1 - q + sigma**2) / left))


def limit_window(Lambda: float) -> float:
    r"""$w^*=\log(1+\Lambda)$, $\Lambda = N/\sigma^2$: the best window for typical counts; ``Lambda > 0``."""
    return math.log1p(validation.positive("Lambda", Lambda))


def limit_loss(w: float, K: int, Lambda: float) -> float:
    r"""The loss for N → ∞ at fixed $\Lambda=N/\sigma^2$ (``math.inf``: no noise), $s = (K-1)/(e^w+K-1)$:

    $$\mathcal L(w) = \tfrac K{K-1}s^2 + \tfrac1\Lambda\big[K(1-s)^2+\tfrac K{K-1}s^2\big]$$
    """
    s = (K - 1) / (math.exp(w) + K - 1)
    return K / (K - 1) * s**2 * (1 + 1 / Lambda) + K / Lambda * (1 - s) ** 2


def closing(K: int, Lambda: float, *, end: float | None = None, points: int = 4001) -> tuple[Array, Array]:
    r"""Times and windows (P,) of gradient flow from Q = 0 on :func:`limit_loss` (with chapter 6's ½), balanced features.

    $$\dot w = \frac{s(1-s)}{K-1}\Big[\tfrac K{K-1}s\big(1+\tfrac1\Lambda\big)-\tfrac K\Lambda(1-s)\Big]$$

    One number moves, so the time is an integral over w; with noise it ends, in infinite time, at
    :func:`limit_window`. ``end`` is the last window (default: $10^{-6}$ before that; needed for Λ = ∞).
    """
    validation.whole("K", K, low=3)
    if Lambda != math.inf:
        limit = limit_window(Lambda)
        end = limit - 1e-6 if end is None else min(validation.positive("end", end), limit - 1e-6)
    elif end is None:
        raise ValueError("end must be given for Lambda = inf, where the window closes without end")
    w = np.linspace(0.0, end, validation.whole("points", points, low=3))
    if Lambda != math.inf:  # the last of the way takes longest: as many points for each factor of the distance
        w = limit - np.geomspace(limit, limit - end, points)
        w[0] = 0.0
    s = (K - 1) / (np.exp(w) + K - 1)
    speed = s * (1 - s) / (K - 1) * (K / (K - 1) * s * (1 + 1 / Lambda) - K / Lambda * (1 - s))
    return cumulative_simpson(1 / speed, x=w, initial=0.0), w
