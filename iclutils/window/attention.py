r"""The softmax and the linear attention unit of Collins et al., with the gradient in closed form.

After the paper's reparameterisation a unit is one matrix M. Leading axes of M and of the prompts
broadcast.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.products import product
from iclutils.window.prompts import Prompt

UNITS = ("softmax", "linear")
LOG2_E = 1 / math.log(2)
CACHED = 2**18  # numbers that stay in a processor's cache from one operation to the next
SAFE = 400.0  # scores whose power of two, its square and its inverse are numbers of full precision
LENGTH = 1e-4  # by which a unit vector may miss length one, in single precision too


def weights(
    M: Float[Tensor, "*units d d"], x: Float[Tensor, "*prompts n d"], query: Float[Tensor, "*_ q d"]
) -> Float[Tensor, "*both n q"]:
    r"""Softmax attention weights, which sum to one over the n tokens of the context.

    .. math:: \gamma_i = e^{x_i^\top M x_{n+1}} \big/ \textstyle\sum_j e^{x_j^\top M x_{n+1}}

    (Collins et al., eq. (ICL)). Raises ``ValueError`` where M is not square, the dimensions differ
    or an entry is not finite.

    >>> x = torch.eye(2)
    >>> weights(torch.zeros(2, 2), x, x).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    _check(M, x, query)
    return torch.softmax(x @ M @ query.mT, dim=-2)


def relative_scores(
    M: Float[Tensor, "*units d d"], x: Float[Tensor, "*prompts n d"], query: Float[Tensor, "*_ q d"]
) -> Float[Tensor, "*both n q"]:
    r"""Weights of the linear unit, relative to each other: their sizes sum to one over the tokens.

    .. math:: s_i \big/ \textstyle\sum_j |s_j|, \qquad s_i = x_i^\top M x_{n+1}

    Raises ``ValueError`` where M is not square or the dimensions differ.

    >>> x = torch.eye(2)
    >>> relative_scores(torch.tensor([[3.0, 0.0], [-1.0, 0.0]]), x, x[:1]).tolist()
    [[0.75], [-0.25]]
    """
    _check(M, x, query)
    scores = x @ M @ query.mT
    return scores / scores.abs().sum(-2, keepdim=True)


def predict(
    M: Float[Tensor, "*units d d"], prompt: Prompt, unit: str = "softmax"
) -> Float[Tensor, "*both q"]:
    r"""Return the unit's answer to every query.

    .. math:: \hat y = \sum_i\gamma_i y_i\ (\text{softmax}),\qquad
              \hat y = \sum_i y_i\, x_i^\top M x_{n+1}\ (\text{linear})

    Collins et al., eq. (ICL) and Remark 2.2. Raises ``KeyError`` for an unknown unit and
    ``ValueError`` as :func:`weights`, and for a label that is not finite.

    >>> x = torch.eye(2)
    >>> prompt = Prompt(x, torch.tensor([1.0, 3.0]), x[:1], torch.zeros(1))
    >>> predict(torch.zeros(2, 2), prompt), predict(torch.eye(2), prompt, "linear")
    (tensor([2.]), tensor([1.]))
    """
    validation.one_of("unit", unit, UNITS)
    _check(M, prompt.x, prompt.query)
    validation.shape("prompt.y", prompt.y, "... n", n=prompt.x.shape[-2])
    validation.finite("prompt.y", prompt.y)
    labels = prompt.y.unsqueeze(-2)
    if unit == "linear":
        return (labels @ prompt.x @ M @ prompt.query.mT).squeeze(-2)
    return (labels @ weights(M, prompt.x, prompt.query)).squeeze(-2)


def gradient(
    M: Float[Tensor, "T S d d"], prompt: Prompt, unit: str = "softmax"
) -> Float[Tensor, "T S d d"]:
    r"""Compute the gradient in M of the mean squared error over the queries, for a fleet of units.

    .. math:: \nabla = \frac2q\sum_{\text{queries}} r\,g\,x_{n+1}^\top,\qquad r = \hat y-f(x_{n+1})

    with :math:`g = \sum_i\gamma_i(y_i - \hat y)x_i` for softmax and :math:`g = \sum_i y_i x_i` for
    linear attention. The S settings of one of T trials share their tokens: ``x: (T, n, d)``,
    ``query: (T, q, d)``, but ``y: (T, S, n)``, ``target: (T, S, q)``; so each product below is one
    large matrix product a trial. Nothing is checked: pretraining calls it in every step.
    """
    q = prompt.query.shape[-2]
    if unit == "linear":
        pooled = product(prompt.y, prompt.x)  # g, one for all queries: the slope has rank one
        answer = product(product(pooled.unsqueeze(-2), M).squeeze(-2), prompt.query.mT)
        pulled = product(answer - prompt.target, prompt.query)
        return (2 / q) * pooled.unsqueeze(-1) * pulled.unsqueeze(-2)
    trials, settings, _, _ = M.shape
    at_once = max(1, CACHED // (settings * q * prompt.x.shape[-2]))
    parts = [slice(first, first + at_once) for first in range(0, trials, at_once)]
    return torch.cat([_softmax_gradient(M[part], *_of_trials(prompt, part)) for part in parts])


def _of_trials(prompt: Prompt, part: slice) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return prompt.x[part], prompt.y[part], prompt.query[part], prompt.target[part]


def _softmax_gradient(
    M: Float[Tensor, "T S d d"],
    x: Float[Tensor, "T n d"],
    y: Float[Tensor, "T S n"],
    query: Float[Tensor, "T q d"],
    target: Float[Tensor, "T S q"],
) -> Float[Tensor, "T S d d"]:
    r"""Compute :func:`gradient` for the softmax unit, in sums over tokens for all settings at once.

    With masses :math:`m_i\propto\gamma_i` the products are :math:`\sum_im_i[x_i, 1]` and
    :math:`\sum_im_iy_i[x_i, 1]`, and :math:`\sum_i m_i(y_i-\hat y)x_i` is their difference.
    """
    trials, settings, d, _ = M.shape
    q = query.shape[-2]
    image = product(query, M.reshape(trials, settings * d, d).mT)  # M x_{n+1}
    mass = _masses(image.view(trials, q * settings, d), x)
    tokens = torch.nn.functional.pad(x, (0, 1), value=1.0)
    plain = product(mass, tokens).view(trials, q, settings, d + 1)
    mass.view(trials, q, settings, -1).mul_(y.unsqueeze(1))
    labelled = product(mass, tokens).view(plain.shape)
    total = plain[..., d:]
    answer = labelled[..., d:] / total
    pull = labelled[..., :d] - answer * plain[..., :d]
    pull.mul_((answer - target.mT.unsqueeze(-1)) / total)
    slope = product(pull.view(trials, q, settings * d).mT, query)
    return (2 / q) * slope.view(M.shape)


def _masses(
    image: Float[Tensor, "*batch queries d"], x: Float[Tensor, "*batch n d"]
) -> Float[Tensor, "*batch queries n"]:
    """Return the softmax before its division, up to a factor; ``image`` is M times a query.

    A power of two is half as dear as one of e, and torch.softmax over few tokens many times more.
    Where scores may leave the range of numbers, the factor makes the largest mass of a query 1.
    """
    scaled = LOG2_E * image
    scores = product(scaled, x.mT)
    if x.shape[-1] * float(scaled.abs().max()) * float(x.abs().max()) > SAFE:
        scores.sub_(scores.amax(-1, keepdim=True))
    return scores.exp2_()


def _check(
    M: Float[Tensor, "*units d d"], x: Float[Tensor, "*prompts n d"], query: Float[Tensor, "*_ q d"]
) -> None:
    d = validation.shape("M", M, "... d d")["d"]
    validation.finite("M", M)
    validation.shape("x", validation.finite("x", x), "... n d", d=d)
    validation.shape("query", validation.finite("query", query), "... q d", d=d)
