"""Is the best matrix a multiple of the identity? Statistics of minimisers over sets of contexts.

:func:`iclutils.window.theory.matrix.best_matrix` finds the best M in each of S independent sets of
contexts. If the population's minimiser is w·I (Collins et al., Lemma B.5), what is left beside it
is the accident of the contexts.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate, estimate, of_means
from iclutils.window.theory.isotropic import Isotropic
from iclutils.window.theory.matrix import context_loss, zonal


def scale(M: Float[Tensor, "sets d d"]) -> Float[Tensor, " sets"]:
    """tr(M)/d, the w of the multiple of the identity."""
    return M.diagonal(dim1=-2, dim2=-1).mean(-1)


def beside(M: Float[Tensor, "sets d d"]) -> Float[Tensor, "sets d d"]:
    """M without its multiple of the identity.

    >>> beside(torch.diag(torch.tensor([3.0, 1.0])).unsqueeze(0)).tolist()
    [[[1.0, 0.0], [0.0, -1.0]]]
    """
    return M - _multiple(scale(M), M)


def fall(
    few: Float[Tensor, "sets d d"], many: Float[Tensor, "sets d d"], factor: float
) -> Estimate:
    r"""The exponent, in the number of contexts, of the size of what is beside the identity.

    .. math:: \frac{\log(r_{\rm many}/r_{\rm few})}{\log\texttt{factor}},

    r the root mean square over the sets of the Frobenius norm of
    :func:`iclutils.window.theory.scalar.beside`. ``many`` stands for ``factor`` times as many
    contexts as ``few``. An accident of the contexts has −1/2, a minimiser that singles out a
    direction 0. The error is the jackknife over sets. Raises ``ValueError`` for different shapes
    and unless ``factor`` is above 1.
    """
    size = validation.shape("few", few, "S d d")
    validation.shape("many", many, "S d d", **size)
    validation.in_range("factor", factor, 1, math.inf, open_low=True)
    squares = torch.stack([beside(M).square().sum((1, 2)) for M in (few, many)])
    return of_means(lambda means: (means[1] / means[0]).log() / (2 * math.log(factor)), squares)


def log_excess(
    function: Isotropic,
    M: Float[Tensor, "sets d d"],
    x: Float[Tensor, "sets contexts n d"],
    query: Float[Tensor, "sets contexts q d"],
    sigma: float,
) -> Estimate:
    """log of the loss of M over that of w·I, mean over the sets.

    The contexts are fresh ones, and w is the mean :func:`iclutils.window.theory.scalar.scale` of
    the other sets, so that neither has seen them. Raises ``ValueError`` where the shapes do not fit
    together or ``sigma`` is negative.
    """
    size = validation.shape("M", M, "S d d")
    validation.shape("x", x, "S C n d", **size)
    noise = validation.noise("sigma", sigma) ** 2
    w = scale(M)
    others = (w.sum() - w) / (len(w) - 1)
    losses = []
    for one in (M, _multiple(others, M)):
        gamma = torch.softmax(x @ one.unsqueeze(1) @ query.mT, dim=-2)
        signal, concentration = context_loss(zonal(function), x, query, gamma)
        losses.append((signal + noise * concentration).mean((1, 2)))
    return estimate((losses[0] / losses[1]).log())


def _multiple(w: Float[Tensor, " sets"], M: Float[Tensor, "sets d d"]) -> Float[Tensor, "sets d d"]:
    """w·I for each set, in the size of M."""
    return w.view(-1, 1, 1) * torch.eye(M.shape[-1], dtype=M.dtype)
