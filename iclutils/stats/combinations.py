"""Estimates made of other estimates, and differences between means."""

import math
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats.estimate import Estimate
from iclutils.stats.fits import Points
from iclutils.stats.means import estimate, mean_se


def weighted(weights: Points, estimates: Iterable[Estimate]) -> Estimate:
    r"""Add independent estimates with weights; Welch and Satterthwaite's degrees of freedom.

    .. math:: \sum_i c_i m_i, \qquad se^2 = \sum_i c_i^2 se_i^2, \qquad
        \frac{1}{\nu} = \sum_i \frac{r_i^2}{\nu_i}, \quad r_i = \frac{c_i^2 se_i^2}{se^2}

    ``weights`` are the c, one for each of the m. Raises ``ValueError`` for unequal numbers of them,
    for none, for a weight that is not finite, and for a NaN, a negative error or degrees of freedom
    that are not positive among them.

    >>> weighted([0.5, 0.5], [Estimate(1.0, 0.2, 9), Estimate(2.0, 0.2, 9)]).value
    1.5
    """
    parts = list(estimates)
    c = validation.finite("weights", torch.as_tensor(weights, dtype=torch.float64)).tolist()
    if not parts or len(c) != len(parts):
        raise ValueError(f"weights must be one for each estimate; got {len(c)} for {len(parts)}")
    _check(parts)
    errors = [factor * part.se for factor, part in zip(c, parts, strict=True)]
    value = sum(factor * part.value for factor, part in zip(c, parts, strict=True))
    se = math.hypot(*errors)
    inverse = 0.0
    if se > 0:
        inverse = sum((e / se) ** 4 / part.dof for e, part in zip(errors, parts, strict=True))
    return Estimate(value, se, 1 / inverse if inverse > 0 else math.inf)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """``first − second`` of two independent estimates, with Welch's degrees of freedom.

    See :func:`iclutils.stats.weighted`.

    >>> round(difference(Estimate(3.0, 0.1, 9), Estimate(1.0, 0.1, 9)).dof)
    18
    """
    return weighted([1.0, -1.0], [first, second])


def log_ratio(first: Estimate, second: Estimate) -> Estimate:
    """Take the log of ``first / second``, independent and both above zero, by the delta method.

    Raises ``ValueError`` where a value is not above zero.

    >>> round(log_ratio(Estimate(4.0, 0.1, 9), Estimate(2.0, 0.1, 9)).value, 6)
    0.693147
    """
    return difference(first.log(), second.log())


def mean_difference(first: Float[Tensor, " T1"], second: Float[Tensor, " T2"]) -> Estimate:
    """Compute the mean of independent trials less that of others.

    For trials in pairs it is ``estimate(first - second)``. Raises ``ValueError`` for fewer than two
    trials, NaN or infinity.
    """
    return difference(estimate(first), estimate(second))


def steps(samples: Float[Tensor, "S T"], *, paired: bool = False) -> list[Estimate]:
    """By how much the mean over T trials rises from each of S settings to the next.

    ``paired=True`` uses the trial-wise differences (the same random stream in both settings);
    otherwise the settings are independent. Returns S − 1 estimates. Raises ``ValueError`` for
    another shape, fewer than 2 trials, NaN or infinity.

    >>> [step.value for step in steps(torch.tensor([[1.0, 3.0], [4.0, 6.0], [2.0, 2.0]]))]
    [3.0, -3.0]
    """
    size = validation.shape("samples", samples, "S T")["S"]
    if validation.flag("paired", paired):
        means = mean_se(samples.diff(dim=0), 1)
        return [means.at(i) for i in range(size - 1)]
    means = mean_se(samples, 1)
    return [difference(means.at(i + 1), means.at(i)) for i in range(size - 1)]


def slope(x: Points, estimates: Iterable[Estimate]) -> Estimate:
    r"""Compute the slope of the least-squares line through independent estimates at P ≥ 2 places x.

    .. math:: \sum_i c_i m_i, \qquad c_i = \frac{x_i - \bar x}{\sum_j (x_j - \bar x)^2}

    All points count alike and the error is propagated from theirs, so that the scatter around the
    line has no say; :func:`iclutils.stats.line` weighs the points and looks at it.
    Raises ``ValueError`` for points at a single x and as
    :func:`iclutils.stats.weighted`.

    >>> slope([0.0, 1.0, 2.0], [Estimate(1.0 + 2 * i, 0.1, 9) for i in range(3)]).value
    2.0
    """
    places = validation.finite("x", torch.as_tensor(x, dtype=torch.float64))
    centred = places - places.mean()
    spread = centred.square().sum()
    if not float(spread) > 0:
        raise ValueError(f"x must hold at least two different points; got {places.tolist()}")
    return weighted(centred / spread, estimates)


def root_mean_square(deviations: Sequence[Estimate]) -> Estimate:
    r"""Compute the root mean square of independent estimates, its error by the delta method.

    .. math:: R = \Bigl(\frac1P \sum_i m_i^2\Bigr)^{1/2}, \qquad
        \frac{\partial R}{\partial m_i} = \frac{m_i}{P R}

    Noise makes it larger, never smaller. Raises ``ValueError`` for none, and where all are zero.
    """
    size = validation.whole("number of deviations", len(deviations))
    root = math.sqrt(sum(part.value**2 for part in deviations) / size)
    if root == 0:
        raise ValueError("deviations must not all be zero: their root mean square has no error")
    error = weighted([part.value / (size * root) for part in deviations], deviations)
    return Estimate(root, error.se, error.dof)


def relative_root_mean_square(
    measured: Sequence[Estimate], expected: Sequence[Estimate]
) -> Estimate:
    r"""Compute the root mean square of :math:`(m_i - w_i)/w_i`, m ``measured`` and w ``expected``.

    All are independent; the divisor counts as known. Raises ``ValueError`` for unequal numbers of
    them and as :func:`iclutils.stats.root_mean_square`.

    >>> hit, expected = Estimate(1.1, 0.0, 9), Estimate(1.0, 0.0, 9)
    >>> round(relative_root_mean_square([hit], [expected]).value, 6)
    0.1
    """
    pairs = zip(measured, expected, strict=True)
    return root_mean_square([difference(one, other) / other.value for one, other in pairs])


def intercept(x: Points, samples: Float[Tensor, "P T"]) -> Estimate:
    r"""Average the heights at x = 0 of the least-squares lines of T trials through P ≥ 2 places.

    .. math:: \bar y - \bar x\,\frac{\sum_i (x_i - \bar x)y_i}{\sum_i (x_i - \bar x)^2}

    Each trial has a line of its own, so that what its places share does no harm. Raises
    ``ValueError`` for another shape, for fewer than 2 trials and for places at a single x.

    >>> intercept([1.0, 2.0], torch.tensor([[3.0, 3.0], [5.0, 5.0]]))
    Estimate(value=1.0, se=0.0, dof=1)
    """
    places = validation.finite("x", torch.as_tensor(x, dtype=torch.float64))
    validation.shape("samples", samples, "P T", P=len(places))
    centred = places - places.mean()
    spread = centred.square().sum()
    if not float(spread) > 0:
        raise ValueError(f"x must hold at least two different points; got {places.tolist()}")
    slopes = (centred[:, None] * samples).sum(0) / spread
    return estimate(samples.mean(0) - slopes * places.mean())


def correlation(first: Float[Tensor, "T P"], second: Float[Tensor, "T P"]) -> Estimate:
    r"""Compute the mean over T ≥ 2 trials of Pearson's correlation of two series of P ≥ 2 numbers.

    Raises ``ValueError`` for two shapes, for fewer trials, and where a series is constant.

    >>> rising = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    >>> round(correlation(rising, -rising).value, 6)
    -1.0
    """
    sizes = validation.shape("first", first, "T P")
    validation.shape("second", second, "T P", T=sizes["T"], P=sizes["P"])
    pairs = torch.stack([first, second], 1)
    return estimate(torch.stack([torch.corrcoef(pair)[0, 1] for pair in pairs]))


def lowest(estimates: Iterable[Estimate]) -> Estimate:
    """Return the one whose interval ends lowest: what a bound from below has to face.

    Raises ``ValueError`` for none, and for a NaN, a negative error or degrees of freedom that are
    not positive among them.
    """
    parts = list(estimates)
    if not parts:
        raise ValueError("estimates must hold at least one; got none")
    _check(parts)
    return min(parts, key=lambda one: one.value - one.half_width)


def _check(estimates: Iterable[Estimate]) -> None:
    """Refuse what is no estimate: a NaN, a negative error, no degrees of freedom."""
    for one in estimates:
        if math.isnan(one.value) or not one.se >= 0:
            raise ValueError(f"estimates must have a value and an error, zero or above; got {one}")
        if not one.dof > 0:
            raise ValueError(f"estimates must have positive degrees of freedom; got {one}")
