r"""Two exact rivals whose weights do not depend on the labels: softmax, and the best linear ones.

With places known and tasks of covariance :math:`k(x,x')=E f(x)f(x')`, an answer
:math:`\sum_i w_iy_i` errs by

.. math:: E(w) = w^\top(K+\sigma^2I)w - 2w^\top k(X,x) + k(x,x)

on average over tasks and noise. It is least at the kriging weights
:math:`w=(K+\sigma^2I)^{-1}k(X,x)`, which are the posterior mean's of a Gaussian process. For any
such answer the weights are its influence, :math:`w_i=\partial\hat y/\partial y_i`.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation

Covariance = Callable[[Float[Tensor, "*batch"]], Float[Tensor, "*batch"]]

WINDOWS = torch.cat([torch.zeros(1), torch.logspace(-1, 3, 161)]).double()


class Window(NamedTuple):
    """The best softmax window w and its expected error."""

    w: float
    error: float


def kriging_weights(
    covariance: Covariance,
    x: Float[Tensor, "*prompts n d"],
    query: Float[Tensor, "*prompts q d"],
    sigma: float,
) -> Float[Tensor, "*prompts q n"]:
    r"""Compute the best linear weights, :math:`k(x,X)\,(K+\sigma^2I)^{-1}`, for every query.

    ``covariance`` is a function of the product of two unit vectors. Raises ``ValueError`` where
    ``sigma`` is negative or x and query have other shapes; ``RuntimeError`` where two places
    coincide and there is no noise.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    >>> kriging_weights(lambda t: t, x, x[:1], 1.0).tolist()
    [[0.5, 0.0]]
    """
    gram, across = _moments(covariance, x, query, sigma)
    weights: Tensor = torch.linalg.solve(gram, across.mT).mT
    return weights


def softmax_weights(
    w: float | Float[Tensor, "*_ 1 1"],
    x: Float[Tensor, "*prompts n d"],
    query: Float[Tensor, "*prompts q d"],
) -> Float[Tensor, "*prompts q n"]:
    r"""Compute a softmax head's weights, :math:`\gamma_i\propto e^{w\,x\cdot x_i}`."""
    return (w * (query @ x.mT)).softmax(-1)


def expected_error(
    covariance: Covariance,
    weights: Float[Tensor, "*prompts q n"],
    x: Float[Tensor, "*prompts n d"],
    query: Float[Tensor, "*prompts q d"],
    sigma: float,
) -> Float[Tensor, "*prompts q"]:
    r"""Compute the mean squared error of some weights over tasks and noise, at given places.

    Raises ``ValueError`` as :func:`kriging_weights`.
    """
    gram, across = _moments(covariance, x, query, sigma)
    own = covariance(torch.ones((), dtype=torch.float64))
    return ((weights @ gram - 2 * across) * weights).sum(-1) + own


def best_softmax(
    covariance: Covariance,
    x: Float[Tensor, "prompts n d"],
    query: Float[Tensor, "prompts q d"],
    sigma: float,
    windows: Float[Tensor, " W"] = WINDOWS,
) -> Window:
    """Find the window w of ``windows`` with the least expected error, on average over some places.

    A parabola through the three lowest points in log w refines it. Raises ``ValueError`` as
    :func:`kriging_weights`, and where the lowest point is the last.
    """
    errors = torch.stack(
        [
            expected_error(covariance, softmax_weights(float(w), x, query), x, query, sigma).mean()
            for w in windows
        ]
    )
    at = int(errors.argmin())
    if at == len(windows) - 1:
        raise ValueError(f"windows must reach beyond the best one; got up to {float(windows[-1])}")
    if at < 2:
        return Window(float(windows[at]), float(errors[at]))
    below, here, above = (float(e) for e in errors[at - 1 : at + 2])
    curvature = below - 2 * here + above
    shift = 0.5 * (below - above) / curvature if curvature > 0 else 0.0
    w = float(windows[at] * (windows[at + 1] / windows[at]) ** shift)
    return Window(w, here - 0.25 * (below - above) * shift)


def _moments(
    covariance: Covariance,
    x: Float[Tensor, "*prompts n d"],
    query: Float[Tensor, "*prompts q d"],
    sigma: float,
) -> tuple[Float[Tensor, "*prompts n n"], Float[Tensor, "*prompts q n"]]:
    """Compute the covariance of the labels, and that of f at the queries with them."""
    validation.noise("sigma", sigma)
    sizes = validation.shape("x", x, "... n d")
    validation.shape("query", query, "... q d", d=sizes["d"])
    x, query = x.double(), query.double()
    noise = sigma**2 * torch.eye(sizes["n"], dtype=torch.float64)
    # rounding takes the product of a unit vector with itself above one
    gram = covariance((x @ x.mT).clamp(-1, 1)) + noise
    return gram, covariance((query @ x.mT).clamp(-1, 1))
