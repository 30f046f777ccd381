r"""The exact loss of a softmax unit with a whole matrix M, at given contexts, and the best M.

Tasks and noise are integrated out, as in :mod:`iclutils.window.theory.population_loss`; the
contexts may come from any law and the class may have any covariance K(x, y). Chapters 1 and 2 use
it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import randomness, validation
from iclutils.stats import Estimate, estimate, of_means
from iclutils.window.theory.population_loss import Isotropic

Covariance = Callable[[Tensor, Tensor], Tensor]
"""Maps tokens ``(*B, r, d)`` and ``(*B, s, d)`` to their covariances ``(*B, r, s)``."""

STATIONARY = 1e-4
"""The largest gradient of log loss in units of 1/M that counts as converged.

The loss is a parabola in log M with a curvature of order 0.1 to 1, so that M is then right to about
0.1 %. Callers average it over sets of contexts between which it scatters by several per cent.
"""


class ContextLoss(NamedTuple):
    r"""The loss at each query is signal + σ² · concentration, :math:`\sum_i\gamma_i^2`."""

    signal: Float[Tensor, "*sets q"]
    concentration: Float[Tensor, "*sets q"]


class _Moments(NamedTuple):
    """The covariances of a class at contexts: query with itself, tokens with query and tokens."""

    own: Float[Tensor, "*sets q"]
    cross: Float[Tensor, "*sets n q"]
    inner: Float[Tensor, "*sets n n"]

    def signal(self, gamma: Float[Tensor, "*sets n q"]) -> Float[Tensor, "*sets q"]:
        """Compute the quadratic form of :func:`context_loss`."""
        spread = (gamma * (self.inner @ gamma)).sum(-2)
        return self.own - 2 * (gamma * self.cross).sum(-2) + spread


def zonal(function: Isotropic) -> Covariance:
    """Return the covariance of an isotropic class as a function of two sets of unit vectors.

    It raises ``ValueError`` for vectors of another dimension than the class's.
    """

    def covariance(
        a: Float[Tensor, "*sets r d"], b: Float[Tensor, "*sets s d"]
    ) -> Float[Tensor, "*sets r s"]:
        validation.shape("tokens of the function", a, "... r d", d=function.d)
        return function.covariance(a @ b.mT)

    return covariance


def context_loss(
    covariance: Covariance,
    x: Float[Tensor, "*sets n d"],
    query: Float[Tensor, "*sets #q d"],
    gamma: Float[Tensor, "*sets n q"],
) -> ContextLoss:
    r"""Compute the exact loss at given contexts and given weights, for any M and any law of x.

    .. math::

       E_f\Big(\sum_i\gamma_if(x_i)-f(x)\Big)^2
         = K(x,x)-2\sum_i\gamma_iK(x_i,x)+\sum_{ij}\gamma_i\gamma_jK(x_i,x_j)

    ``gamma`` are the weights of the tokens ``x`` for each ``query``; they sum to one over n. One
    query may have several sets of weights, those of several units. Raises ``ValueError`` where the
    shapes do not fit together or the weights do not sum to one.

    >>> from iclutils.window.function_classes import Affine
    >>> x = torch.eye(2, dtype=torch.float64)  # two tokens, and the query is the first one
    >>> gamma = torch.softmax(2.0 * x @ x[:1].mT, dim=-2)
    >>> found = context_loss(zonal(Affine(2, L=1.0)), x, x[:1], gamma)
    >>> round(float(found.signal), 4), round(float(found.concentration), 4)
    (0.0047, 0.79)
    """
    size = validation.shape("x", x, "... n d")
    validation.shape("query", query, "... q d", d=size["d"])
    queries = {} if query.shape[-2] == 1 else {"q": query.shape[-2]}
    validation.shape("gamma", gamma, "... n q", n=size["n"], **queries)
    validation.sums_to_one("gamma", gamma)
    moments = _moments(covariance, x, query)
    return ContextLoss(moments.signal(gamma), gamma.square().sum(-2))


def best_matrix(
    covariance: Covariance,
    x: Float[Tensor, "sets contexts n d"],
    query: Float[Tensor, "sets contexts q d"],
    sigma: float,
    start: Float[Tensor, "sets d d"],
    *,
    steps: int = 300,
) -> Float[Tensor, "sets d d"]:
    r"""Find the symmetric M of least loss in each set of contexts by itself, by quasi-Newton steps.

    Tokens ``x`` and queries ``query`` stand for the law of the contexts; ``sigma`` is the noise of
    the labels; ``start`` is where the search begins in each set. Raises ``ValueError`` where the
    shapes do not fit together or ``sigma`` is negative, and ``RuntimeError`` where after ``steps``
    steps the gradient is not small in some set:
    :math:`\|\partial_M\log\mathcal L\|\max(\|M\|,1)` is held against 1e-4.

    >>> from iclutils.randomness import stream
    >>> from iclutils.window import covariates, function_classes
    >>> u = covariates.sample(covariates.Sphere(2), (1, 100, 9), stream(0, "example"))
    >>> start = torch.eye(2, dtype=torch.float64).unsqueeze(0)
    >>> M = best_matrix(zonal(function_classes.Affine(2)), u[..., :8, :], u[..., 8:, :], 0.3, start)
    >>> bool((torch.linalg.eigvalsh(M) > 2).all())  # a window in both directions
    True
    """
    size = validation.shape("x", x, "S C n d")
    validation.shape("query", query, "S C q d", S=size["S"], C=size["C"], d=size["d"])
    validation.shape("start", start, "S d d", S=size["S"], d=size["d"])
    noise = validation.noise("sigma", sigma) ** 2
    for name, tensor in (("x", x), ("query", query), ("start", start)):
        validation.finite(name, tensor)
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers; got {tensor.dtype}")
    moments = _moments(covariance, x, query)
    half = randomness.start(start / 2).clone(memory_format=torch.contiguous_format)

    def at(M: Float[Tensor, "sets d d"]) -> tuple[Tensor, Tensor]:
        return _loss_and_gradient(M, moments, x, query, noise)

    _descend(at, half, steps)
    M = half + half.mT
    loss, gradient = at(M)
    _require_stationary(M, loss, (gradient + gradient.mT) / 2, steps)
    return M


def _loss_and_gradient(
    M: Float[Tensor, "sets d d"],
    moments: _Moments,
    x: Float[Tensor, "sets contexts n d"],
    query: Float[Tensor, "sets contexts q d"],
    noise: float,
) -> tuple[Float[Tensor, " sets"], Float[Tensor, "sets d d"]]:
    r"""Compute the loss of each set and its gradient in M, of noise variance ``noise``.

    .. math::

       \partial_M\ell = 2\,E\sum_i\gamma_i\bigl(p_i-\textstyle\sum_j\gamma_jp_j\bigr)\,x_ix^\top,
       \qquad p_i = \textstyle\sum_jK(x_i,x_j)\gamma_j+\sigma^2\gamma_i-K(x_i,x)
    """
    image = (query.flatten(1, 2) @ M.mT).view(query.shape)  # M x_{n+1}
    gamma = torch.softmax(x @ image.mT, dim=-2)
    pull = (moments.inner @ gamma).add_(gamma, alpha=noise).sub_(moments.cross)
    mean_pull = (gamma * pull).sum(-2)
    each = moments.own + mean_pull - (gamma * moments.cross).sum(-2)
    slope = pull.sub_(mean_pull.unsqueeze(-2)).mul_(gamma)
    pooled = (slope.mT @ x).flatten(1, 2)  # one row for each query
    gradient = (2 / pooled.shape[1]) * pooled.mT @ query.flatten(1, 2)
    return each.mean((1, 2)), gradient


def _descend(
    at: Callable[[Tensor], tuple[Tensor, Tensor]], half: Float[Tensor, "sets d d"], steps: int
) -> None:
    """Minimise the sum of all sets' losses in M = half + halfᵀ; the sets share no parameter."""
    optimiser = torch.optim.LBFGS(
        [half],
        max_iter=steps,
        tolerance_grad=1e-9,
        tolerance_change=1e-14,
        history_size=30,
        line_search_fn="strong_wolfe",
    )

    def closure() -> float:
        loss, gradient = at(half + half.mT)
        half.grad = gradient + gradient.mT
        return float(loss.sum())

    optimiser.step(closure)  # type: ignore[no-untyped-call]


def _require_stationary(
    M: Float[Tensor, "sets d d"],
    loss: Float[Tensor, " sets"],
    gradient: Float[Tensor, "sets d d"],
    steps: int,
) -> None:
    """Refuse a search that ended where the loss still slopes."""
    scale = M.flatten(1).norm(dim=1).clamp(min=1)
    slope = gradient.flatten(1).norm(dim=1) * scale / loss
    worst = int(slope.argmax())
    if not float(slope[worst]) <= STATIONARY:
        raise RuntimeError(
            f"best_matrix did not converge in {steps} steps: in set {worst} the gradient of "
            f"log loss in units of 1/M is {float(slope[worst]):.1e}, {STATIONARY:g} is allowed"
        )


def _moments(
    covariance: Covariance,
    x: Float[Tensor, "*sets n d"],
    query: Float[Tensor, "*sets q d"],
) -> _Moments:
    one = query.unsqueeze(-2)
    own = covariance(one, one).squeeze(-1).squeeze(-1)
    return _Moments(own, covariance(x, query), covariance(x, x))


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
    r"""Compute the exponent, in the number of contexts, of the size of what is beside the identity.

    .. math:: \frac{\log(r_{\rm many}/r_{\rm few})}{\log\texttt{factor}},

    r the root mean square over the sets of the Frobenius norm of
    :func:`beside`. ``many`` stands for ``factor`` times as many
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

    The contexts are fresh ones, and w is the mean :func:`scale` of
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
