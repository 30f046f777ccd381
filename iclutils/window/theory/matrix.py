r"""The exact in-context loss of a softmax unit with a whole matrix M, at given contexts, and the M that minimises it.

Tasks and noise are integrated out, as in :mod:`iclutils.population`; the contexts may come from any law and the class
may have any covariance K(x, y). Chapters 1 and 2 use it.
"""

from collections.abc import Callable

import torch

from iclutils import validation
from iclutils.population import Isotropic

Covariance = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def zonal(function: Isotropic) -> Covariance:
    """The covariance of an isotropic class as a function of two sets of unit vectors, for :func:`context_loss`."""
    return lambda a, b: function.covariance(a @ b.mT)


def context_loss(covariance: Covariance, x: torch.Tensor, query: torch.Tensor,
                 gamma: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Signal and Σγᵢ² of given contexts and given weights, for any M and any law of x; both ``(*B, q)``.

    $$E_f\big(\textstyle\sum_i\gamma_if(x_i)-f(x)\big)^2 = K(x,x)-2\sum_i\gamma_iK(x_i,x)+\sum_{ij}\gamma_i\gamma_jK(x_i,x_j)$$
    ``covariance(a, b)`` maps ``(*B, r, d), (*B, s, d)`` to ``(*B, r, s)``; ``x: (*B, n, d)``, ``query: (*B, q, d)``,
    ``gamma: (*B, n, q)``.
    """
    size = validation.shape("x", x, "... n d")
    validation.shape("query", query, "... q d", d=size["d"])
    validation.shape("gamma", gamma, "... n q", n=size["n"], q=query.shape[-2])
    return _quadratic(*_moments(covariance, x, query), gamma), gamma.square().sum(-2)


def best_matrix(covariance: Covariance, x: torch.Tensor, query: torch.Tensor, sigma: float,
                start: torch.Tensor) -> torch.Tensor:
    """Minimise the loss over all symmetric M, in each of S sets of contexts by itself; ``(S, d, d)``.

    ``x: (S, C, n, d)``, ``query: (S, C, q, d)``, ``start: (S, d, d)``. Quasi-Newton steps to a gradient of 1e-9.
    """
    size = validation.shape("x", x, "S C n d")
    validation.shape("start", start, "S d d", S=size["S"], d=size["d"])
    moments = _moments(covariance, x, query)
    half = (start / 2).clone(memory_format=torch.contiguous_format).requires_grad_()
    optimiser = torch.optim.LBFGS([half], max_iter=300, tolerance_grad=1e-9, tolerance_change=1e-14,
                                  history_size=30, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        gamma = torch.softmax(x @ (half + half.mT).unsqueeze(1) @ query.mT, dim=-2)
        loss = (_quadratic(*moments, gamma) + sigma**2 * gamma.square().sum(-2)).mean((1, 2)).sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return (half + half.mT).detach()


def _moments(covariance: Covariance, x: torch.Tensor, query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    own = covariance(query.unsqueeze(-2), query.unsqueeze(-2)).squeeze(-1).squeeze(-1)
    return own, covariance(x, query), covariance(x, x)


def _quadratic(own: torch.Tensor, cross: torch.Tensor, inner: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    return own - 2 * (gamma * cross).sum(-2) + (gamma * (inner @ gamma)).sum(-2)
