"""Statistics that are not means, with their error from leaving trials out."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats.combinations import weighted
from iclutils.stats.estimate import Estimate
from iclutils.stats.fits import Points, parabola_top
from iclutils.stats.means import estimate


def jackknife(function: Callable[[Tensor], float], samples: Float[Tensor, "*rest T"]) -> Estimate:
    r"""``function(samples)`` with its error from leaving out one of T ≥ 2 trials at a time.

    The trials are the last axis; there are T − 1 degrees of freedom. Raises ``ValueError`` for
    fewer than 2, and where the function of them is not finite.

    >>> mean = jackknife(lambda s: float(s.mean()), torch.tensor([1.0, 2.0, 3.0, 4.0]))
    >>> round(mean.value, 4), round(mean.se, 4)  # of a mean it is the usual standard error
    (2.5, 0.6455)
    """
    trials = samples.shape[-1]
    validation.whole("trials", trials, low=2)
    others = ~torch.eye(trials, dtype=torch.bool)
    without = [function(samples[..., others[i]]) for i in range(trials)]
    return _with_left_out(function(samples), without)


def typical_deviation(
    sets: Float[Tensor, "points T"], theory: Float[Tensor, " points"]
) -> Estimate:
    r"""Compute the root mean square, over points, of the means' relative deviation from a theory.

    .. math:: \Big(\frac1P\sum_p\big(\bar y_p/\hat y_p - 1\big)^2\Big)^{1/2}

    By the jackknife over the T ≥ 2 trials, which all points share. NaN marks a trial that a point
    does not have. Raises ``ValueError`` for another number of points and as :func:`jackknife`.

    >>> sets = torch.tensor([[1.0, 1.2], [1.8, 2.0]])  # by 10 % and 5 %
    >>> round(typical_deviation(sets, torch.tensor([1.0, 2.0])).value, 3)
    0.079
    """
    points = validation.shape("theory", theory, "points")["points"]
    validation.shape("sets", sets, "points T", points=points)
    return jackknife(
        lambda some: float((some.nanmean(-1) / theory - 1).square().mean().sqrt()), sets
    )


def _with_left_out(value: float, without: Sequence[float]) -> Estimate:
    """Return a statistic with its error from what it is with each of the trials left out."""
    left_out = torch.tensor(without, dtype=torch.float64)
    se = jackknife_se(validation.finite("function(samples), with one left out,", left_out))
    return Estimate(value, se, len(without) - 1)


def jackknife_se(without: Float[Tensor, " T"]) -> float:
    r"""Compute the jackknife's standard error from a statistic with each of T trials left out.

    .. math:: se^2 = \frac{T-1}{T}\sum_i\bigl(f_{-i} - \overline{f_{-i}}\bigr)^2

    It is 0 for T = 1. Raises ``ValueError`` for T = 0, NaN and infinity.
    """
    validation.finite("without", without)
    trials = validation.whole("the number of trials in without", without.shape[-1])
    return float(((trials - 1) * without.var(correction=0)).sqrt())


def of_means(
    function: Callable[[Float[Tensor, "*rest"]], float | Tensor],
    samples: Float[Tensor, "*rest T"],
) -> Estimate:
    """Compute a function of the means over T ≥ 2 trials, the last axis, by the jackknife.

    Raises ``ValueError`` as :func:`iclutils.stats.jackknife`.

    >>> ratio = of_means(lambda m: m[0] / m[1], torch.tensor([[2.0, 4.0], [1.0, 2.0]]))
    >>> ratio.value, ratio.se
    (2.0, 0.0)
    """
    trials = samples.shape[-1]
    validation.whole("trials", trials, low=2)
    # the means without one trial, all at once: leaving it out is a subtraction
    means = (samples.sum(-1, keepdim=True) - samples) / (trials - 1)
    without = [float(function(mean)) for mean in means.unbind(-1)]
    return _with_left_out(float(function(samples.mean(-1))), without)


def ratio(above: Float[Tensor, " T"], below: Float[Tensor, " T"], *, log: bool = False) -> Estimate:
    """Compute the ratio of two means over the same T ≥ 2 trials, or its natural logarithm.

    By the jackknife, which leaves a trial out of both. Raises ``ValueError`` for unequal numbers of
    trials and as :func:`iclutils.stats.jackknife`.

    >>> ratio(torch.tensor([2.0, 4.0]), torch.tensor([1.0, 2.0])).value
    2.0
    """
    size = validation.shape("above", above, "T")["T"]
    validation.shape("below", below, "T", T=size)
    pairs = torch.stack([above, below])
    if validation.flag("log", log):
        return of_means(lambda mean: (mean[0] / mean[1]).log(), pairs)
    return of_means(lambda mean: mean[0] / mean[1], pairs)


def crossed(
    function: Callable[[Float[Tensor, "*rest c t"]], float | Tensor],
    samples: Float[Tensor, "*rest C T"],
) -> Estimate:
    r"""Estimate a statistic of T trials that were all measured on the same C contexts.

    The last two axes are contexts and trials; the function is told fewer of either. Of both sources
    of chance the jackknife gives an error, and

    .. math:: se^2 = se_{\rm contexts}^2 + se_{\rm trials}^2,

    which counts what is peculiar to a pair of context and trial twice: for a mean the variance is
    :math:`A/C + B/T + E/(CT)`, and what is estimated is :math:`A/C + B/T + 2E/(CT)`, so that the
    error is never too small and at most :math:`\sqrt 2` times too large. The degrees of freedom
    are Welch and Satterthwaite's. What depends on the contexts alone is expanded along the trials.
    Raises ``ValueError`` for fewer than 2 contexts or trials.

    >>> table = torch.tensor([[1.0, 1.0], [3.0, 3.0]])  # the contexts differ, the trials do not
    >>> mean = crossed(lambda both: both.mean(), table)
    >>> mean.value, mean.se, mean.dof
    (2.0, 1.0, 1.0)
    """
    by_trial = jackknife(lambda part: float(function(part)), samples)
    by_context = jackknife(lambda part: float(function(part.mT)), samples.mT)
    return _of_both(by_context, by_trial)


def crossed_mean(samples: Float[Tensor, "C T"]) -> Estimate:
    """Estimate the mean as :func:`crossed` does: of a mean, the jackknife's error is the usual one.

    Raises ``ValueError`` for another shape and as ``crossed`` does.

    >>> crossed_mean(torch.tensor([[1.0, 1.0], [3.0, 3.0]]))
    Estimate(value=2.0, se=1.0, dof=1.0)
    """
    validation.shape("samples", samples, "C T")
    by_context, by_trial = estimate(samples.mean(1)), estimate(samples.mean(0))
    return _of_both(by_context, by_trial)


def _of_both(by_context: Estimate, by_trial: Estimate) -> Estimate:
    """Return a statistic with the errors from contexts and from trials."""
    both = weighted([1.0, 1.0], [by_context, by_trial])
    return Estimate(by_trial.value, both.se, both.dof)


def share_of_fall(samples: Float[Tensor, "4 T"]) -> Estimate:
    r"""How much of a fall lies between two places on the way.

    .. math:: \frac{m_1 - m_2}{m_0 - m_3}

    ``samples`` are T ≥ 2 independent trials at the start, the two places and the end; the m are
    their means. Raises ``ValueError`` for another shape and for fewer trials.
    """
    validation.shape("samples", samples, "4 T")
    return of_means(lambda m: (m[1] - m[2]) / (m[0] - m[3]), samples)


def unexplained(left: Float[Tensor, "P T"], whole: Float[Tensor, "P T"]) -> Estimate:
    r"""How much of a deviation at P places a theory leaves, by the jackknife.

    .. math:: \Bigl(\sum_i \bar l_i^2\Bigr)^{1/2} \Big/ \Bigl(\sum_i \bar w_i^2\Bigr)^{1/2}

    ``left`` is what is left in each of T ≥ 2 trials, ``whole`` the deviation of the same trials; a
    bar is the mean over them. Raises ``ValueError`` for two shapes and for fewer trials.

    >>> unexplained(torch.tensor([[1.0, 1.0]]), torch.tensor([[2.0, 2.0]])).value
    0.5
    """
    return jackknife(_norms, _paired(left, whole))


def proportion(measured: Float[Tensor, "P T"], predicted: Float[Tensor, "P T"]) -> Estimate:
    r"""How many times a prediction is there: least squares through the origin, by the jackknife.

    .. math:: \sum_i \bar m_i\bar p_i \Big/ \sum_i \bar p_i^2

    ``measured`` and ``predicted`` are of the same T ≥ 2 trials at P places; a bar is the mean over
    trials. Raises ``ValueError`` for two shapes and for fewer trials.

    >>> proportion(torch.tensor([[3.0, 3.0]]), torch.tensor([[2.0, 2.0]])).value
    1.5
    """
    return jackknife(_through_origin, _paired(measured, predicted))


def _paired(first: Float[Tensor, "P T"], second: Float[Tensor, "P T"]) -> Float[Tensor, "2 P T"]:
    sizes = validation.shape("the first of the two", first, "P T")
    validation.shape("the second of the two", second, "P T", P=sizes["P"], T=sizes["T"])
    return torch.stack([first, second])


def _norms(both: Float[Tensor, "2 P T"]) -> float:
    left, whole = both.mean(-1)
    return float(left.norm() / whole.norm())


def _through_origin(both: Float[Tensor, "2 P T"]) -> float:
    measured, predicted = both.mean(-1)
    return float((measured * predicted).sum() / predicted.square().sum())


def summit(x: Points, samples: Float[Tensor, "P T"], nearest: int | None = None) -> Estimate:
    """Return the x at the top of the parabola through the means of T ≥ 2 trials at P places.

    See :func:`iclutils.stats.parabola_top`, also for ``nearest`` and for what is
    raised; the error is the jackknife's.
    """
    validation.shape("samples", samples, "P T")
    return of_means(lambda means: parabola_top(x, means, nearest), samples)
