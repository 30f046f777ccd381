r"""A softmax unit on orthonormal features as a window: exact loss, best window, how it closes.

Tokens are K orthonormal features, each with probability 1/K; labels are
:math:`y_i = \langle w, x_i\rangle + \epsilon_i` with :math:`w\sim N(0,I)`,
:math:`\epsilon_i\sim N(0,\sigma^2)`. All distances are :math:`\sqrt2`, so :math:`M=wI` makes of the
count :math:`n_k` of the query's own feature, its target, the attention

.. math:: 1-s = \mathrm{Attn}_k = \frac{n_ke^w}{n_ke^w+N-n_k},

and the loss, tasks and noise integrated out, needs the binomial law of :math:`n_k` alone:

.. math:: \mathcal L(w) = E\Big[s^2\Big(1+q+\tfrac{1-q}{N-n_k}\Big)
          +\sigma^2\Big(\tfrac{(1-s)^2}{n_k}+\tfrac{s^2}{N-n_k}\Big)\Big],
          \qquad q = \tfrac1{K-1}.

It is chapter 1's loss on chapter 6's tokens, without chapter 6's factor ½ and in units of the
tasks' power :math:`E f^2 = 1`. The formulas are ours; chapter 7 uses them.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats
from scipy.integrate import cumulative_simpson
from scipy.optimize import minimize_scalar

from iclutils import validation
from iclutils.stages.theory import meanfield

LARGEST = 60.0  # e⁻⁶⁰: no weight is left on other features
WIDEST = 300.0  # the square of its exponential is a number
INTERVALS = 4000  # of the flow's integral
CLOSED = 700.0  # beyond it the exponential is no number


class BestWindow(NamedTuple):
    """The window of least loss, and that loss."""

    w: float
    loss: float


@dataclass(frozen=True)
class Lookup:
    r"""The unit on K ≥ 3 features with N ≥ 1 tokens in a prompt.

    ``sigma`` in its methods is the standard deviation σ of the label noise. Raises ``ValueError``
    for a K or an N out of range.

    Eight features, 32 tokens, noise as strong as the signal: the best window, its loss, and the
    least error that any predictor has.

    >>> unit = Lookup(K=8, N=32)
    >>> w, loss = unit.best_window(1.0)
    >>> f"{w:.2f} {loss:.3f} {unit.bayes(1.0):.3f}"
    '3.56 0.253 0.239'
    """

    K: int
    N: int

    def __post_init__(self) -> None:
        validation.whole("K", self.K, low=3)
        validation.whole("N", self.N)

    @cached_property
    def counts(self) -> Float[np.ndarray, " counts"]:
        """The counts 0, …, N that the target can have."""
        return np.arange(self.N + 1).astype(float)

    @cached_property
    def probabilities(self) -> Float[np.ndarray, " counts"]:
        """The binomial probability of each count."""
        law: Float[np.ndarray, " counts"]
        law = stats.binom.pmf(np.arange(self.N + 1), self.N, 1 / self.K)
        return law

    def attention(self, w: float) -> Float[np.ndarray, " counts"]:
        """Compute the attention on the target for every count 0, …, N at a finite window w."""
        validation.in_range("w", w, -math.inf, math.inf)
        n = self.counts
        if abs(w) > CLOSED:  # the target alone is seen, or not at all beside another feature
            seen = n > 0 if w > 0 else n == self.N
            return np.where(seen, 1.0, 0.0)
        return n / (n + (self.N - n) * math.exp(-w))

    def loss(self, w: float, sigma: float) -> float:
        """Compute the exact loss of the window w. Raises ``ValueError`` for a negative ``sigma``.

        >>> round(Lookup(K=8, N=32).loss(2.0, sigma=1.0), 3)
        0.407
        """
        validation.noise("sigma", sigma)
        a = self.attention(w)
        q = 1 / (self.K - 1)
        left = np.maximum(self.N - self.counts, 1)
        rest = (1 - a) ** 2 * (1 + q + (1 - q + sigma**2) / left)  # on other features
        own = sigma**2 * a**2 / np.maximum(self.counts, 1)
        return float(self.probabilities @ (rest + own))

    def best_window(self, sigma: float) -> BestWindow:
        r""":math:`w^*` and its loss.

        Raises ``ValueError`` for σ = 0, where the best window is closed, :math:`w^*=\infty`, and
        ``RuntimeError`` if the search does not converge.
        """
        validation.positive("sigma", sigma)
        search = minimize_scalar(
            lambda w: self.loss(w, sigma),
            bounds=(0, LARGEST),
            method="bounded",
            options={"xatol": 1e-9},
        )
        if not search.success:
            raise RuntimeError(f"best_window of {self} at sigma = {sigma:g}: {search.message}")
        return BestWindow(float(search.x), float(search.fun))

    def bayes(self, sigma: float) -> float:
        r"""Compute the error of the posterior mean, :math:`E[\sigma^2/(n_k+\sigma^2)]`.

        No predictor has a smaller one. Raises ``ValueError`` for a ``sigma`` that is not positive.
        """
        variance = validation.positive("sigma", sigma) ** 2
        return float(self.probabilities @ (variance / (self.counts + variance)))

    def cells(self, w: float) -> float:
        r"""How many numbers the window makes the prompt pay for, :math:`D = N\,E\sum_i\gamma_i^2`.

        It is 1 at w = 0 and K for a closed window.
        """
        n = self.counts
        a = self.attention(w)
        squares = a**2 / np.maximum(n, 1) + (1 - a) ** 2 / np.maximum(self.N - n, 1)
        return float(self.N * self.probabilities @ squares)

    def scaled_loss(self, w: float, sigma: float) -> float:
        r"""Compute the loss of the window w where the answer may be scaled.

        .. math:: \min_c E(c\hat y-y)^2 = 1 - \frac{(E\,\hat yy)^2}{E\,\hat y^2}

        A value weight c beside 1; the values have variance 1. Raises ``ValueError`` for a negative
        ``sigma``.
        """
        product = float(self.probabilities @ self.attention(w))  # E ŷy
        power = self.loss(w, sigma) - 1 + 2 * product  # E ŷ²
        return 1 - product**2 / power

    def least_scaled_loss(self, sigma: float) -> float:
        """Compute the least of :meth:`scaled_loss` over windows from 0 to 12, in steps of 1/20.

        Raises ``ValueError`` for a negative ``sigma``.
        """
        return min(self.scaled_loss(float(w), sigma) for w in np.linspace(0, 12, 241))

    def cost_of_closing(self, sigma: float) -> float:
        """Compute what a closed window, which sees right features alone, costs: relative, above 0.

        Raises as :meth:`best_window`.
        """
        return self.loss(CLOSED, sigma) / self.best_window(sigma).loss - 1

    def excess_share(self, loss: float, sigma: float) -> float:
        r"""Return a loss's excess over the Bayes error, relative to that, in units of its bound.

        .. math:: \Big(\frac{\text{loss}}{\text{Bayes}}-1\Big)\Big/\text{others}

        At most 1 for :math:`\mathcal L(w^*)` (:meth:`others`). Raises ``ValueError`` for a
        ``sigma`` that is not positive.
        """
        return (loss / self.bayes(sigma) - 1) / self.others(sigma)

    def others(self, sigma: float) -> float:
        r"""Compute the mean of :math:`q+(1-q+\sigma^2)/(N-n_k)`.

        It bounds the excess of :math:`\mathcal L(w^*)` over the Bayes error, relative to that.
        Raises ``ValueError`` for a negative ``sigma``.
        """
        validation.noise("sigma", sigma)
        q = 1 / (self.K - 1)
        left = np.maximum(self.N - self.counts, 1)
        return q + float(self.probabilities @ ((1 - q + sigma**2) / left))


def price(head: Lookup, sigma: float, there: Lookup, sigma_there: float) -> float:
    """Compute the loss of ``head``'s best window elsewhere, over the least loss there.

    Noise is in units of the values: values r times as large have the noise σ/r. Raises
    ``ValueError`` as :meth:`Lookup.best_window` does.

    >>> price(Lookup(8, 80), 1.0, Lookup(8, 80), 1.0)
    1.0
    """
    frozen = head.best_window(sigma).w
    return there.loss(frozen, sigma_there) / there.best_window(sigma_there).loss


def limit_window(Lambda: float) -> float:
    r"""Compute the best window for typical counts, :math:`w^*=\log(1+\Lambda)`.

    Raises ``ValueError`` if ``Lambda`` is not positive and finite.

    >>> round(limit_window(32.0), 2)
    3.5
    """
    return math.log1p(validation.positive("Lambda", Lambda))


def limit_loss(w: float, K: int, Lambda: float) -> float:
    r"""Compute the loss for N → ∞ at fixed :math:`\Lambda=N/\sigma^2` (``math.inf``: no noise).

    .. math:: \mathcal L(w) = \tfrac K{K-1}s^2
              + \tfrac1\Lambda\big[K(1-s)^2+\tfrac K{K-1}s^2\big], \qquad s = \tfrac{K-1}{e^w+K-1}

    ``w`` is the window, ``K`` ≥ 3 the number of features. Raises ``ValueError`` for a number out of
    range.
    """
    validation.in_range("w", w, -math.inf, math.inf)
    validation.whole("K", K, low=3)
    validation.in_range("Lambda", min(Lambda, CLOSED), 0.0, math.inf, open_low=True)
    s = (K - 1) / (math.exp(min(w, CLOSED)) + K - 1)
    return K / (K - 1) * s**2 * (1 + 1 / Lambda) + K / Lambda * (1 - s) ** 2


def closing_time(K: int, Lambda: float) -> float:
    r"""Compute when a training without noise has the window that is best at noise Λ.

    It is the time of the mean field's balanced column to the error at which
    :math:`e^w = 1+\Lambda`. Raises ``ValueError`` for a K below 3 or a Λ that is not positive.
    """
    validation.whole("K", K, low=3)
    s = (K - 1) / (K + validation.positive("Lambda", Lambda))
    return meanfield.exact_time("balanced", K, 0.5, s**2 * K / (2 * (K - 1)))


class Closing(NamedTuple):
    """Times of the gradient flow, and the windows then."""

    t: Float[np.ndarray, " points"]
    w: Float[np.ndarray, " points"]


def closing(K: int, Lambda: float, *, end: float | None = None, points: int = 4001) -> Closing:
    r"""Gradient flow of the window from Q = 0 on :func:`limit_loss` (with chapter 6's ½).

    .. math:: \dot w = \frac{s(1-s)}{K-1}
              \Big[\tfrac K{K-1}s\big(1+\tfrac1\Lambda\big)-\tfrac K\Lambda(1-s)\Big]

    One number moves, so the time is an integral over w, by Simpson's rule on some 4000 intervals or
    more, whatever the number of ``points`` that are asked for (≥ 3). With noise the flow ends, in
    infinite time, at :func:`limit_window`. ``end`` > 0 is the last window: by default, and at most,
    :math:`10^{-6}` before that; it must be given for Λ = ∞, 300 or less. K ≥ 3, Λ in [1e-4, 1e100]
    or ∞. Raises ``ValueError`` for a number out of range or a missing ``end``.

    >>> t, w = closing(8, 32.0)
    >>> f"at t = 1000 the window is {np.interp(1000, t, w):.2f} of {limit_window(32.0):.2f}"
    'at t = 1000 the window is 3.48 of 3.50'
    """
    validation.whole("K", K, low=3)
    every = -(-INTERVALS // (validation.whole("points", points, low=3) - 1))
    fine = every * (points - 1) + 1
    if Lambda == math.inf:
        if end is None:
            raise ValueError("end must be given for Lambda = inf: the window closes without end")
        validation.in_range("end", end, 0.0, WIDEST, open_low=True)
        w = np.linspace(0.0, end, fine)
    else:
        limit = limit_window(validation.in_range("Lambda", Lambda, 1e-4, 1e100))
        end = limit - 1e-6 if end is None else min(validation.positive("end", end), limit - 1e-6)
        # the last of the way takes longest: as many points for each factor of the distance
        w = limit - np.geomspace(limit, limit - end, fine)
        w[0] = 0.0
    s = (K - 1) / (np.exp(w) + K - 1)
    speed = s * (1 - s) / (K - 1) * (K / (K - 1) * s * (1 + 1 / Lambda) - K / Lambda * (1 - s))
    t = cumulative_simpson(1 / speed, x=w, initial=0.0)
    return Closing(t[::every], w[::every])
