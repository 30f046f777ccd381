"""Comparisons with three outcomes: supported, contradicted or undecided."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
UNDECIDED = "undecided"

GREATER, LESS, EQUAL = ">", "<", "="
MIRRORED = {GREATER: LESS, LESS: GREATER, EQUAL: EQUAL}


@runtime_checkable
class Estimate(Protocol):
    """A sampled number: its value, half the length of its interval, its degrees of freedom."""

    @property
    def value(self) -> float: ...
    @property
    def half_width(self) -> float: ...
    @property
    def dof(self) -> float: ...


class Measured(NamedTuple):
    """The plainest estimate; a number that was computed and not sampled has no half-width."""

    value: float
    half_width: float = 0.0
    dof: float = math.inf


@dataclass(frozen=True)
class Comparison:
    """One judged comparison; it is true where it is supported.

    ``value`` was measured with ``half_width`` on either side (0 where nothing was sampled) and held
    ``against`` a condition, for instance ``"> 0"``; ``outcome`` is one of ``SUPPORTED``,
    ``CONTRADICTED`` and ``UNDECIDED``. The condition again, for machines: ``test`` is one of
    ``">"``, ``"<"`` and ``"="``, ``bound`` what the value is held against, ``margin`` how far from
    it an equality may be. ``dof`` are the degrees of freedom behind the half-width, and None where
    that is 0 or known exactly.
    """

    value: float
    half_width: float
    against: str
    outcome: str
    test: str = ""
    bound: float = 0.0
    margin: float = 0.0
    dof: float | None = None

    def __bool__(self) -> bool:
        return self.outcome == SUPPORTED

    @property
    def mirrored(self) -> "Comparison":
        """The same comparison of the number with the other sign."""
        test = MIRRORED[self.test]
        return replace(self, value=-self.value, test=test, bound=-self.bound)


def equal(estimate: float | Estimate, target: float, tol: float) -> Comparison:
    r"""Compare a number with a ``target``, to within the margin ``tol``.

    Supported where all of its interval lies within the margin, contradicted where all of it lies
    outside, undecided otherwise,

    .. math:: |x - x_0| + h \le m, \qquad |x - x_0| - h > m.

    Noise never helps: a value whose mean is out of the margin is supported with half of the
    interval's level at most. Raises ``ValueError`` where ``tol`` is not positive, because two
    computed numbers are never equal to the last bit, and for what is not finite.

    >>> equal(1.02, 1.0, tol=0.05).outcome
    'supported'
    >>> equal(Measured(1.02, 0.1), 1.0, tol=0.05).outcome  # too noisy to say
    'undecided'
    """
    target, margin = _finite("target", target), _finite("tol", tol)
    if margin <= 0:
        raise ValueError(f"tol must be above zero; got {margin:g}")
    return _comparison(EQUAL, estimate, target, f"= {target:.4g} to within {margin:.2g}", margin)


def within(estimate: float | Estimate, low: float, high: float) -> Comparison:
    """Compare a number with [low, high], whose half length is the margin of :func:`equal`."""
    low, high = _finite("low", low), _finite("high", high)
    if low >= high:
        raise ValueError(f"low must be below high; got low = {low}, high = {high}")
    margin = (high - low) / 2
    return _comparison(EQUAL, estimate, low + margin, f"in [{low:.4g}, {high:.4g}]", margin)


def greater(estimate: float | Estimate, bound: float = 0.0) -> Comparison:
    """Test whether a number lies above ``bound``.

    Supported where all of its interval is above, contradicted where all of it is below.

    >>> [greater(Measured(gap, 0.4, 9)).outcome for gap in (1.0, 0.2, -1.0)]
    ['supported', 'undecided', 'contradicted']
    """
    return _comparison(GREATER, estimate, _finite("bound", bound))


def less(estimate: float | Estimate, bound: float = 0.0) -> Comparison:
    """Test whether a number lies below ``bound``: the mirror image of :func:`greater`."""
    return _comparison(LESS, estimate, _finite("bound", bound))


def _comparison(
    test: str, estimate: float | Estimate, bound: float, against: str = "", margin: float = 0.0
) -> Comparison:
    value, half_width, dof = measured(estimate)
    if test == EQUAL:
        deviation = abs(value - bound)
        holds, fails = deviation + half_width <= margin, deviation > margin + half_width
    else:
        gap = value - bound if test == GREATER else bound - value
        holds, fails = gap > half_width, gap < -half_width
    outcome = SUPPORTED if holds else CONTRADICTED if fails else UNDECIDED
    against = against or f"{test} {bound:.4g}"
    known = dof if math.isfinite(dof) else None
    return Comparison(value, half_width, against, outcome, test, bound, margin, known)


def measured(estimate: float | Estimate) -> Measured:
    """Check an estimate, or a number where nothing was sampled.

    Raises ``TypeError`` for what is neither, ``ValueError`` for a value or a half-width that is not
    finite, a negative half-width, and degrees of freedom that are not above zero.
    """
    if not isinstance(estimate, Estimate):
        return Measured(_finite("value", estimate))
    value, half_width = _finite("value", estimate.value), _finite("half_width", estimate.half_width)
    if half_width < 0:
        raise ValueError(f"half_width must be zero or above; got {half_width:g}")
    if half_width and not estimate.dof > 0:
        raise ValueError(f"dof must be above zero; got {estimate.dof!r}")
    return Measured(value, half_width, estimate.dof if half_width else math.inf)


def _finite(name: str, value: object) -> float:
    """Convert to a float; ``TypeError`` for what is no real number."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a real number; got {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number; got {number}")
    return number
