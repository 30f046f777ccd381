r"""What a window pays on tasks of another slope: its price, and the limit of that for long prompts.

A window on the sphere is trained at the slope L and then frozen. On tasks r times as steep its
*price* is its loss over the least loss there. Bias and noise stand as 1 : s at the optimum, where
s is the exponent of the bias in the number of cells :math:`D\propto w^{(d-1)/2}`, so that the price
tends to one curve:

.. math:: \frac{\mathcal L_{\rm frozen}}{\mathcal L_{\rm least}}\to
          \frac{r^{2s/(1+s)}+s\,r^{-2/(1+s)}}{1+s}\qquad(\Lambda = nL^2/\sigma^2\to\infty).

For one weight, shrinkage, the price is exact. The formulas are ours; chapter 7 uses them.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats import Estimate, exact
from iclutils.window.function_classes import Affine, ReLU
from iclutils.window.theory import best_window, population_loss
from iclutils.window.theory.best_window import Window
from iclutils.window.theory.population_loss import Isotropic, PopulationLoss

POINTS = 400  # windows, evenly on a logarithmic axis


@dataclass(frozen=True)
class Optima:
    r"""Windows for n → ∞, each with the Λ at which it is the best one (tasks of slope L = 1).

    Its loss there is ``signal`` + ``spread`` / ``Lambda``, bias and noise; ``spread`` is
    :math:`n\,E\sum_i\gamma_i^2`, the number of cells. ``power`` is :math:`F = E f^2`.
    """

    w: Float[Tensor, " windows"]
    Lambda: Float[Tensor, " windows"]
    signal: Float[Tensor, " windows"]
    spread: Float[Tensor, " windows"]
    power: float

    @classmethod
    def of(cls, function: Isotropic, decades: float = 4.0) -> "Optima":
        """Return the windows from w = 1 to ``10**decades``, for a class of slope 1.

        Raises ``ValueError`` for another slope and for ``decades`` that are not positive.
        """
        if function.L != 1:
            raise ValueError(f"function must have the slope L = 1; got {function.L}")
        validation.positive("decades", decades)
        w = torch.logspace(0, decades, POINTS).double()
        limit = population_loss.limit(function.d, 1, w=w)
        power = float(function.covariance(torch.ones(()).double()))
        spread = limit.concentration.mean(0)
        return cls(w, limit.optimal_for(function), limit.signal(function), spread, power)

    @property
    def loss(self) -> Float[Tensor, " windows"]:
        """The least loss at each Λ."""
        return self.signal + self.spread / self.Lambda

    def nearest(self, error: float) -> int:
        """Locate the window whose loss is nearest to this share of the power: its index."""
        validation.positive("error", error)
        return int((self.loss / self.power - error).abs().argmin())

    def price(self, i: int, r: float) -> float:
        """Compute the loss of window i on tasks r times as steep, over the least loss there.

        The least loss is interpolated in log Λ; r is positive.
        """
        validation.positive("r", r)
        there = float(self.Lambda[i]) * r**2
        least = np.exp(np.interp(np.log(there), self.Lambda.log(), self.loss.log()))
        return float((self.signal[i] + self.spread[i] / there) / least)

    def rate(self) -> Estimate:
        """Compute the exponent in n of the least loss for n → ∞, right to its extrapolation."""
        loss, to_loss = best_window.power(self.w, self.loss)
        steps, to_steps = best_window.power(self.w, self.Lambda)
        within = to_loss / steps + abs(loss) * to_steps / steps**2
        return exact(loss / steps, within=within)

    def cells_exponent(self) -> Estimate:
        """Compute the exponent in w of the number of cells, right to its extrapolation."""
        return exact(*best_window.power(self.w, self.spread))


def bias_exponent(function: Isotropic) -> float:
    r"""Compute the s of a bias :math:`\propto D^{-s}`: 4/(d − 1), or 3/(d − 1) with a kink.

    Chapter 1's exponents of the bias in w, −2 and −3/2, over that of the cells, (d − 1)/2.
    """
    return (3 if isinstance(function, ReLU) else 4) / (function.d - 1)


def limit_price(r: float, s: float) -> float:
    """Compute the price of tasks r times as steep for Λ → ∞, the module's equation.

    >>> limit_price(1.0, 0.5)
    1.0
    """
    validation.positive("r", r)
    validation.positive("s", s)
    return float((r ** (2 * s / (1 + s)) + s * r ** (-2 / (1 + s))) / (1 + s))


def shrinkage_price(q: float, q_there: float) -> float:
    r"""Compute the price for a weight a with loss :math:`(1-a)^2+qa^2`, shrunk for q, tested at q′.

    .. math:: 1+\frac{(q-q')^2}{q'(1+q)^2}

    Raises ``ValueError`` where one of the two is not positive.

    >>> shrinkage_price(0.1, 0.1)
    1.0
    """
    validation.positive("q", q)
    validation.positive("q_there", q_there)
    return 1 + (q - q_there) ** 2 / (q_there * (1 + q) ** 2)


def loss_elsewhere(
    exact: PopulationLoss, learned: Isotropic, tested: Isotropic, sigma: float
) -> Estimate:
    r"""Compute the loss on ``tested`` of the window that is best for ``learned``.

    Its error is over batches of contexts. Raises ``ValueError`` as
    :meth:`iclutils.window.theory.population_loss.PopulationLoss.best_window`.
    """
    value, se = exact.at(tested, sigma, exact.best_window(learned, sigma).w)
    return Estimate(float(value), float(se), _freedom(exact))


def loss_ratio(
    exact: PopulationLoss, learned: Isotropic, tested: Isotropic, sigma: float
) -> Estimate:
    """Divide that loss by the least loss on ``tested``: 1 or more.

    >>> from iclutils.window.theory.population_loss import limit
    >>> ratio = loss_ratio(limit(5, 2000), ReLU(5, L=1.0), ReLU(5, L=10.0), sigma=1.0)
    >>> round(ratio.value, 1)
    4.5
    """
    least = exact.best_window(tested, sigma).loss
    return loss_elsewhere(exact, learned, tested, sigma) / least


def slope_in_constant(
    exact: PopulationLoss, learned: Affine | ReLU, sigma: float, low: float, high: float
) -> Estimate:
    r"""Compute the slope of log loss in log L′ of the window that ``learned`` has, between two L′.

    With :math:`q=\sigma^2N/S` the loss is proportional to :math:`L'^2+q`. Signal and noise are of
    the same contexts, and the sum of their relative errors bounds that of q. Raises ``ValueError``
    unless 0 < ``low`` < ``high``, and ``KeyError`` for waves, which L makes faster and not higher.
    """
    validation.one_of("learned", learned.name, (Affine.name, ReLU.name))
    validation.positive("high", high)
    validation.in_range("low", low, 0.0, high, open_low=True, open_high=True)
    w = exact.best_window(learned, sigma).w
    signal, signal_se = (float(part) / learned.L**2 for part in exact.at(learned, 0.0, w))
    stretched = best_window.stretch(torch.tensor(w, dtype=torch.float64)).numpy()
    shares = torch.as_tensor(best_window.spline(exact.w, exact.concentration)(stretched))
    share = float(shares.mean())
    share_se = float(best_window.standard_error(shares))
    q = sigma**2 * share / signal
    span = math.log(high / low)
    rise = math.log((high**2 + q) / (low**2 + q)) / span
    steep = abs(1 / (high**2 + q) - 1 / (low**2 + q)) / span
    return Estimate(rise, steep * q * (signal_se / signal + share_se / share), _freedom(exact))


def least_slope_in_constant(
    exact: PopulationLoss, function: Affine | ReLU, sigma: float, low: float, high: float
) -> float:
    """Compute the slope of the log of the least loss in log L, between two L.

    Raises ``ValueError`` unless 0 < ``low`` < ``high``, and ``KeyError`` for waves.
    """
    validation.one_of("function", function.name, (Affine.name, ReLU.name))
    validation.positive("high", high)
    validation.in_range("low", low, 0.0, high, open_low=True, open_high=True)
    ends = [exact.best_window(replace(function, L=L), sigma).loss for L in (low, high)]
    return math.log(ends[1] / ends[0]) / math.log(high / low)


def window_ratio(first: Window, second: Window) -> Estimate:
    """One best window over another; ``second`` is not w = 0.

    Errors are those of the two windows by themselves. Raises ``ValueError`` where ``second`` is 0
    or the windows have different numbers of batches.
    """
    validation.positive("second.w", second.w)
    batches = len(first.replicas)
    if len(second.replicas) != batches:
        raise ValueError(
            f"first and second must have as many batches; got {batches}, {len(second.replicas)}"
        )
    ratio = first.w / second.w
    se = math.hypot(first.w_se / second.w, ratio * second.w_se / second.w)
    return Estimate(ratio, se, batches - 1 if batches > 1 else math.inf)


def _freedom(exact: PopulationLoss) -> float:
    """Degrees of freedom of an error over batches of contexts; a closed form has one batch."""
    batches = len(exact.concentration)
    return batches - 1 if batches > 1 else math.inf
