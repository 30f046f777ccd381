"""Numbers from many trials, with the width of their intervals."""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from scipy import special
from torch import Tensor

from iclutils.ground import validation

LEVEL = 1e-4  # two-sided


@functools.cache
def width(dof: float) -> float:
    """Half the interval's length in standard errors, from Student's t with ``dof``.

    ``dof`` may be ``math.inf``, where the standard error is known. Raises ``ValueError`` unless it
    is positive.

    >>> [round(width(dof), 2) for dof in (9, 19, math.inf)]
    [6.59, 4.9, 3.89]
    """
    if dof == math.inf:
        return float(special.ndtri(1 - LEVEL / 2))
    validation.positive("dof", dof)
    return float(special.stdtrit(dof, 1 - LEVEL / 2))


class Estimate(NamedTuple):
    """A number with its standard error and the degrees of freedom behind that.

    A number that was computed and not sampled has the standard error 0, and its degrees of freedom
    do not matter.
    """

    value: float
    se: float
    dof: float

    @property
    def half_width(self) -> float:
        """Half the interval's length."""
        return width(self.dof) * self.se if self.se else 0.0


class Means(NamedTuple):
    """Means over trials, with their standard errors and the degrees of freedom of each."""

    value: Tensor
    se: Tensor
    dof: float

    def at(self, *index: int) -> Estimate:
        """One of the means."""
        return Estimate(float(self.value[index]), float(self.se[index]), self.dof)


def mean_se(samples: Float[Tensor, "*shape"], dim: int = 0) -> Means:
    r"""Mean and standard error :math:`s/\sqrt T` over the T independent trials along ``dim``.

    Raises ``ValueError`` for fewer than 2 trials, NaN or infinity.

    >>> value, se, dof = mean_se(torch.tensor([1.0, 2.0, 3.0, 4.0])).at()
    >>> value, round(se, 4), dof
    (2.5, 0.6455, 3)
    """
    validation.finite("samples", samples)
    samples = samples if samples.is_floating_point() else samples.double()
    if samples.ndim == 0 or samples.shape[dim] < 2:
        raise ValueError(
            f"samples must hold at least 2 trials along dim {dim}; got shape {tuple(samples.shape)}"
        )
    trials = samples.shape[dim]
    return Means(samples.mean(dim), samples.std(dim) / math.sqrt(trials), trials - 1)


def estimate(samples: Float[Tensor, " T"]) -> Estimate:
    """The mean of T independent trials.

    Raises ``ValueError`` as :func:`iclutils.ground.statistics.mean_se`.
    """
    return mean_se(samples).at()


def difference(first: Estimate, second: Estimate) -> Estimate:
    r"""``first − second`` of two independent estimates, with Welch's degrees of freedom.

    .. math:: se^2 = se_1^2 + se_2^2, \qquad
        \frac{1}{\nu} = \frac{r^2}{\nu_1} + \frac{(1-r)^2}{\nu_2}, \quad r = \frac{se_1^2}{se^2}

    >>> round(difference(Estimate(3.0, 0.1, 9), Estimate(1.0, 0.1, 9)).dof)
    18
    """
    se = math.hypot(first.se, second.se)
    dof = math.inf
    if se > 0:
        share = (first.se / se) ** 2
        inverse = share**2 / first.dof + (1 - share) ** 2 / second.dof
        dof = 1 / inverse if inverse > 0 else math.inf
    return Estimate(first.value - second.value, se, dof)


def jackknife(function: Callable[[Tensor], float], samples: Float[Tensor, "*rest T"]) -> Estimate:
    r"""``function(samples)`` with its error from leaving out one of T ≥ 2 trials at a time.

    The trials are the last axis; there are T − 1 degrees of freedom. Raises ``ValueError`` for
    fewer than 2.

    >>> found = jackknife(lambda s: float(s.mean()), torch.tensor([1.0, 2.0, 3.0, 4.0]))
    >>> round(found.value, 4), round(found.se, 4)  # of a mean it is the usual standard error
    (2.5, 0.6455)
    """
    trials = samples.shape[-1]
    validation.whole("trials", trials, low=2)
    kept = ~torch.eye(trials, dtype=torch.bool)
    without = [function(samples[..., kept[i]]) for i in range(trials)]
    se = jackknife_se(torch.tensor(without, dtype=torch.float64))
    return Estimate(function(samples), se, trials - 1)


def jackknife_se(without: Float[Tensor, " T"]) -> float:
    r"""The jackknife's standard error from a statistic with each of T trials (or groups) left out.

    .. math:: se^2 = \frac{T-1}{T}\sum_i\bigl(f_{-i} - \overline{f_{-i}}\bigr)^2
    """
    trials = without.shape[-1]
    return float(((trials - 1) * without.var(correction=0)).sqrt())
