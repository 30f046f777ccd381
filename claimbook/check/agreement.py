"""When two runs agree on a number, and how far apart they are where they do not."""

import math

from claimbook.ledger.text import Number

EXACT_TOLERANCE = 1e-3  # of a computed number, relative: another machine rounds differently
EXACT_ZERO = 1e-10  # the same where the number is rounding itself: a hundred times its size
USUAL_DOF = 63  # behind a half-width that does not say them: 64 trials are usual
ERRORS = 3.0  # by so many standard errors may the logarithm of a half-width differ
LEAST_CHANGE = 0.01  # of a half-width, relative: known as well as a number can be


def moved(expected: Number, found: Number, dof: float = USUAL_DOF) -> str:
    """Say how a number differs from what it was; nothing where the two agree.

    They agree where :func:`distance` is at most 1; ``dof`` are the degrees of freedom behind the
    half-width, infinite where that is known.
    """
    if distance(expected, found, dof) <= 1:
        return ""
    change = found.value - expected.value
    widths = (expected.half_width, found.half_width)
    if not any(widths):
        return f"the computed value changed by {change:+.3g}"
    if not all(widths):
        return "one of the two values is computed and the other sampled"
    if abs(change) > min(widths):
        times = abs(change) / min(widths)
        return f"the value moved by {abs(change):.3g}, which is {times:.3g} times the smaller ±"
    allowed = f"it may change by {half_width_factor(dof):.3g}"
    return f"the half-width changed by the factor {widths[1] / widths[0]:.3g}; {allowed}"


def distance(expected: Number, found: Number, dof: float = USUAL_DOF) -> float:
    """Measure how far a number moved, in units of how far it may.

    A sampled value may move by its half-width, the smaller one of the two, and the half-width by
    :func:`half_width_factor`. A computed number, which has none, may move by
    :data:`EXACT_TOLERANCE` of it, and one that is 0 by :data:`EXACT_ZERO`.
    """
    if expected == found:
        return 0.0
    change = abs(found.value - expected.value)
    widths = (expected.half_width, found.half_width)
    if not all(widths):
        allowed = max(EXACT_TOLERANCE * abs(expected.value), EXACT_ZERO)
        return math.inf if any(widths) else change / allowed
    return max(change / min(widths), width_distance(*widths, dof))


def width_distance(
    expected: float, found: float, dof: float = USUAL_DOF, room: float | None = None
) -> float:
    """Measure how far a half-width changed, in units of how far it may.

    ``room`` is what rounding may do: a unit of the second digit, to which half-widths are written.
    """
    low, high = sorted((expected, found))
    if low == high or not math.isfinite(high):
        return 0.0 if low == high else math.inf
    if room is None:
        room = 10.0 ** (math.floor(math.log10(high)) - 1) * (1 + 1e-9)
    grown = 1 + max(0.0, high - low - room) / low
    return math.log(grown) / math.log(half_width_factor(dof))


def half_width_factor(dof: float) -> float:
    r"""Compute by which factor half-widths with so many degrees of freedom may differ.

    It is itself a sample: the logarithm of the ratio of two, from trials of one law, has the
    standard error :math:`1/\sqrt{\nu}` with ν degrees of freedom. Three of them are allowed.

    >>> [round(half_width_factor(dof), 2) for dof in (9, 19, 63, 999)]
    [2.72, 1.99, 1.46, 1.1]
    """
    return math.exp(max(ERRORS / math.sqrt(dof), LEAST_CHANGE))
