r"""What prompts of finite length cost: those that lack the feature asked for (chapter 6).

A prompt of N tokens lacks feature k with probability :math:`(1-p_k)^N`. No Q answers a query on a
feature that is not there, which is the floor of the error; a saturated Q
(:math:`A_k \to \infty`, the other entries equal) has no other error.

The features' probabilities are :math:`p_1` for the dominant one and :math:`(1-p_1)/(K-1)` for each
rare one. Source of the question: Huang, Cheng and Liang 2024, slides "Prediction Error Converges"
(:math:`\mathcal L_k^* = \Theta(e^{-\mathrm{poly}(K)})`) and "Training Settings" (ν = 1 with "nearly
no loss of optimality"); the formulas are ours.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from iclutils import validation
from iclutils.stats import exponent

LARGEST_LENGTH = 1e100  # of a prompt
LARGEST_VALUE = 1e100  # of ν: its square is a number too


def _rare(K: int, p1: float) -> float:
    """Return the probability of a rare feature."""
    validation.whole("K", K, low=3)
    validation.in_range("p1", p1, 0.0, 1.0, open_low=True, open_high=True)
    return (1 - p1) / (K - 1)


def log_absence(p: float, N: int) -> float:
    r"""Logarithm of the probability :math:`(1-p)^N` that N tokens lack a feature.

    ``p`` in [0, 1) is the feature's probability. Raises ``ValueError`` for a p out of range or an N
    that is not in 1..1e100.

    >>> round(math.exp(log_absence(0.1, 20)), 4)
    0.1216
    """
    validation.in_range("p", p, 0.0, 1.0, open_high=True)
    validation.in_range("N", validation.whole("N", N), 1, LARGEST_LENGTH)
    return N * math.log1p(-p)


def _spread(K: int, p1: float, N: int, dominant: bool = False) -> float:
    """Compute the mean of Σ (n_m/N)² over prompts without the target, q + (1 − q)/N."""
    p_rare = (1 - p1) / (K - 1)
    if dominant:
        q = (K - 1) * (p_rare / (1 - p1)) ** 2
    else:
        q = (p1**2 + (K - 2) * p_rare**2) / (1 - p_rare) ** 2
    return q + (1 - q) / N


def saturated_error(K: int, p1: float, N: int) -> float:
    r"""Error of a rare feature for :math:`A_k → ∞` with the other entries equal, N tokens a prompt.

    .. math:: \tfrac12 (1-p_k)^N \big(1 + q + (1-q)/N\big),
              \qquad q = \sum_{m \ne k} \big(p_m/(1-p_k)\big)^2

    A prompt with the target is solved; one without it is answered by the average of its labels.
    Raises ``ValueError`` for K below 3, p1 outside (0, 1), or N below 1.

    >>> round(saturated_error(20, 0.5, 40), 3)
    0.223
    """
    p = _rare(K, p1)
    return 0.5 * math.exp(log_absence(p, N)) * (1 + _spread(K, p1, N))


class LogFloor(NamedTuple):
    """Logarithms of a ``low`` and a ``high`` bound on the least error that any Q can have."""

    low: float
    high: float


def log_floor(K: int, p1: float, N: int) -> LogFloor:
    r"""Bounds on :math:`\log\mathcal L_k^*`, :math:`\mathcal L_k^* = \inf_Q \mathcal L_k`, k rare.

    .. math:: \mathcal L_k^* = \tfrac12(1-p_k)^N(1+r)

    Here r is the mean of :math:`\sum_m \mathrm{Attn}_m^2` over prompts without the target. It is at
    least 1 over the number of features that fit into the prompt; and the floor is at most
    :func:`saturated_error`. Chapter 6 compares it with the talk's
    :math:`\Theta(e^{-\mathrm{poly}(K)})`. Raises as :func:`saturated_error`.

    >>> bounds = log_floor(20, 0.5, 400)
    >>> round(bounds.low, 2), round(bounds.high, 2)
    (-11.31, -11.11)
    """
    missing = log_absence(_rare(K, p1), N) - math.log(2)
    fit = min(K - 1, N)
    return LogFloor(missing + math.log1p(1 / fit), missing + math.log1p(_spread(K, p1, N)))


def floor(K: int, p1: float, N: int) -> float:
    """Return the lower bound on a rare feature's least error, not as a logarithm.

    Raises as :func:`log_floor`, whose first bound it is.
    """
    return math.exp(log_floor(K, p1, N).low)


def depth_exponent(
    sizes: Sequence[int], p1: float, power: float, *, dominant: bool = False
) -> float:
    r"""Fit the exponent in K of minus the log of the floor, in prompts of :math:`K^a` tokens.

    ``power`` is a; ``sizes`` are the numbers of features K. ``dominant`` takes the probability
    that prompts lack the dominant feature. Raises as :func:`log_floor`.
    """
    lengths = [round(K**power) for K in sizes]
    if dominant:
        depths = [-log_absence(p1, N) for N in lengths]
    else:
        depths = [-log_floor(K, p1, N).low for K, N in zip(sizes, lengths, strict=True)]
    return exponent(sizes, depths).slope


def value_gain(K: int, p1: float, N: int, value: float = 1.0) -> float:
    r"""Relative gain :math:`1 - L(\nu^*)/L(\nu)` of the best ν over a fixed one, at a saturated Q.

    .. math:: L(\nu) = \tfrac12 - \nu m_1 + \tfrac12\nu^2 m_2, \quad
              m_1 = \sum_k p_k(1-P_k), \quad m_2 = \sum_k p_k(1 - P_k + P_k r_k)

    with :math:`P_k = (1-p_k)^N` and :math:`r_k` the mean in :func:`saturated_error`. ``value`` is
    the fixed ν. Raises as :func:`saturated_error`, and for a value that is not finite.

    >>> value_gain(20, 0.5, 80) < 0.01 < value_gain(20, 0.5, 80, value=0.5)
    True
    """
    validation.in_range("value", value, -LARGEST_VALUE, LARGEST_VALUE)
    lost = 0.0  # 1 − m₁
    spread = 0.0  # m₂ − m₁: both are tiny, so they are kept apart
    for p, count, dominant in ((_rare(K, p1), K - 1, False), (p1, 1, True)):
        missing = count * p * math.exp(log_absence(p, N))
        lost += missing
        spread += missing * _spread(K, p1, N, dominant)
    m1 = 1 - lost
    m2 = 1 - lost + spread
    twice_loss = (1 - value) ** 2 * m1 + lost + value**2 * spread  # 2 L(ν)
    return m2 * (value - m1 / m2) ** 2 / twice_loss


def granted(K: int, p1: float, N: int, error: float) -> float:
    r"""Return the squared error that the theorem grants, :math:`2(\mathcal L_k^*+\varepsilon)`.

    For a rare feature among K, in prompts of N tokens, with the lower bound of
    :func:`log_floor` for :math:`\mathcal L_k^*`. Raises ``ValueError`` where an argument is out of
    range.
    """
    validation.in_range("error", error, 0.0, 1.0, open_low=True)
    return 2 * (error + floor(K, p1, N))
