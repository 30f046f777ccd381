r"""Where and how sharply the error falls as the list of tasks grows.

A curve is the logarithm of an error at P rising task diversities κ, for T networks or draws, the
last axis; its mean is joined by straight lines in :math:`\log\kappa`.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate, crossing, of_means

AROUND = (0.6, 3.0)  # task diversities: a third of the two decades from 0.2 to 20


def share_around(
    kappas: Sequence[float],
    logs: Float[Tensor, "P T"],
    around: tuple[float, float] = AROUND,
) -> Estimate:
    r"""Which share of the fall from the first κ to the last lies between the two ``around`` one.

    .. math:: \frac{m(\kappa_1) - m(\kappa_2)}{m_{\rm first} - m_{\rm last}}

    By the jackknife. Raises ``ValueError`` where the κ do not rise from at most the first of the
    two to at least the second, or are not one for each row.
    """
    x = _logs_of(kappas, logs)
    low, high = (math.log(kappa) for kappa in around)
    if low < x[0] or high > x[-1]:
        raise ValueError(f"kappas must reach from {around[0]} to {around[1]}; got {list(kappas)}")
    return of_means(
        lambda m: (_between(x, m, low) - _between(x, m, high)) / float(m[0] - m[-1]), logs
    )


def halfway(kappas: Sequence[float], logs: Float[Tensor, "P T"]) -> Estimate:
    """The decimal logarithm of the κ at which half of the fall of the mean curve is behind.

    By the jackknife. Raises ``ValueError`` where the κ do not rise or are not one for each row, and
    where the curve does not cross that height.
    """
    x = [at / math.log(10) for at in _logs_of(kappas, logs)]
    return of_means(lambda m: crossing(x, -m, -float(m[0] + m[-1]) / 2), logs)


def _logs_of(kappas: Sequence[float], logs: Float[Tensor, "P T"]) -> list[float]:
    validation.shape("logs", logs, "P T", P=len(kappas))
    if list(kappas) != sorted(set(kappas)) or kappas[0] <= 0:
        raise ValueError(f"kappas must be positive and rise; got {list(kappas)}")
    return [math.log(kappa) for kappa in kappas]


def _between(x: Sequence[float], means: Float[Tensor, " P"], at: float) -> float:
    """The height at one place of the line through the means."""
    last = max(1, sum(place < at for place in x))
    part = (at - x[last - 1]) / (x[last] - x[last - 1])
    return float(torch.lerp(means[last - 1], means[last], part))
