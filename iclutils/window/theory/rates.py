r"""How fast the best window narrows: exponents of w* in :math:`\Lambda=nL^2/\sigma^2`.

For n → ∞ at fixed σ²/n they follow from the closed form; the classical bandwidths of kernel
regression give 2/(d + 3) for smooth tasks and 2/(d + 2) for tasks with a kink. Along a path on
which the noise falls with n, what a finite context adds to the signal counts too, and without noise
it alone decides. The sketch of the
proof of Theorem 3.4 of Collins et al. has a plain average over a cap in the place of softmax.
"""

import functools
import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import sphere, validation
from iclutils.stats import Estimate, exact, jackknife_se
from iclutils.stats import exponent as fitted_exponent
from iclutils.window.function_classes import Affine, ReLU
from iclutils.window.theory import best_window, population_loss
from iclutils.window.theory.population_loss import Isotropic, PopulationLoss

LONG = (-0.5, 5.5)  # powers of ten between which w runs where n is infinite
CAPS = (0.0, 4.5)  # the same for the plain average over a cap
POINTS = 120
DECADES = (8, 9, 10)  # powers of ten that n takes along a path
WIDEST = 60000.0  # the longest grid of w along a path
FINE = 161  # its points


# the exponents of w* in Λ that Theorem 3.4 prints: from, to; of two readings for affine tasks
PRINTED: dict[str, dict[str, Callable[[int], tuple[float, float]]]] = {
    "affine": {
        "smaller reading": lambda d: (1 / (d + 4), 2 / (d + 4)),
        "larger reading": lambda d: (1 / (d + 4), 2 * (d + 2) / d / (d + 4)),
    },
    "relu": {"Theorem 3.4": lambda d: (1 / (d + 2), 2 / (d + 2))},
}


@functools.cache
def endless(d: int) -> PopulationLoss:
    """Compute the loss for n → ∞ with one token's noise, σ² instead of σ²/n, over six decades of w.

    Raises ``ValueError`` for d below 2, ``TypeError`` for a d that is not whole.
    """
    validation.whole("d", d, low=2)
    w = torch.logspace(*LONG, POINTS, dtype=torch.float64)
    return population_loss.limit(d, 1, w=w)


def exponent(function: Isotropic) -> Estimate:
    r"""Return the p of :math:`w^*\sim\Lambda^p` for :math:`\Lambda\to\infty`, n → ∞ at fixed σ²/n.

    It is one over the exponent of Λ in w*, the local slope of the closed form extrapolated to
    w → ∞. The standard error is the last correction of the extrapolation.

    >>> from iclutils.window.function_classes import Affine
    >>> round(exponent(Affine(5)).value, 4)  # 2/(d + 3)
    0.25
    """
    loss = endless(function.d)
    return _inverse(best_window.power(loss.w, loss.optimal_for(function)).estimate)


def measured_exponent(
    function: Isotropic,
    n: int,
    sample: PopulationLoss,
    limit: PopulationLoss,
    windows: Float[Tensor, " windows"],
) -> Estimate:
    r"""Measure the exponent of w* in Λ at prompts of n tokens.

    It is the slope of the best windows of ``sample`` at the values of Λ where those of ``limit``
    are ``windows``; its standard error is the jackknife's over the batches of ``sample``.
    """
    needed = limit.optimal_for(function)
    near = (limit.w - windows[:, None]).abs().argmin(dim=1)
    ratios = needed[near].tolist()
    best = [sample.best_window(function, (n / ratio) ** 0.5) for ratio in ratios]
    batches = torch.stack([one.replicas for one in best]).T
    slopes = [fitted_exponent(ratios, batch.tolist()).slope for batch in batches]
    se = jackknife_se(torch.tensor(slopes, dtype=torch.float64))
    return Estimate(fitted_exponent(ratios, [one.w for one in best]).slope, se, len(slopes) - 1)


def edge_exponent(function: Isotropic, delta: float) -> Estimate:
    r"""Compute the exponent of :math:`w^*` in Λ, n = 10⁹ to 10¹⁰ and :math:`\sigma^2=n^{-\delta}`.

    .. math:: \frac{\log_{10}w^*(10n)-\log_{10}w^*(n)}{1+\delta},\qquad L=1

    The closed form has the term that a finite context adds to the signal. The interval's half
    length is the change of the slope over a decade of n. Raises ``ValueError`` unless ``delta`` is
    zero or above.
    """
    validation.nonnegative("delta", delta)
    slopes = _slopes(_path(function, lambda n: n ** (-delta / 2)))
    return exact(slopes[-1], within=abs(slopes[-1] - slopes[0])) / (1 + delta)


def noiseless_exponent(function: Isotropic) -> Estimate:
    r"""Compute the exponent of :math:`w^*` in n between n = 10⁹ and 10¹⁰ without noise.

    The scatter :math:`L^2w^{(d-3)/2}/n` of the task's own values is balanced against the bias:
    2/d for ReLU tasks, 2/(d + 1) for affine ones. The interval's half length is the change of the
    slope over a decade of n. Raises ``ValueError`` for d below 4, where scatter does not grow with
    w.
    """
    validation.whole("function.d", function.d, low=4)
    slopes = _slopes(_path(function, lambda n: 0.0))
    return exact(slopes[-1], within=abs(slopes[-1] - slopes[0]))


def _path(function: Isotropic, noise: Callable[[int], float]) -> list[float]:
    """Compute the best windows for each n of the path, in closed form with the sampling term."""
    grid = best_window.grid(WIDEST, FINE)
    lengths = [10**decade for decade in DECADES]
    losses = [population_loss.limit(function.d, n, w=grid, sampling=True) for n in lengths]
    return [loss.best_window(function, noise(n)).w for n, loss in zip(lengths, losses, strict=True)]


def _slopes(windows: list[float]) -> list[float]:
    """Exponents in n between neighbouring decades."""
    return [math.log10(b / a) for a, b in itertools.pairwise(windows)]


class CapExponents(NamedTuple):
    """Exponents of the plain average over a cap: bias² and noise in w, the best window in Λ."""

    bias: Estimate
    noise: Estimate
    window: Estimate


def cap_exponents(d: int) -> CapExponents:
    r"""Bias², noise and best window of the plain average over :math:`\|x_i-x\|^2\le1/w`.

    For affine tasks bias² is :math:`(1-\bar t)^2` with the mean :math:`\bar t` of
    :math:`x_i^\top x` over the cap, the noise one over the cap's share of the sphere. A sum
    :math:`Aw^{-p}+Bw^q/\Lambda` is least at :math:`w\sim\Lambda^{1/(p+q)}`. Raises ``ValueError``
    for d below 2.

    >>> [round(exponent.value, 3) for exponent in cap_exponents(5)]
    [-2.0, 2.0, 0.25]
    """
    validation.whole("d", d, low=2)
    w = torch.logspace(*CAPS, POINTS, dtype=torch.float64)
    noise = best_window.power(w, 1 / sphere.cap_area(1 / (2 * w), d)).estimate
    bias = best_window.power(w, (1 - cap_mean(w, d)).square()).estimate
    both = Estimate(noise.value - bias.value, noise.se + bias.se, math.inf)
    return CapExponents(bias, noise, _inverse(both))


def cap_mean(w: Float[Tensor, " windows"], d: int) -> Float[Tensor, " windows"]:
    r"""Compute the mean of :math:`t=x_i^\top x` over the cap :math:`\|x_i-x\|^2\le1/w`, w ≥ 1/2.

    The cap's height is :math:`\epsilon=1/(2w)`, its share of the sphere :math:`A(\epsilon)`, and

    .. math:: \bar t = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d-1)/2)}\,
        \frac{(2\epsilon-\epsilon^2)^{(d-1)/2}}{(d-1)\,A(\epsilon)}
    """
    height = 1 / (2 * w)
    density = math.gamma(d / 2) / (math.pi**0.5 * math.gamma((d - 1) / 2))
    edge = (2 * height - height**2) ** ((d - 1) / 2)
    mean: Tensor = density * edge / (d - 1) / sphere.cap_area(height, d)
    return mean


def _inverse(exponent: Estimate) -> Estimate:
    """One over it, by the delta method."""
    return Estimate(1 / exponent.value, exponent.se / exponent.value**2, exponent.dof)


TOKENS = 10**12  # any number: in the limit only σ²/n counts
EDGE = 10  # points from the end, where finite differences are poor
DECADE = 67  # of the 200 points of the grid, for three decades of w


class Exponents(NamedTuple):
    r"""Exponents in Λ: of the window, of the loss over :math:`L'^2`, of n times the noise term."""

    window: Estimate
    loss: Estimate
    noise: Estimate


@functools.cache
def along_best_window(function: Affine | ReLU, ratio: float = 2.0) -> Exponents:
    r"""Compute the exponents in Λ along :math:`w^*(\Lambda)` of a class that L multiplies.

    ``ratio`` is :math:`L'/L` of the tasks on which the loss is taken. Each exponent is a computed
    number whose interval is its change over a decade of w. Raises ``ValueError`` for a ``ratio``
    that is not positive.

    >>> powers = along_best_window(ReLU(5))
    >>> round(powers.window.value, 2), round(powers.loss.value, 2), round(powers.noise.value, 2)
    (0.28, -0.43, 0.56)
    """
    validation.positive("ratio", ratio)
    largest = 3e3 if function.d < 10 else 1e3
    w = torch.logspace(0.5, math.log10(largest), 200, dtype=torch.float64)
    degrees = population_loss.even_degrees(8 * math.ceil(largest**0.5 / 2))
    far = population_loss.limit(function.d, TOKENS, w=w, degrees=degrees)
    signal = far.signal(function) / function.L**2
    noise = TOKENS * far.noise(1.0)
    u = w.log()
    falls, rises = (torch.gradient(part, spacing=(u,))[0] for part in (signal, noise))
    log_scale = (-rises / falls).log()
    log_loss = (signal + noise / (log_scale.exp() * ratio**2)).log()
    slopes = (torch.gradient(y, spacing=(log_scale,))[0] for y in (u, log_loss, noise.log()))
    return Exponents(*(_settled(slope, DECADE) for slope in slopes))


def noise_drift(d: float) -> float:
    """By how much the exponent of the ReLU noise term changes over the last decade of w.

    The corrections to the limit are powers of :math:`w^{-1/2}`, so that less than this is left.
    """
    return along_best_window(ReLU(int(d))).noise.half_width


def any_task(d: int) -> Estimate:
    r"""Compute the exponent in Λ of a bound that is true for every L-Lipschitz task.

    .. math:: 2\big(1-r_1(w)\big) + T(w)/\Lambda

    at the ReLU class's :math:`w^*(\Lambda)`, where :math:`r_1` is the mean of :math:`x_i^\top x`
    over the window: the weights sum to one, so that the squared bias is at most
    :math:`L^2\sum_i\gamma_i\lVert x_i-x\rVert^2`.
    """
    w = torch.logspace(0.5, 3.0, 150, dtype=torch.float64)
    far = population_loss.limit(d, TOKENS, w=w)
    scale = far.optimal_for(ReLU(d))
    mean = sphere.tilted_average(w, d, torch.tensor([1]))[:, 0]
    bound = 2 * (1 - mean) + TOKENS * far.noise(1.0) / scale
    slopes = torch.gradient(bound.log(), spacing=(scale.log(),))[0]
    return _settled(slopes, 60)


def over_e3_minimum(loss: Estimate, d: int, shrink: float, first: float = 2.0) -> Estimate:
    r"""Compute the exponent in Λ of the loss over Theorem E.3's minimum, along small labels.

    .. math:: \min\{L'^2\Lambda^{-\texttt{first}/(d+2)},\ \Lambda^{d/(2(d+2))}/n\},
        \qquad n=\Lambda^2,\quad L\propto L'\propto\Lambda^{-\texttt{shrink}}

    ``loss`` is the exponent of the loss over :math:`L'^2`. Collins et al. print ``first`` = 2;
    with 4 the first bound is the one that their proof supports.
    """
    member = -2 * shrink - first / (d + 2)
    other = d / (2 * (d + 2)) - 2.0
    return loss - (2 * shrink + min(member, other))


def _settled(slopes: Float[Tensor, " windows"], decade: int) -> Estimate:
    """Read off the slope near the grid's end, right to its change over the ``decade`` before."""
    last = float(slopes[-EDGE])
    return exact(last, within=abs(last - float(slopes[-EDGE - decade])))
