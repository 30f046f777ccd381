r"""A softmax attention layer on orthonormal features, on tokens and on counts (chapter 6).

One head with keys and queries consolidated in Q reads the labels of a prompt,

.. math:: \hat y = \sum_i \mathrm{softmax}_i(x_i^\top Q\, x_{\rm query})\, y_i, \qquad
          L(Q) = \tfrac12\mathbb E(\hat y - \langle w, x_{\rm query}\rangle)^2 .

:func:`predict` is that layer. With the task integrated out,

.. math:: \mathbb E_w(\hat y - \langle w, v_k\rangle)^2
          = (1-\mathrm{Attn}_k)^2 + \sum_{m\ne k}\mathrm{Attn}_m^2 ,

a prompt matters through its feature counts :math:`n \sim \mathrm{Multinomial}(N, p)` alone, and
column k of Q in the feature frame, :math:`\theta_m = v_m^\top Q v_k`, has a gradient of its own:

.. math:: \frac{\partial L}{\partial \theta_m}
          = p_k \mathbb E_n\, a_m \Big(g_m - \sum_j a_j g_j\Big), \quad
          a_m = \frac{n_m e^{\theta_m}}{\sum_j n_j e^{\theta_j}}, \quad g_m = a_m - \delta_{mk}.

Source: Huang, Cheng and Liang 2024, slides "ICL framework" to "Training Settings". Relative to the
talk: :math:`A_k = \theta_k` and :math:`B_{k,m} = \theta_m` of column k; features are numbered
from 0.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils import validation
from iclutils.stages.prompts import count_features


def attention(
    theta: Float[Tensor, "*#batch K"], counts: Float[Tensor, "*#batch prompts K"]
) -> Float[Tensor, "*batch prompts K"]:
    r"""Compute the attention :math:`a_m` on each feature, for columns ``theta`` and ``counts``.

    A prompt of infinite length has its probabilities for counts. Raises ``ValueError`` where the
    shapes do not fit, theta is not finite, or a prompt has no token that theta leaves any weight.

    >>> column, counts = torch.tensor([0.0, 0.0]), torch.tensor([[3.0, 1.0]])
    >>> attention(column, counts).tolist()
    [[0.75, 0.25]]
    """
    K = validation.shape("theta", theta, "... K")["K"]
    validation.shape("counts", counts, "... B K", K=K)
    weight = counts * (theta - theta.amax(-1, keepdim=True)).exp().unsqueeze(-2)
    total = weight.sum(-1, keepdim=True)
    if not bool((total > 0).all()):
        raise ValueError(
            "theta must be finite and counts must hold tokens for each prompt, not negative; of one"
            " the attention is 0/0"
        )
    return weight / total


def _residual(theta: Tensor, counts: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the attention a, and g = a − e_k; the targets are whole numbers from 0 to K − 1."""
    K = validation.shape("theta", theta, "C K", C=len(targets))["K"]
    a = attention(theta, counts)
    try:
        target = torch.nn.functional.one_hot(targets, K).to(a.dtype)
    except RuntimeError:  # asked only now, for this is every step of a training
        allowed = f"whole numbers from 0 to {K - 1}"
        raise ValueError(f"targets must be {allowed}; got {targets}") from None
    return a, a - target.unsqueeze(-2)


def prompt_errors(
    theta: Float[Tensor, "columns K"],
    counts: Float[Tensor, "prompts K"] | Float[Tensor, "columns prompts K"],
    targets: Int[Tensor, " columns"],
    *,
    sigma: float = 0.0,
) -> Float[Tensor, "columns prompts"]:
    r"""Each prompt's :math:`\tfrac12\lVert a - e_k\rVert^2`, whose mean is :math:`\mathcal L_k`.

    ``theta`` are columns of Q and ``targets`` the feature k of each; ``counts`` are prompts that
    all columns share, or prompts for each. Label noise of standard deviation ``sigma`` ≥ 0 adds
    :math:`\tfrac12\sigma^2\sum_m a_m^2/n_m` (chapter 7). Raises ``ValueError`` if the shapes do
    not fit together, a target is none of the features or sigma is negative, and as
    :func:`attention`.
    """
    a, g = _residual(theta, counts, targets)
    errors = 0.5 * g.square().sum(-1)
    if validation.noise("sigma", sigma) > 0:
        errors = errors + 0.5 * sigma**2 * (a.square() / counts.clamp(min=1)).sum(-1)
    return errors


def column_gradient(
    theta: Float[Tensor, "columns K"],
    counts: Float[Tensor, "prompts K"] | Float[Tensor, "columns prompts K"],
    targets: Int[Tensor, " columns"],
    p: Float[Tensor, " K"],
    *,
    sigma: float = 0.0,
) -> tuple[Float[Tensor, "columns K"], Float[Tensor, " columns"]]:
    r"""Compute the gradient :math:`\partial L/\partial\theta` of columns of Q, and their errors.

    The gradient is the module's equation with the expectation over the prompts given; the errors
    are :math:`\mathcal L_k` over the same prompts. ``p`` are the features' probabilities; the other
    arguments are those of :func:`prompt_errors`. Label noise (chapter 7) adds
    :math:`\sigma^2a_m/n_m` to :math:`g_m`; the errors that are returned are without it. Raises
    ``ValueError`` if the shapes do not fit together, ``p`` are no probabilities, there is no prompt
    or sigma is negative.
    """
    validation.shape("theta", theta, "C K", K=count_features(p))
    validation.whole("the number of prompts in counts", counts.shape[-2])
    a, g = _residual(theta, counts, targets)
    force = g
    if validation.noise("sigma", sigma) > 0:
        force = g + sigma**2 * a / counts.clamp(min=1)
    inner = (a * force).sum(-1, keepdim=True)
    gradient = p[targets].unsqueeze(-1) * (a * (force - inner)).mean(-2)
    return gradient, 0.5 * g.square().sum(-1).mean(-1)


class BestValue(NamedTuple):
    """The best weight ``nu`` of the labels at a fixed Q, and its relative ``gain`` over ν = 1."""

    nu: float
    gain: float


def best_value(
    theta: Float[Tensor, "K K"], counts: Float[Tensor, "prompts K"], p: Float[Tensor, " K"]
) -> BestValue:
    r"""Find the best label weight at a fixed Q, :math:`\nu^*`, and :math:`1 - L(\nu^*)/L(1)`.

    .. math:: 2L(\nu) = 1 - 2\nu m_1 + \nu^2 m_2, \quad
              m_1 = \sum_k p_k\mathbb E\,a_k, \quad m_2 = \sum_k p_k\mathbb E\lVert a\rVert^2

    Row k of ``theta`` is the column of Q that a query on feature k feels. Raises ``ValueError`` if
    the shapes do not fit together, ``p`` are no probabilities or there is no prompt.
    """
    K = count_features(p)
    validation.shape("counts", counts, "B K", K=K)
    validation.whole("the number of prompts in counts", len(counts))
    a, g = _residual(theta, counts, torch.arange(K))
    m1 = float(p @ a.mean(-2).diagonal())
    m2 = float(p @ a.square().sum(-1).mean(-1))
    at_one = float(p @ g.square().sum(-1).mean(-1))
    return BestValue(nu=m1 / m2, gain=1 - (1 - m1**2 / m2) / at_one)


def predict(
    W: Float[Tensor, "runs keys d"],
    tokens: Float[Tensor, "runs prompts N d"],
    labels: Float[Tensor, "runs prompts N"],
    query: Float[Tensor, "runs prompts d"],
) -> Float[Tensor, "runs prompts"]:
    r"""Compute the layer's answer as the talk writes it.

    .. math:: \hat y = \sum_i \mathrm{softmax}_i(E_i^\top W E_{\rm query})\, y_i, \qquad
              E_i = (x_i, y_i)

    ``W`` of d rows is Q and reads the features alone. With d + 1 rows it is the part of the full
    key–query matrix that a query with label slot 0 can feel; its last row reads the labels as keys.
    Raises ``ValueError`` where a shape does not fit.
    """
    sizes = validation.shape("tokens", tokens, "R B N d")
    d = sizes["d"]
    validation.shape("query", query, "R B d", R=sizes["R"], B=sizes["B"], d=d)
    rows = validation.shape("W", W, "R rows d", R=sizes["R"], d=d)["rows"]
    validation.whole("the number of rows of W, d or d + 1,", rows, low=d, high=d + 1)
    keyed = torch.einsum("rde,rbe->rbd", W, query)
    scores = torch.einsum("rbnd,rbd->rbn", tokens, keyed[..., :d])
    if W.shape[-2] == d + 1:
        scores = scores + labels * keyed[..., d:]
    return (scores.softmax(-1) * labels).sum(-1)
