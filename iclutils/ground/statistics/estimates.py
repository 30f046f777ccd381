"""Numbers from many trials, with the width of their intervals."""

import functools
import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Shaped
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
    r"""A number with its standard error and the degrees of freedom behind that.

    A number that was computed and not sampled has the standard error 0, and its degrees of freedom
    do not matter. Known numbers may be taken from it and it may be scaled, ``(place - 2) / 3``;
    :meth:`log` and :meth:`power_of` carry the error by the delta method, :math:`|f'|\,se`. Two
    estimates are never subtracted by ``-``, because only the caller knows whether they share their
    trials: :func:`iclutils.ground.statistics.difference` is for independent ones, and the mean of
    the trial-wise differences for others.

    >>> (Estimate(5.0, 0.5, 9) - 2.0) / 2.0
    Estimate(value=1.5, se=0.25, dof=9)
    """

    value: float
    se: float
    dof: float

    @property
    def half_width(self) -> float:
        """Half the interval's length."""
        return width(self.dof) * self.se if self.se else 0.0

    def __format__(self, spec: str) -> str:
        """Value and half-width, both by ``spec``; without one it is the tuple's text.

        >>> f"{Estimate(0.5, 0.0, 9):.2f}"
        '0.50 ± 0.00'
        """
        return f"{self.value:{spec}} ± {self.half_width:{spec}}" if spec else str(self)

    def __sub__(self, number: float) -> "Estimate":
        """Less a known number."""
        return Estimate(self.value - _known(number), self.se, self.dof)

    def __rsub__(self, number: float) -> "Estimate":
        """A known number less the estimate."""
        return -(self - number)

    def __mul__(self, factor: float) -> "Estimate":  # type: ignore[override]
        """A known number of times; of a tuple it would be repetition."""
        known = _known(factor)
        return Estimate(known * self.value, abs(known) * self.se, self.dof)

    def __rmul__(self, factor: float) -> "Estimate":  # type: ignore[override]
        return self * factor

    def __truediv__(self, divisor: float) -> "Estimate":
        """Over a known number."""
        known = _known(divisor)
        return Estimate(self.value / known, self.se / abs(known), self.dof)

    def __neg__(self) -> "Estimate":
        return Estimate(-self.value, self.se, self.dof)

    def log(self) -> "Estimate":
        """Its natural logarithm; raises ``ValueError`` where the value is not above zero."""
        validation.positive("value", self.value)
        return Estimate(math.log(self.value), self.se / self.value, self.dof)

    def power_of(self, base: float = math.e) -> "Estimate":
        """``base`` to its power, for what was estimated as a logarithm.

        >>> Estimate(2.0, 0.0, math.inf).power_of(10).value
        100.0
        """
        validation.positive("base", base)
        power = base**self.value
        return Estimate(power, power * abs(math.log(base)) * self.se, self.dof)


def _known(number: object) -> float:
    """A known number, and no estimate."""
    if isinstance(number, Estimate):
        raise TypeError(
            "an Estimate is combined with a number; of two estimates take statistics.difference"
            " where they are independent, and the mean of trial-wise differences where not"
        )
    return float(number)  # type: ignore[arg-type]


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


def exact(value: float, within: float = 0.0) -> Estimate:
    """A number that was computed and not sampled, right to ``within``.

    ``within`` (zero or above) is an honest bound on what the computation leaves out, a step of a
    grid or the change over the last decade of a limit; it becomes the interval's half length.
    Raises ``ValueError`` for a negative or infinite one, and where ``value`` is not finite.

    >>> exact(2.0, within=0.5).half_width
    0.5
    """
    number = float(validation.in_range("value", value, -math.inf, math.inf))
    validation.nonnegative("within", within)
    return Estimate(number, within / width(math.inf), math.inf)


def from_spread(value: float, spread: float, runs: int) -> Estimate:
    r"""The mean of ``runs`` ≥ 2 independent runs whose ``spread`` was printed.

    .. math:: se = \frac{s_R}{\sqrt{R-1}}, \qquad s_R^2 = \frac1R\sum_r (v_r - \bar v)^2

    ``spread`` (zero or above) is the deviation over all runs, numpy's default. There are R − 1
    degrees of freedom. Raises ``ValueError`` for a number out of its range.

    >>> from_spread(2.0, 0.3, 10)
    Estimate(value=2.0, se=0.09999999999999999, dof=9)
    """
    validation.whole("runs", runs, low=2)
    validation.nonnegative("spread", spread)
    return Estimate(_known(value), spread / math.sqrt(runs - 1), runs - 1)


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
    """The mean of T independent trials.

    Its half-width is ``at_least`` (zero or above) where the scatter says less: a training that is
    repeated is the same to the last digit on one processor and not on another, and neither may be
    taken for its precision. Raises ``ValueError`` as :func:`iclutils.ground.statistics.mean_se`,
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
    ``errorbar`` takes. Raises ``ValueError`` as :func:`iclutils.ground.statistics.mean_se`.

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
    r"""The share of ``hits``, with the standard error that it has if the true share is ``under``.

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
