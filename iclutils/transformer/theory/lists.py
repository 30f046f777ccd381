r"""Two exact rivals on linear tasks: ridge regression, and the best use of a list of tasks.

Examples are :math:`y_i=w\cdot x_i+\varepsilon_i` with noise of variance ρ. Where any task of
:math:`N(0, I)` may come, the best answer is ridge regression,

.. math:: \hat y = x^\top(X^\top X+\rho I)^{-1}X^\top y ,

which is linear in the labels: its weights are its influence. Where the task is one of a list, the
best answer averages over the list with the probabilities

.. math:: \pi_j\propto\exp\Bigl(-\tfrac1{2\rho}\sum_i(y_i-w_j\cdot x_i)^2\Bigr)

(dMMSE, discrete minimum mean squared error), and its influence is a covariance under them,

.. math:: J_i=\frac1\rho\,\mathrm{Cov}_\pi(w\cdot x,\,w\cdot x_i) .

It is zero as soon as the labels leave no doubt about the task.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation


class Answer(NamedTuple):
    """The answer to each prompt, and the influence of its examples."""

    answer: Float[Tensor, " prompts"]
    influence: Float[Tensor, "prompts n"]


def ridge(
    x: Float[Tensor, "prompts n d"],
    y: Float[Tensor, "prompts n"],
    query: Float[Tensor, "prompts d"],
    rho: float,
) -> Answer:
    """Compute the posterior mean under tasks of the prior N(0, I), and its weights.

    Raises ``ValueError`` where ``rho`` is not positive or the shapes do not belong together.

    >>> x = torch.ones(1, 1, 1, dtype=torch.float64)
    >>> ridge(x, x[0], x[0], 1.0).influence.tolist()
    [[0.5]]
    """
    d = _check(x, y, query, rho)
    gram = x.mT @ x + rho * torch.eye(d, dtype=x.dtype)
    J = (x @ torch.linalg.solve(gram, query.unsqueeze(-1))).squeeze(-1)
    return Answer((J * y).sum(-1), J)


def by_heart(
    x: Float[Tensor, "prompts n d"],
    y: Float[Tensor, "prompts n"],
    query: Float[Tensor, "prompts d"],
    rho: float,
    listed: Float[Tensor, "list d"],
) -> Answer:
    """Compute the posterior mean where the task is one of those ``listed``, and its influence.

    Raises ``ValueError`` as :func:`ridge`, and where the list's tasks have another dimension.

    >>> x = torch.ones(1, 1, 1, dtype=torch.float64)
    >>> found = by_heart(x, 0 * x[0], x[0], 1.0, torch.tensor([[1.0], [-1.0]]).double())
    >>> found.answer.tolist(), found.influence.tolist()
    ([0.0], [[1.0]])
    """
    d = _check(x, y, query, rho)
    validation.shape("listed", listed, "k d", d=d)
    at_examples = x @ listed.T  # (prompts, n, list)
    at_query = query @ listed.T
    misfit = (y.unsqueeze(-1) - at_examples).square().sum(1)
    pi = (-misfit / (2 * rho)).softmax(-1)
    answer = (pi * at_query).sum(-1)
    off = pi * (at_query - answer.unsqueeze(-1))
    return Answer(answer, (at_examples @ off.unsqueeze(-1)).squeeze(-1) / rho)


def _check(x: Tensor, y: Tensor, query: Tensor, rho: float) -> int:
    """Refuse what does not belong together; return the dimension."""
    validation.positive("rho", rho)
    sizes = validation.shape("x", x, "P n d")
    validation.shape("y", y, "P n", P=sizes["P"], n=sizes["n"])
    validation.shape("query", query, "P d", P=sizes["P"], d=sizes["d"])
    return sizes["d"]
