"""Comparisons with three outcomes, each of which can be judged again at another value."""

import math
from dataclasses import dataclass, replace

from iclutils.ground import arguments
from iclutils.ground.estimate import Estimate

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
UNDECIDED = "undecided"

GREATER, LESS, EQUAL = ">", "<", "="
TESTS = (GREATER, LESS, EQUAL)


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
    def two_sided(self) -> bool:
        """Whether it is an equality."""
        return self.test == EQUAL

    def at(self, value: float) -> "Comparison":
        """The same comparison, had ``value`` been measured with the same half-width.

        Raises ``ValueError`` for a comparison that no function of this module made.
        """
        arguments.one_of("test", self.test, TESTS)
        outcome = judged(self.test, value, self.half_width, self.bound, self.margin)
        return replace(self, value=value, outcome=outcome)


def equal(
    value: float | Estimate,
    target: float,
    *,
    tol: float,
    se: float = 0.0,
    dof: float | None = None,
) -> Comparison:
    r"""Is ``value`` the ``target`` to within the margin ``tol``?

    Supported where all of its interval lies within the margin, contradicted where all of it lies
    outside, undecided otherwise,

    .. math:: |x - x_0| + h \le m, \qquad |x - x_0| - h > m,

    for the value x with the half-width h and the target :math:`x_0` with the margin m. Noise never
    helps: a value whose mean is out of the margin is supported with probability ``LEVEL``/2 at
    most. ``tol`` is a derived term (a finite-size correction, a bound, the size of what would
    matter). Raises
    ``ValueError`` where ``tol`` is not positive, because two computed numbers are never equal to
    the last bit, for a ``se`` without ``dof``, for NaN, and for an infinite ``target``.

    >>> equal(1.02, 1.0, tol=0.05).outcome
    'supported'
    >>> equal(1.02, 1.0, tol=0.05, se=0.1, dof=9).outcome  # too noisy to say
    'undecided'
    """
    target = _bound("target", target)
    margin = arguments.positive("tol", float(tol))
    against = f"= {target:.4g} to within {margin:.2g}"
    return _comparison(EQUAL, _estimate(value, se, dof), target, against, margin)


def within(
    value: float | Estimate,
    low: float,
    high: float,
    *,
    se: float = 0.0,
    dof: float | None = None,
) -> Comparison:
    """Is ``value`` in [low, high]? The interval's half length is the margin.

    See :func:`iclutils.ground.statistics.equal`. Raises ``ValueError`` where ``low`` is not below
    ``high`` or one is infinite, for a ``se`` without ``dof``, and for NaN.
    """
    low = _bound("low", low)
    high = _bound("high", high)
    if low >= high:
        raise ValueError(f"low must be below high; got low = {low}, high = {high}")
    against = f"in [{low:.4g}, {high:.4g}]"
    margin = (high - low) / 2
    return _comparison(EQUAL, _estimate(value, se, dof), low + margin, against, margin)


def greater(
    value: float | Estimate, bound: float = 0.0, *, se: float = 0.0, dof: float | None = None
) -> Comparison:
    """Is ``value`` above ``bound``?

    Supported where all of its interval is above, contradicted where all of it is below. Raises
    ``ValueError`` for a negative ``se``, a ``se`` without ``dof``, NaN, and an infinite ``bound``.

    >>> [greater(gap, se=0.1, dof=9).outcome for gap in (1.0, 0.2, -1.0)]
    ['supported', 'undecided', 'contradicted']
    """
    bound = _bound("bound", bound)
    return _comparison(GREATER, _estimate(value, se, dof), bound, f"> {bound:.4g}")


def less(
    value: float | Estimate, bound: float = 0.0, *, se: float = 0.0, dof: float | None = None
) -> Comparison:
    """Is ``value`` below ``bound``?

    The mirror image of :func:`iclutils.ground.statistics.greater`.
    """
    bound = _bound("bound", bound)
    return _comparison(LESS, _estimate(value, se, dof), bound, f"< {bound:.4g}")


def judged(test: str, value: float, half_width: float, bound: float, margin: float) -> str:
    """The outcome of one comparison, by the rules of :func:`equal` and :func:`greater`."""
    if test == EQUAL:
        distance = abs(value - bound)
        if distance > margin + half_width:
            return CONTRADICTED
        return SUPPORTED if distance + half_width <= margin else UNDECIDED
    gap = value - bound if test == GREATER else bound - value
    if gap > half_width:
        return SUPPORTED
    return CONTRADICTED if gap < -half_width else UNDECIDED


def _comparison(
    test: str, found: Estimate, bound: float, against: str, margin: float = 0.0
) -> Comparison:
    half_width = found.half_width
    outcome = judged(test, found.value, half_width, bound, margin)
    dof = found.dof if half_width and math.isfinite(found.dof) else None
    return Comparison(found.value, half_width, against, outcome, test, bound, margin, dof)


def _bound(name: str, value: float) -> float:
    """A finite number: no value could ever be told from an infinite bound."""
    number = arguments.real(name, value)
    if not math.isfinite(number):
        hint = "use greater or less where one side is open"
        raise ValueError(f"{name} must be a finite number; got {number} ({hint})")
    return number


def _number(name: str, value: object) -> float:
    number = arguments.real(name, value)
    if math.isnan(number):
        raise ValueError(f"{name} must be a number; got nan")
    return number


def _estimate(value: float | Estimate, se: float, dof: float | None) -> Estimate:
    if isinstance(value, Estimate):
        if se or dof is not None:
            raise ValueError("se and dof must be absent where value is an Estimate")
        se = value.se
        dof = value.dof
        value = value.value
    se = arguments.nonnegative("se", float(se))
    if se and dof is None:
        raise ValueError(f"dof must be given with se = {se:g}; math.inf where se is known exactly")
    return Estimate(_number("value", value), se, math.inf if dof is None else dof)
