r"""The softmax and the linear attention unit of Collins et al., with the gradient in closed form.

After the paper's reparameterisation a unit is one matrix M. Leading axes of M and of the prompts
broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.window.prompts import Prompt

UNITS = ("softmax", "linear")
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
    validation.finite("x", x)
    validation.finite("query", query)
    return torch.softmax(x @ M @ query.mT, dim=-2)


def predict(
    M: Float[Tensor, "*units d d"], prompt: Prompt, unit: str = "softmax"
) -> Float[Tensor, "*both q"]:
    r"""The unit's answer to every query.

    .. math:: \hat y = \sum_i\gamma_i y_i\ (\text{softmax}),\qquad
              \hat y = \sum_i y_i\, x_i^\top M x_{n+1}\ (\text{linear})

    Collins et al., eq. (ICL) and Remark 2.2. Raises ``KeyError`` for an unknown unit and
    ``ValueError`` as :func:`iclutils.window.attention.weights`.

    >>> x = torch.eye(2)
    >>> prompt = Prompt(x, torch.tensor([1.0, 3.0]), x[:1], torch.zeros(1))
    >>> predict(torch.zeros(2, 2), prompt), predict(torch.eye(2), prompt, "linear")
    (tensor([2.]), tensor([1.]))
    """
    validation.one_of("unit", unit, UNITS)
    _check(M, prompt.x, prompt.query)
    validation.shape("prompt.y", prompt.y, "... n", n=prompt.x.shape[-2])
    labels = prompt.y.unsqueeze(-2)
    if unit == "linear":
        return (labels @ prompt.x @ M @ prompt.query.mT).squeeze(-2)
    return (labels @ weights(M, prompt.x, prompt.query)).squeeze(-2)


def gradient(
    M: Float[Tensor, "T S d d"], prompt: Prompt, unit: str = "softmax"
) -> Float[Tensor, "T S d d"]:
    r"""The gradient in M of the mean squared error over the queries, for a fleet of units.

    .. math:: \nabla = \frac2q\sum_{\text{queries}} r\,g\,x_{n+1}^\top,\qquad r = \hat y-f(x_{n+1})

    with :math:`g = \sum_i\gamma_i(y_i - \hat y)x_i` for softmax and :math:`g = \sum_i y_i x_i` for
    linear attention. The S settings of one of T trials share their tokens: ``x: (T, n, d)``,
    ``query: (T, q, d)``, but ``y: (T, S, n)``, ``target: (T, S, q)``; so each product below is one
    large matrix product a trial. Nothing is checked: pretraining calls it in every step.
    """
    trials, settings, d, _ = M.shape
    x = prompt.x
    query = prompt.query
    q = query.shape[-2]
    columns = M.permute(0, 3, 1, 2).reshape(trials, d, settings * d)
    image = (query @ columns).view(trials, q * settings, d)  # M x_{n+1}
    target = prompt.target.mT.unsqueeze(-1)
    if unit == "linear":
        pooled = (prompt.y @ x).unsqueeze(1)
        answer = (image.view(trials, q, settings, d) * pooled).sum(-1, keepdim=True)
        pull = (answer - target) * pooled
    else:
        scores = (image @ x.mT).view(trials, q, settings, -1)
        # torch.softmax over few tokens is many times slower than the exponential itself
        mass = (scores - scores.amax(-1, keepdim=True)).exp_()
        total = mass.sum(-1, keepdim=True)
        labels = prompt.y.unsqueeze(1)
        answer = (mass * labels).sum(-1, keepdim=True) / total
        share = mass * (labels - answer) * ((answer - target) / total)
        pull = share.view(trials, q * settings, -1) @ x
    outer = query.mT @ pull.reshape(trials, q, settings * d)
    return (2 / q) * outer.view(trials, d, settings, d).permute(0, 2, 3, 1)


def effective_number(gamma: Float[Tensor, "*batch n q"]) -> Float[Tensor, "*batch q"]:
    r"""How many tokens a query averages over, from its weights.

    .. math:: n_\mathrm{eff} = 1\big/\textstyle\sum_i\gamma_i^2

    >>> float(effective_number(torch.full((4, 1), 0.25)))
    4.0
    """
    validation.shape("gamma", gamma, "... n q")
    return 1 / gamma.square().sum(-2)


def half_mass_cap(
    gamma: Float[Tensor, "*both n q"],
    x: Float[Tensor, "*prompts n d"],
    query: Float[Tensor, "*_ q d"],
) -> Float[Tensor, "*both q"]:
    """The window as a number: the radius of the smallest cap that holds half of the weight.

    The cap is centred at the query; its radius is an angle in radians. Tokens and queries are unit
    vectors. Raises ``ValueError`` where the weights are not one per token and query, or a token or
    query is not of length one.
    """
    validation.shape("gamma", gamma, "... n q", n=x.shape[-2], q=query.shape[-2])
    gamma = gamma if gamma.is_floating_point() else gamma.double()
    x = x.to(gamma.dtype)
    query = query.to(gamma.dtype)
    for name, vectors in (("x", x), ("query", query)):
        validation.within(f"the length of {name}", vectors.norm(dim=-1), 1 - LENGTH, 1 + LENGTH)
    angle = (x @ query.mT).clamp(-1, 1).arccos()
    angle, order = angle.expand(gamma.shape).sort(dim=-2)
    held = gamma.gather(-2, order).cumsum(-2)
    first = (held < 0.5 * held[..., -1:, :]).sum(-2, keepdim=True)
    return angle.gather(-2, first.clamp(max=gamma.shape[-2] - 1)).squeeze(-2)


def _check(
    M: Float[Tensor, "*units d d"], x: Float[Tensor, "*prompts n d"], query: Float[Tensor, "*_ q d"]
) -> None:
    d = validation.shape("M", M, "... d d")["d"]
    validation.finite("M", M)
    validation.shape("x", x, "... n d", d=d)
    validation.shape("query", query, "... q d", d=d)
