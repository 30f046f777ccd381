r"""Exponents in Λ along the best window, for infinite contexts in closed form (chapter 2).

At fixed :math:`\sigma^2/n` the loss over :math:`L^2` is :math:`S(w)+T(w)/\Lambda`, with
:math:`\Lambda=nL^2/\sigma^2` and :math:`T=nN`
(:func:`iclutils.window.theory.isotropic.limit`). So every window is the best one for exactly one
:math:`\Lambda=-T'(w)/S'(w)`, and exponents in Λ are slopes along w. They are read near the end of
the grid, and their change over the last decade of w says how far they have settled.
"""

import functools
import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import sphere, validation
from iclutils.ground.statistics import Estimate, exact
from iclutils.window.functions import Affine, ReLU
from iclutils.window.theory import isotropic

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
    r"""The exponents in Λ along :math:`w^*(\Lambda)` of a class that L multiplies.

    ``ratio`` is :math:`L'/L` of the tasks on which the loss is taken. Each exponent is a computed
    number whose interval is its change over a decade of w. Raises ``ValueError`` for a ``ratio``
    that is not positive.

    >>> found = along_best_window(ReLU(5))
    >>> round(found.window.value, 2), round(found.loss.value, 2), round(found.noise.value, 2)
    (0.28, -0.43, 0.56)
    """
    validation.positive("ratio", ratio)
    largest = 3e3 if function.d < 10 else 1e3
    w = torch.logspace(0.5, math.log10(largest), 200, dtype=torch.float64)
    degrees = isotropic.even_degrees(8 * math.ceil(largest**0.5 / 2))
    far = isotropic.limit(function.d, TOKENS, w=w, degrees=degrees)
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
    r"""The exponent in Λ of a bound that is true for every L-Lipschitz task.

    .. math:: 2\big(1-r_1(w)\big) + T(w)/\Lambda

    at the ReLU class's :math:`w^*(\Lambda)`, where :math:`r_1` is the mean of :math:`x_i^\top x`
    over the window: the weights sum to one, so that the squared bias is at most
    :math:`L^2\sum_i\gamma_i\lVert x_i-x\rVert^2`.
    """
    w = torch.logspace(0.5, 3.0, 150, dtype=torch.float64)
    far = isotropic.limit(d, TOKENS, w=w)
    scale = far.optimal_for(ReLU(d))
    mean = sphere.tilted_average(w, d, torch.tensor([1]))[:, 0]
    bound = 2 * (1 - mean) + TOKENS * far.noise(1.0) / scale
    slopes = torch.gradient(bound.log(), spacing=(scale.log(),))[0]
    return _settled(slopes, 60)


def over_e3_minimum(loss: Estimate, d: int, shrink: float, first: float = 2.0) -> Estimate:
    r"""The exponent in Λ of the loss over Theorem E.3's minimum, along small labels.

    .. math:: \min\{L'^2\Lambda^{-\texttt{first}/(d+2)},\ \Lambda^{d/(2(d+2))}/n\},
        \qquad n=\Lambda^2,\quad L\propto L'\propto\Lambda^{-\texttt{shrink}}

    ``loss`` is the exponent of the loss over :math:`L'^2`. Collins et al. print ``first`` = 2;
    with 4 the first bound is the one that their proof supports.
    """
    member = -2 * shrink - first / (d + 2)
    other = d / (2 * (d + 2)) - 2.0
    return loss - (2 * shrink + min(member, other))


def _settled(slopes: Float[Tensor, " windows"], decade: int) -> Estimate:
    """The slope near the grid's end, right to its change over the ``decade`` points before."""
    last = float(slopes[-EDGE])
    return exact(last, within=abs(last - float(slopes[-EDGE - decade])))
