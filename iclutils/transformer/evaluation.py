r"""The influence of each example on an answer, and what is told of it.

For any answer :math:`\hat y` to a prompt the *influence* of example i is

.. math:: J_i = \frac{\partial\hat y}{\partial y_i}:

how much the answer moves if the label of example i moves. For a softmax head it is the attention
weight itself; for a network it is one backward pass. All influences are of one query a prompt.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.transformer.models import Architecture, answers
from iclutils.transformer.samplers import Kinks
from iclutils.transformer.theory.kriging import kriging_weights
from iclutils.transformer.theory.posterior import posterior_mean
from iclutils.window.prompts import Prompt

NEAR = math.pi / 4  # how far from the query an example may lie to be near: a quarter of the circle
BINS = 12  # of the angle between example and query, from 0 to π
CHUNK = 500  # prompts of each network that are differentiated at once


class Response(NamedTuple):
    """What a network answers to each prompt, and the influence of each example."""

    answer: Float[Tensor, "*prompts"]
    influence: Float[Tensor, "*prompts n"]


def influence(
    answer: Callable[[Float[Tensor, "*prompts n"]], Float[Tensor, "*prompts"]],
    y: Float[Tensor, "*prompts n"],
) -> Response:
    """Compute the answers of a function of the labels ``y``, and their derivatives.

    Each answer may depend on the labels of its own prompt alone. Raises ``ValueError`` where the
    answers have another shape than the prompts.

    >>> labels = torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    >>> influence(lambda y: y.mean(-1), labels).influence.tolist()
    [[0.5, 0.5]]
    """
    y = y.detach().requires_grad_()
    value = answer(y)
    if value.shape != y.shape[:-1]:
        raise ValueError(f"answer must be one for each prompt, {y.shape[:-1]}; got {value.shape}")
    (derivative,) = torch.autograd.grad(value.sum(), y)
    return Response(value.detach(), derivative)


def respond(
    architecture: Architecture,
    weights: Float[Tensor, "networks P"],
    prompt: Prompt,
    unit: float,
) -> Response:
    """Compute a fleet's answers at the first query of each prompt, and the influences, in float64.

    ``prompt`` has the axes (networks, prompts). ``unit`` is that of labels and answers
    (:attr:`.samplers.Kinks.unit`); an influence has none. Raises ``ValueError`` as
    :func:`iclutils.transformer.models.answers`.
    """
    validation.positive("unit", unit)
    weights = weights.detach()
    parts = []
    for start in range(0, prompt.x.shape[1], CHUNK):
        some = slice(start, start + CHUNK)
        x = prompt.x[:, some].to(weights.dtype)
        query = prompt.query[:, some, :1].to(weights.dtype)

        def answer(
            y: Tensor, x: Tensor = x, query: Tensor = query
        ) -> Float[Tensor, "networks prompts"]:
            return answers(architecture, weights, x, y, query).squeeze(-1)

        parts.append(influence(answer, prompt.y[:, some].to(weights.dtype) / unit))
    return Response(
        unit * torch.cat([part.answer for part in parts], 1).double(),
        torch.cat([part.influence for part in parts], 1).double(),
    )


def angles(
    x: Float[Tensor, "*prompts n d"], query: Float[Tensor, "*prompts q d"]
) -> Float[Tensor, "*prompts n"]:
    """Compute the angle between each example and the first query, for unit vectors, 0 to π."""
    return (x.double() @ query[..., 0, :, None].double()).squeeze(-1).clamp(-1, 1).arccos()


def near_share(
    J: Float[Tensor, "*networks prompts n"], angle: Float[Tensor, "*networks prompts n"]
) -> Float[Tensor, "*networks"]:
    r"""Compute the share of all influence within 45° of the query, in sums over the prompts.

    .. math:: \sum_{\mathrm{near}}J_i \Big/ \sum_i J_i

    It is above 1 where influences far from the query are negative on the whole.
    """
    return (J * (angle < NEAR)).sum((-2, -1)) / J.sum((-2, -1))


class BestAnswer(NamedTuple):
    """The posterior mean's squared error over kriging's, and its influence within 45°."""

    over_kriging: float
    near: float


def best_of_all(kinks: Kinks, prompt: Prompt, generator: torch.Generator) -> BestAnswer:
    """Compare the best of all answers, the posterior mean, with the best linear one, kriging.

    ``prompt`` are those of one network, the first axis, with one query each on the circle. Raises
    as :func:`iclutils.transformer.theory.posterior.posterior_mean`, which draws from ``generator``.
    """
    x, query = prompt.x[0], prompt.query[0]
    y, target = prompt.y[0], prompt.target[0, :, 0]
    best = posterior_mean(x, y, query[:, 0], kinks.sigma, kinks.steepness, generator)
    linear = (kriging_weights(kinks.covariance, x, query, kinks.sigma)[:, 0] * y).sum(1)
    errors = [(answer - target).square().mean() for answer in (best.mean, linear)]
    share = near_share(best.influence, angles(x, query))
    return BestAnswer(float(errors[0] / errors[1]), float(share))


def profile(
    J: Float[Tensor, "*networks prompts n"], angle: Float[Tensor, "*networks prompts n"]
) -> Float[Tensor, "*networks bins"]:
    """Average the influence of an example in each of 12 bins of its angle to the query."""
    bins = (angle / math.pi * BINS).long().clamp(max=BINS - 1)
    means = []
    for k in range(BINS):
        inside = (bins == k).to(J.dtype)
        means.append((J * inside).sum((-2, -1)) / inside.sum((-2, -1)).clamp(min=1))
    return torch.stack(means, -1)
