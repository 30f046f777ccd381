"""One number with the width of its interval.

All intervals of the book are Student's t at one level. Estimates are made of trials, and of one
another, in :mod:`iclutils.stats`. No tensor is needed for that.
"""

import functools
import math
from typing import NamedTuple

from iclutils import arguments

LEVEL = 1e-4  # two-sided


@functools.cache
def width(dof: float) -> float:
    """Half the interval's length in standard errors, from Student's t with ``dof``.

    ``dof`` may be ``math.inf``, where the standard error is known. Raises ``ValueError`` unless it
    is positive.

    >>> [round(width(dof), 2) for dof in (9, 19, math.inf)]
    [6.59, 4.9, 3.89]
    """
    # here alone scipy is needed, which loads for a fifth of a second: whoever only reads what was
    # judged, the site and every start of pytest, asks for no width
    from scipy import special

    if dof == math.inf:
        return float(special.ndtri(1 - LEVEL / 2))
    arguments.positive("dof", dof)
    return float(special.stdtrit(dof, 1 - LEVEL / 2))


class Estimate(NamedTuple):
    r"""A number with its standard error and the degrees of freedom behind that.

    A number that was computed and not sampled has the standard error 0, and its degrees of freedom
    do not matter. Known numbers may be taken from it and it may be scaled, ``(place - 2) / 3``;
    :meth:`log` and :meth:`power_of` carry the error by the delta method, :math:`|f'|\,se`. Two
    estimates are never subtracted by ``-``, because only the caller knows whether they share their
    trials: :func:`iclutils.stats.difference` is for independent ones, and the mean of
    the trial-wise differences for others.

    >>> (Estimate(5.0, 0.5, 9) - 2.0) / 2.0
    Estimate(value=1.5, se=0.25, dof=9)
    """

    value: float
    se: float
    dof: float

    @property
    def half_width(self) -> float:
        """Half the interval's length; raises ``ValueError`` for a negative error."""
        if self.se < 0:
            raise ValueError(f"se must be zero or above; got {self.se:g}")
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
        """Return a known number less the estimate."""
        return -(self - number)

    def __mul__(self, factor: float) -> "Estimate":  # type: ignore[override]
        """Return a known number of times; of a tuple it would be repetition."""
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
        arguments.positive("value", self.value)
        return Estimate(math.log(self.value), self.se / self.value, self.dof)

    def power_of(self, base: float = math.e) -> "Estimate":
        """Raise ``base`` to its power, for what was estimated as a logarithm.

        >>> Estimate(2.0, 0.0, math.inf).power_of(10).value
        100.0
        """
        arguments.positive("base", base)
        power = base**self.value
        return Estimate(power, power * abs(math.log(base)) * self.se, self.dof)


def _known(number: object) -> float:
    """Return a known number, and no estimate."""
    if isinstance(number, Estimate):
        raise TypeError(
            "an Estimate is combined with a number; of two estimates take statistics.difference"
            " where they are independent, and the mean of trial-wise differences where not"
        )
    return float(number)  # type: ignore[arg-type]


def exact(value: float, within: float = 0.0) -> Estimate:
    """Return a number that was computed and not sampled, right to ``within``.

    ``within`` (zero or above) is an honest bound on what the computation leaves out, a step of a
    grid or the change over the last decade of a limit; it becomes the interval's half length.
    Raises ``ValueError`` for a negative or infinite one, and where ``value`` is not finite.

    >>> exact(2.0, within=0.5).half_width
    0.5
    """
    number = float(arguments.in_range("value", value, -math.inf, math.inf))
    arguments.nonnegative("within", within)
    return Estimate(number, within / width(math.inf), math.inf)


def from_spread(value: float, spread: float, runs: int) -> Estimate:
    r"""Compute the mean of ``runs`` ≥ 2 independent runs whose ``spread`` was printed.

    .. math:: se = \frac{s_R}{\sqrt{R-1}}, \qquad s_R^2 = \frac1R\sum_r (v_r - \bar v)^2

    ``spread`` (zero or above) is the deviation over all runs, numpy's default. There are R − 1
    degrees of freedom. Raises ``ValueError`` for a number out of its range.

    >>> from_spread(2.0, 0.3, 10)
    Estimate(value=2.0, se=0.09999999999999999, dof=9)
    """
    arguments.whole("runs", runs, low=2)
    arguments.nonnegative("spread", spread)
    return Estimate(_known(value), spread / math.sqrt(runs - 1), runs - 1)
