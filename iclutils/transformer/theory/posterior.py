r"""The best of all answers to a prompt of kinks on the circle: the posterior mean, by sampling.

Given the direction u, a task is linear in three numbers, :math:`f = A_u c` with
:math:`c=(l_1,l_2,b)`, of which the prior is uniform on a box. In its place stands a Gaussian prior
:math:`N(0, L^2I)`, under which everything is known; draws from its posterior are weighted by the
ratio of the two priors, :math:`e^{|c|^2/2L^2}` inside of the box and zero outside. Directions are
even on the circle. The influence of example i on the answer at x is

.. math:: \frac{\partial\,E[f(x)\mid y]}{\partial y_i}
          = \frac{\mathrm{Cov}(f(x), f(x_i)\mid y)}{\sigma^2},

because the likelihood of f is an exponential family in y.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal


class Posterior(NamedTuple):
    """The posterior mean at each prompt's query, and the influence of its examples."""

    mean: Float[Tensor, " prompts"]
    influence: Float[Tensor, "prompts n"]


def features(
    x: Float[Tensor, "*prompts n 2"], u: Float[Tensor, "directions 2"]
) -> Float[Tensor, "*prompts directions n 3"]:
    r"""Compute the factors of :math:`l_1, l_2, b`: :math:`(u\cdot x)_+, (-u\cdot x)_+`, 1."""
    along = (x @ u.T).mT
    return torch.stack([along.clamp(min=0), (-along).clamp(min=0), torch.ones_like(along)], -1)


def posterior_mean(
    x: Float[Tensor, "prompts n 2"],
    y: Float[Tensor, "prompts n"],
    query: Float[Tensor, "prompts 2"],
    sigma: float,
    steepness: Sequence[float],
    generator: torch.Generator,
    *,
    directions: int = 180,
    draws: int = 32,
) -> Posterior:
    """Sample the posterior mean under kinks of one of several steepnesses, all equally likely.

    ``directions`` of the kink times ``draws`` of the three numbers are taken for each steepness.
    Raises ``ValueError`` where ``sigma`` or a steepness is not positive or the shapes do not belong
    together, ``RuntimeError`` where no draw of a prompt lies in the box.
    """
    validation.positive("sigma", sigma)
    sizes = validation.shape("x", x, "P n 2")
    validation.shape("y", y, "P n", **sizes)
    validation.shape("query", query, "P 2", P=sizes["P"])
    angle = torch.arange(validation.whole("directions", directions), dtype=torch.float64)
    angle = 2 * math.pi * angle / directions
    u = torch.stack([angle.cos(), angle.sin()], 1)
    A = features(x.double(), u)
    at = features(query.double().unsqueeze(1), u).squeeze(2)
    gram = A.mT @ A / sigma**2
    pulled = (A.mT @ y.double()[:, None, :, None]).squeeze(-1) / sigma**2
    logs, coefficients = [], []
    for L in steepness:
        validation.positive("steepness", L)
        c, log = _weighted(gram, pulled, L, draws, generator)
        coefficients.append(c)
        logs.append(log)
    c = torch.cat(coefficients, 2)  # (prompts, directions, draws of all steepnesses, 3)
    log = torch.cat(logs, 2)
    if not bool(torch.isfinite(log.flatten(1).amax(1)).all()):
        raise RuntimeError("draws must be more: of a prompt none lies within the prior's box")
    weight = log.flatten(1).softmax(1).view(log.shape)
    value = torch.einsum("puk,pusk->pus", at, c)
    mean = (weight * value).sum((1, 2))
    both = torch.einsum("pus,pusk->puk", weight * (value - mean[:, None, None]), c)
    return Posterior(mean, torch.einsum("punk,puk->pn", A, both) / sigma**2)


def _weighted(
    gram: Float[Tensor, "prompts directions 3 3"],
    pulled: Float[Tensor, "prompts directions 3"],
    L: float,
    draws: int,
    generator: torch.Generator,
) -> tuple[Float[Tensor, "prompts directions draws 3"], Float[Tensor, "prompts directions draws"]]:
    """Draws of c from the Gaussian posterior of every direction, and the logs of their weights."""
    root = torch.linalg.cholesky(gram + torch.eye(3, dtype=torch.float64) / L**2)
    mean = torch.cholesky_solve(pulled.unsqueeze(-1), root).squeeze(-1)
    # the density of the labels under the direction, without what all share
    evidence = 0.5 * (mean * pulled).sum(-1) - root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    evidence = evidence - 3 * math.log(L)
    z = normal(*mean.shape[:2], validation.whole("draws", draws), 3, generator=generator)
    c = mean.unsqueeze(2) + torch.linalg.solve_triangular(root.mT, z.mT, upper=True).mT
    log = evidence.unsqueeze(-1) + c.square().sum(-1) / (2 * L**2)
    return c, torch.where((c.abs() <= L).all(-1), log, -math.inf)
