r"""Test errors of trained heads, their value slope and how many examples they attend to.

The errors are over drawn prompts; what an attention row attends to is told by the effective number
:math:`1/\sum_i\gamma_i^2` of examples and by the cap that holds half of its mass.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.products import product
from iclutils.randomness import stream
from iclutils.stats import Estimate, crossed, mean_se
from iclutils.window.attention import LENGTH, UNITS, _check, _masses, predict, weights
from iclutils.window.covariates import Law
from iclutils.window.function_classes import Affine, Cosine, FunctionClass, ReLU
from iclutils.window.prompts import Prompt, draw
from iclutils.window.theory.full_matrix import context_loss, zonal


class ValueSlope(NamedTuple):
    r"""A slope with what its size means: the ``loss``, and the ``square`` :math:`E\bar x_j^2`."""

    slope: Estimate
    loss: float
    square: float


def mean_errors(
    M: Float[Tensor, "T R d d"], prompt: Prompt, unit: str = "softmax"
) -> Float[Tensor, "T R"]:
    """Mean squared error of R units in each of T trials, on all the prompts of the trial.

    The prompts have the axes (T, prompts). Raises as :func:`~iclutils.window.attention.predict`.
    """
    validation.one_of("unit", unit, UNITS)
    _check(M, prompt.x, prompt.query)
    validation.shape("prompt.y", prompt.y, "... n", n=prompt.x.shape[-2])
    validation.finite("prompt.y", prompt.y)
    _, count, q, d = prompt.query.shape
    errors = []
    for of_trial, x, y, query, target in zip(
        M, prompt.x, prompt.y, prompt.query, prompt.target, strict=True
    ):
        image = product(query.unsqueeze(1), of_trial.mT).view(count, -1, d)  # M x_{n+1}
        labels = y.unsqueeze(-1)
        if unit == "linear":
            answer = product(image, product(x.mT, labels))
        else:
            mass = _masses(image, x)
            answer = product(mass, labels) / mass.sum(-1, keepdim=True)
        answer = answer.view(count, -1, q)
        errors.append((answer - target.unsqueeze(1)).square().mean((0, 2)))
    return torch.stack(errors)


def sampled_errors(
    M: Float[Tensor, "*units d d"],
    function: FunctionClass,
    covariates: Law,
    n: int,
    sigma: float,
    seed: int,
    *,
    role: str,
    unit: str = "linear",
    size: int = 25_000,
    chunks: int = 1,
    queries: int = 1,
    constant: bool = False,
) -> Float[Tensor, "*units prompts"]:
    """Squared errors of each unit on ``chunks`` times ``size`` fresh prompts, over the queries.

    All units see the same prompts; with ``constant`` every token has a last coordinate that is 1.
    The draws are a function of (seed, role, the tasks' name, d, n, chunk). Raises as
    :func:`~iclutils.window.attention.predict` and :func:`iclutils.window.prompts.draw`.
    """
    validation.flag("constant", constant)
    errors = []
    for chunk in range(validation.whole("chunks", chunks)):
        draws = stream(seed, role, function.name, covariates.d, n, chunk)
        prompt = draw(function, covariates, n, sigma, queries, (size,), draws)
        seen = prompt.with_constant() if constant else prompt
        errors.append((predict(M.unsqueeze(-3), seen, unit) - prompt.target).square().mean(-1))
    return torch.cat(errors, -1)


class TwoRoutes(NamedTuple):
    """The same prompts' losses: with their tasks and noise integrated out, and as drawn."""

    integrated: Float[Tensor, " prompts"]
    sampled: Float[Tensor, " prompts"]


def losses_by_two_routes(
    M: Float[Tensor, "d d"],
    function: Affine | ReLU | Cosine,
    covariates: Law,
    n: int,
    sigma: float,
    size: int,
    generator: torch.Generator,
) -> TwoRoutes:
    r"""Compute a softmax unit's loss on drawn prompts, one query each, in two ways.

    The first is that of the tokens alone (:func:`iclutils.window.theory.full_matrix.context_loss`),
    the second the squared error for the task and the noise that were drawn; both have the
    population loss as mean. Raises as :func:`~iclutils.window.attention.weights` and
    :func:`iclutils.window.prompts.draw`.
    """
    prompt = draw(function, covariates, n, sigma, 1, (size,), generator)
    gamma = weights(M, prompt.x, prompt.query)
    signal, spread = context_loss(zonal(function), prompt.x, prompt.query, gamma)
    answer = (prompt.y.unsqueeze(-2) @ gamma).squeeze(-2)
    both = signal + sigma**2 * spread, (answer - prompt.target).square()
    return TwoRoutes(*(losses.squeeze(-1) for losses in both))


def fit_linear_matrix(prompt: Prompt) -> Float[Tensor, "d d"]:
    r"""Fit the M of linear attention that has the least squared error on these prompts.

    .. math:: \min_M \sum \big(g^\top M x_{n+1} - f(x_{n+1})\big)^2, \qquad g = \sum_i y_i x_i

    over the prompts and their queries, by the normal equations in the entries of M. A sample's
    counterpart of :func:`iclutils.window.theory.linear_attention.best_matrix`. Raises
    ``ValueError`` where the prompts have not one leading axis, or are fewer than d, or their
    queries fewer than the entries.
    """
    d = validation.shape("prompt.x", prompt.x, "prompts n d")["d"]
    prompts, queries, _ = prompt.query.shape
    if prompts < d or prompts * queries < d * d:
        raise ValueError(
            f"prompt must have {d} prompts and {d * d} queries to fit {d * d} entries; got "
            f"{prompts} prompts of {queries} queries"
        )
    pooled = product(prompt.y.unsqueeze(-2), prompt.x).squeeze(-2)  # g: (prompts, d)
    moments = product(prompt.query.mT, prompt.query)  # Σ x xᵀ over a prompt's queries
    square = torch.einsum("pa,pc,pbd->abcd", pooled, pooled, moments).reshape(d * d, d * d)
    right = pooled.mT @ (prompt.target.unsqueeze(-2) @ prompt.query).squeeze(-2)
    M: Tensor = torch.linalg.solve(square, right.flatten()).view(d, d)
    return M


def log_mean_loss(M: Float[Tensor, "units d d"], prompt: Prompt) -> Estimate:
    """Compute the logarithm of the mean loss of trained softmax units, all on the same prompts.

    ``prompt`` has one leading axis. Both the units and the prompts are drawn at random, see
    :func:`iclutils.stats.crossed`, which wants two of either. Raises as
    :func:`~iclutils.window.attention.predict`.
    """
    losses = [(predict(one, prompt) - prompt.target).square().mean(-1) for one in M]
    return crossed(lambda part: part.mean().log(), torch.stack(losses, 1))


def value_slope(M: Float[Tensor, "d d"], prompts: Iterable[Prompt]) -> ValueSlope:
    r"""Estimate the slope of a softmax unit's loss in v, for answers with :math:`v^\top x_i`.

    .. math:: E\,(\hat y - f(x))\,\bar x_j, \qquad \bar x = \textstyle\sum_i\gamma_i x_i

    (half of it, at v = 0; Collins et al., Lemma B.1), at the coordinate j where it is the most
    standard errors from zero. The ``prompts`` are batches of one size with one query each. Raises
    as :func:`~iclutils.window.attention.predict`.
    """
    products, squares, misses = [], [], []
    for prompt in prompts:
        gamma = weights(M, prompt.x, prompt.query)
        miss = (prompt.y.unsqueeze(-2) @ gamma).squeeze(-2) - prompt.target
        mean_token = (prompt.x.mT @ gamma).squeeze(-1)
        products.append(miss * mean_token)
        squares.append(mean_token.square().mean(0))
        misses.append(miss.square().mean())
    means = mean_se(torch.cat(products))
    j = int((means.value / means.se).abs().argmax())
    square = torch.stack(squares).mean(0)[j]
    return ValueSlope(means.at(j), float(torch.stack(misses).mean()), float(square))


def effective_number(gamma: Float[Tensor, "*batch n q"]) -> Float[Tensor, "*batch q"]:
    r"""How many tokens a query averages over, from its weights.

    .. math:: n_\mathrm{eff} = 1\big/\textstyle\sum_i\gamma_i^2

    Raises ``ValueError`` where a weight is negative or not finite, or those of a query do not sum
    to one.

    >>> float(effective_number(torch.full((4, 1), 0.25)))
    4.0
    """
    validation.shape("gamma", validation.within("gamma", gamma, 0.0, math.inf), "... n q")
    validation.sums_to_one("gamma", gamma)
    return 1 / gamma.square().sum(-2)


def half_mass_cap(
    gamma: Float[Tensor, "*both n q"],
    x: Float[Tensor, "*prompts n d"],
    query: Float[Tensor, "*_ q d"],
) -> Float[Tensor, "*both q"]:
    """Return the window as a number: the radius of the smallest cap that holds half of the weight.

    The cap is centred at the query; its radius is an angle in radians. Tokens and queries are unit
    vectors. Raises ``ValueError`` where the weights are not one per token and query, one is
    negative or not finite or all of a query's are 0, or a token or query is not of length one.
    """
    validation.shape("gamma", gamma, "... n q", n=x.shape[-2], q=query.shape[-2])
    validation.within("gamma", gamma, 0.0, math.inf)
    if not bool((gamma.sum(-2) > 0).all()):
        raise ValueError("gamma must have weight for each query; of one all weights are 0")
    gamma = gamma if gamma.is_floating_point() else gamma.double()
    x = x.to(gamma.dtype)
    query = query.to(gamma.dtype)
    for name, vectors in (("x", x), ("query", query)):
        validation.within(f"the length of {name}", vectors.norm(dim=-1), 1 - LENGTH, 1 + LENGTH)
    angle = (x @ query.mT).clamp(-1, 1).arccos()
    angle, order = angle.expand(gamma.shape).sort(dim=-2)
    mass = gamma.gather(-2, order).cumsum(-2)
    first = (mass < 0.5 * mass[..., -1:, :]).sum(-2, keepdim=True)
    return angle.gather(-2, first.clamp(max=gamma.shape[-2] - 1)).squeeze(-2)
