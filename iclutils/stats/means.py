"""Means of many trials, with their standard errors."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from iclutils import validation
from iclutils.stats.estimate import Estimate, width


class Means(NamedTuple):
    """Means over trials, with their standard errors and the degrees of freedom of each."""

    value: Tensor
    se: Tensor
    dof: float

    @property
    def half_width(self) -> Tensor:
        """Half the length of each interval."""
        return width(self.dof) * self.se

    def at(self, *index: int) -> Estimate:
        """One of the means."""
        return Estimate(float(self.value[index]), float(self.se[index]), self.dof)


def mean_se(samples: Float[Tensor, "*shape"], dim: int = 0) -> Means:
    r"""Mean and standard error :math:`s/\sqrt T` over the T independent trials along ``dim``.

    Raises ``ValueError`` for fewer than 2 trials, NaN or infinity, and for a ``dim`` that the
    samples have not; ``TypeError`` for complex numbers.

    >>> value, se, dof = mean_se(torch.tensor([1.0, 2.0, 3.0, 4.0])).at()
    >>> value, round(se, 4), dof
    (2.5, 0.6455, 3)
    """
    validation.finite("samples", samples)
    if samples.is_complex():
        raise TypeError(f"samples must be real numbers; got {samples.dtype}")
    samples = samples if samples.is_floating_point() else samples.double()
    if samples.ndim > 0:
        validation.whole("dim", dim, low=-samples.ndim, high=samples.ndim - 1)
    if samples.ndim == 0 or samples.shape[dim] < 2:
        raise ValueError(
            f"samples must hold at least 2 trials along dim {dim}; got shape {tuple(samples.shape)}"
        )
    trials = samples.shape[dim]
    return Means(samples.mean(dim), samples.std(dim) / math.sqrt(trials), trials - 1)


def estimate(samples: Float[Tensor, " T"], *, at_least: float = 0.0) -> Estimate:
    """Compute the mean of T independent trials.

    Its half-width is ``at_least`` (zero or above) where the scatter says less: a training that is
    repeated is the same to the last digit on one processor and not on another, and neither may be
    taken for its precision. Raises ``ValueError`` as :func:`iclutils.stats.mean_se`,
    and for a negative or infinite ``at_least``.

    >>> estimate(torch.zeros(5), at_least=0.25).half_width
    0.25
    """
    validation.nonnegative("at_least", at_least)
    value, se, dof = mean_se(samples).at()
    return Estimate(value, max(se, at_least / width(dof)), dof)


def geometric_bars(
    logs: Float[Tensor, "*shape"], dim: int = -1
) -> tuple[Float[Tensor, "*means"], Float[Tensor, "2 *means"]]:
    """Geometric means over ``dim``, and how far their intervals reach below and above.

    ``logs`` are decimal logarithms of the trials; the second tensor is what Matplotlib's
    ``errorbar`` takes. Raises ``ValueError`` as :func:`iclutils.stats.mean_se`.

    >>> middle, reach = geometric_bars(torch.tensor([1.0, 1.0, 1.0]))
    >>> float(middle), reach.tolist()
    (10.0, [0.0, 0.0])
    """
    means = mean_se(logs, dim)
    middle = 10**means.value
    low = 10 ** (means.value - means.half_width)
    high = 10 ** (means.value + means.half_width)
    return middle, torch.stack([middle - low, high - middle])


def share(hits: Shaped[Tensor, "*rest T"], *, under: float) -> Estimate:
    r"""Compute the share of ``hits``, and its standard error if the true share is ``under``.

    .. math:: se^2 = p_0(1-p_0)/T, \qquad p_0 = \texttt{under}

    ``hits`` are true or false (or shares of a trial, from 0 to 1), the last axis the T independent
    trials; what stands on other axes is averaged, and not counted as more trials. The error belongs
    to a test against ``under``, and is no interval for another bound. Raises ``ValueError`` for no
    trial, for entries outside of [0, 1], and unless ``under`` is strictly between 0 and 1.

    >>> share(torch.tensor([True, True, True, False]), under=0.5)
    Estimate(value=0.75, se=0.25, dof=inf)
    """
    hits = validation.within("hits", torch.as_tensor(hits, dtype=torch.float64), 0.0, 1.0)
    validation.in_range("under", under, 0.0, 1.0, open_low=True, open_high=True)
    trials = validation.whole("trials", hits.shape[-1] if hits.ndim else 0)
    return Estimate(float(hits.mean()), math.sqrt(under * (1 - under) / trials), math.inf)
