r"""What a window costs on tasks for which it is not the best one (chapter 2).

Pretraining on one class finds its best window :math:`w^*`; on another class the window stays. For
classes that the Lipschitz constant :math:`L'` multiplies, affine and ReLU tasks,

.. math:: \mathcal L(w;L') = L'^2 S(w) + \sigma^2 N(w),

so that the loss of a fixed window is a parabola in :math:`L'`.
"""

import math
from dataclasses import replace

import torch

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate
from iclutils.window.functions import Affine, ReLU
from iclutils.window.theory import curves
from iclutils.window.theory.curves import Window
from iclutils.window.theory.isotropic import Isotropic, PopulationLoss


def loss_elsewhere(
    exact: PopulationLoss, learned: Isotropic, tested: Isotropic, sigma: float
) -> Estimate:
    r"""The loss on ``tested`` of the window that is best for ``learned``.

    Its error is over batches of contexts. Raises ``ValueError`` as
    :meth:`iclutils.window.theory.isotropic.PopulationLoss.best_window`.
    """
    value, se = exact.at(tested, sigma, exact.best_window(learned, sigma).w)
    return Estimate(float(value), float(se), _freedom(exact))


def loss_ratio(
    exact: PopulationLoss, learned: Isotropic, tested: Isotropic, sigma: float
) -> Estimate:
    """That loss over the least loss on ``tested``, 1 or more.

    >>> from iclutils.window.theory.isotropic import limit
    >>> ratio = loss_ratio(limit(5, 2000), ReLU(5, L=1.0), ReLU(5, L=10.0), sigma=1.0)
    >>> round(ratio.value, 1)
    4.5
    """
    least = exact.best_window(tested, sigma).loss
    return loss_elsewhere(exact, learned, tested, sigma) / least


def slope_in_constant(
    exact: PopulationLoss, learned: Affine | ReLU, sigma: float, low: float, high: float
) -> Estimate:
    r"""The slope of log loss in log L′ of the window that ``learned`` has, between two L′.

    With :math:`q=\sigma^2N/S` the loss is proportional to :math:`L'^2+q`. Signal and noise are of
    the same contexts, and the sum of their relative errors bounds that of q. Raises ``ValueError``
    unless 0 < ``low`` < ``high``.
    """
    validation.positive("high", high)
    validation.in_range("low", low, 0.0, high, open_low=True, open_high=True)
    w = exact.best_window(learned, sigma).w
    signal, signal_se = (float(part) / learned.L**2 for part in exact.at(learned, 0.0, w))
    place = curves.stretch(torch.tensor(w, dtype=torch.float64)).numpy()
    held = torch.as_tensor(curves.spline(exact.w, exact.concentration)(place))
    share = float(held.mean())
    share_se = float(curves.standard_error(held))
    q = sigma**2 * share / signal
    span = math.log(high / low)
    rise = math.log((high**2 + q) / (low**2 + q)) / span
    steep = abs(1 / (high**2 + q) - 1 / (low**2 + q)) / span
    return Estimate(rise, steep * q * (signal_se / signal + share_se / share), _freedom(exact))


def least_slope_in_constant(
    exact: PopulationLoss, function: Affine | ReLU, sigma: float, low: float, high: float
) -> float:
    """The slope of the log of the least loss in log L, between two L.

    Raises ``ValueError`` unless 0 < ``low`` < ``high``.
    """
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
