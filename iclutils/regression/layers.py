r"""One attention layer with trainable K, Q and V, linear or softmax, and B of them at once.

The answer at the query x is

.. math:: \hat y = \sum_j p_j\,u^\top z_j,\qquad p_j = \tfrac1\ell\, z_j^\top M x \ \text{(linear)},
          \quad p = \operatorname{softmax}_j(z_j^\top M x),

over the columns :math:`z_j` of Z (:mod:`iclutils.regression.training_sets`), with u the last row of
V and M the first d columns of :math:`K^\top Q` (Lu et al., slides "Model"). Nothing is dropped: the
reduced model, which answers :math:`\langle\Gamma, H_Z\rangle` (slides "Predictor for
:math:`y_{\ell+1}`"), also sets the first d entries of u to zero. A fleet of B layers, each with its
own prompts, is one tensor program. Shapes: ``e`` is d + 1; ``t`` and ``m`` are ℓ + 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression.training_sets import Fleet, draw_fleet


class Slopes(NamedTuple):
    """The answers ŷ and what their derivatives are made of, see :func:`slopes`."""

    answer: Float[Tensor, "models prompts"]
    by_u: Float[Tensor, "models prompts e"]
    by_query: Float[Tensor, "models prompts e"]


class _Attended(NamedTuple):
    """What the query attends to: the attention p and the values uᵀz of all tokens."""

    attention: Float[Tensor, "models prompts t"]
    values: Float[Tensor, "models prompts t"]


def _attend(
    z: Float[Tensor, "models prompts e t"],
    u: Float[Tensor, "models e"],
    m: Float[Tensor, "models e e-1"],
    softmax: bool,
) -> _Attended:
    sizes = validation.shape("z", z, "B n e t")
    validation.shape("u", u, "B e", B=sizes["B"], e=sizes["e"])
    validation.shape("m", m, "B e d", B=sizes["B"], e=sizes["e"], d=sizes["e"] - 1)
    query = torch.einsum("bid,bnd->bni", m, z[..., :-1, -1])
    scores = torch.einsum("bnij,bni->bnj", z, query)
    validation.flag("softmax", softmax)
    attention = torch.softmax(scores, -1) if softmax else scores / (z.shape[-1] - 1)
    return _Attended(attention, torch.einsum("bnij,bi->bnj", z, u))


def layer_output(
    z: Float[Tensor, "models prompts e t"],
    u: Float[Tensor, "models e"],
    m: Float[Tensor, "models e e-1"],
    *,
    softmax: bool = False,
) -> Float[Tensor, "models prompts"]:
    """Compute the answers ŷ of B layers with weights ``u`` and ``m``, each on its prompts ``z``.

    Raises ``ValueError`` where a shape does not fit.
    """
    attention, values = _attend(z, u, m, softmax)
    return (attention * values).sum(-1)


def slopes(
    z: Float[Tensor, "models prompts e t"],
    u: Float[Tensor, "models e"],
    m: Float[Tensor, "models e e-1"],
    *,
    softmax: bool = False,
) -> Slopes:
    r"""Compute the answers ŷ, their derivatives by u, and those by Mx.

    .. math:: \frac{\partial\hat y}{\partial u} = \sum_j p_j z_j,\qquad
              \frac{\partial\hat y}{\partial(Mx)} = \sum_j c_j z_j,

    with :math:`c_j = u^\top z_j/\ell` (linear) or :math:`p_j(u^\top z_j-\hat y)` (softmax). Raises
    ``ValueError`` where a shape does not fit.
    """
    attention, values = _attend(z, u, m, softmax)
    answer = (attention * values).sum(-1)
    if softmax:
        by_score = attention * (values - answer.unsqueeze(-1))
    else:
        by_score = values / (z.shape[-1] - 1)
    by_u = torch.einsum("bnij,bnj->bni", z, attention)
    return Slopes(answer, by_u, torch.einsum("bnij,bnj->bni", z, by_score))


def jacobian(
    z: Float[Tensor, "models prompts e t"],
    u: Float[Tensor, "models e"],
    m: Float[Tensor, "models e e-1"],
    *,
    softmax: bool = False,
) -> Float[Tensor, "models prompts e**2"]:
    r"""Compute the derivatives of the answers ŷ by u and M, flattened, u first.

    Those by M are :math:`\partial\hat y/\partial(Mx)\,x^\top`, see :func:`slopes`. Raises
    ``ValueError`` where a shape does not fit.
    """
    _, by_u, by_query = slopes(z, u, m, softmax=softmax)
    return flattened(by_u, by_query, z[..., :-1, -1])


def flattened(
    by_u: Float[Tensor, "models prompts e"],
    by_query: Float[Tensor, "models prompts e"],
    x: Float[Tensor, "models prompts e-1"],
) -> Float[Tensor, "models prompts e**2"]:
    r"""Flatten the derivatives by u and by M, of rank one for a prompt, into a row for each."""
    by_m = by_query.unsqueeze(-1) * x.unsqueeze(-2)
    return torch.cat([by_u, by_m.flatten(2)], 2)


def identifiable_parameters(d: int, seed: int = 0, *, softmax: bool = False) -> int:
    """How many directions of (K, Q, V) change the answer of a layer on tokens of dimension d.

    It is the rank of the Jacobian at random weights on 4d(d+2) prompts, about four times the
    number of entries of (u, M).

    >>> identifiable_parameters(3)  # d(d+2): u and M have one common scale
    15
    >>> identifiable_parameters(3, softmax=True)  # (d+1)²: the softmax fixes it
    16

    Raises ``ValueError`` where ``d`` is below 1.
    """
    fleet = draw_fleet([4 * d * (d + 2)], d, d, 0.1, seed, role="identifiable")
    generator = stream(seed, "identifiable weights", d)
    u = torch.randn(1, d + 1, dtype=torch.float64, generator=generator)
    m = torch.randn(1, d + 1, d, dtype=torch.float64, generator=generator)
    derivatives = jacobian(fleet.z, u, m, softmax=softmax)[0]
    return int(torch.linalg.matrix_rank(derivatives, rtol=1e-9))


@dataclass(frozen=True)
class Layers:
    """B trained layers: u, the last row of V; m, the first d columns of KᵀQ; and the attention."""

    u: Float[Tensor, "models e"]
    m: Float[Tensor, "models e e-1"]
    softmax: bool = False

    def loss(self, fleet: Fleet) -> Float[Tensor, " models"]:
        """Mean squared error of each layer on its own prompts of ``fleet``."""
        answers = layer_output(fleet.z, self.u, self.m, softmax=self.softmax)
        squared = (answers - fleet.y).square() * fleet.mask
        return squared.sum(1) / fleet.mask.sum(1)


def linear_attention(
    z: Float[Tensor, "*batch e m"],
    value: Float[Tensor, "*#batch e e"],
    key_query: Float[Tensor, "*#batch e e"],
) -> Float[Tensor, "*batch e m"]:
    r"""Compute the layer's output.

    .. math:: A(Z) = Z + \tfrac1\ell (VZ)(KZ)^\top(QZ)

    ``key_query`` is :math:`M = K^\top Q`. Raises ``ValueError`` where a shape does not fit or z has
    no token beside the query.
    """
    rows, columns = _sizes(z)
    validation.shape("value", value, "... e e", e=rows)
    validation.shape("key_query", key_query, "... e e", e=rows)
    return z + (value @ z) @ (z.mT @ (key_query @ z)) / (columns - 1)


def reduced_weights(
    value: Float[Tensor, "*batch e e"], key_query: Float[Tensor, "*batch e e"]
) -> Float[Tensor, "*batch e-1 e"]:
    r"""Return the reduced parameter, exact where the last row of V is zero but for its last entry.

    .. math:: \Gamma = v_{22}\begin{bmatrix}\tfrac1d M_{11}^\top & m_{21}\end{bmatrix}

    Raises ``ValueError`` where the two are not square and of one size.
    """
    e = validation.shape("value", value, "... e e")["e"]
    validation.shape("key_query", key_query, "... e e", e=e)
    d = e - 1
    blocks = torch.cat([key_query[..., :d, :d].mT / d, key_query[..., d, :d, None]], -1)
    return value[..., d, d, None, None] * blocks


def reduced_prediction(
    z: Float[Tensor, "*batch e m"], gamma: Float[Tensor, "*#batch e-1 e"]
) -> Float[Tensor, "*batch"]:
    r"""Compute the reduced model's answer :math:`\langle\Gamma, H_Z\rangle`, from the tokens.

    .. math::
        H_Z = x_{\ell+1}\bigl[\tfrac d\ell\sum_i y_ix_i^\top,\; \tfrac1\ell\sum_i y_i^2\bigr]

    Raises ``ValueError`` where a shape does not fit or z has no token beside the query.

    >>> z = torch.tensor([[1.0, 0, 1], [0, 1, 0], [2, 3, 0]])  # two tokens with labels, a query
    >>> gamma = torch.tensor([[0.5, 0, 0], [0, 0.5, 0]])
    >>> reduced_prediction(z, gamma)  # (d/ℓ) Σ y x = (2, 3)
    tensor(1.)
    """
    rows, columns = _sizes(z)
    d = rows - 1
    ell = columns - 1
    validation.shape("gamma", gamma, "... d e", d=d, e=rows)
    x = z[..., :d, :ell]
    y = z[..., d, :ell]
    sums = d / ell * (x @ y[..., None])[..., 0]
    v = torch.cat([sums, y.square().mean(-1, keepdim=True)], -1)
    return torch.einsum("...d,...de,...e->...", z[..., :d, ell], gamma, v)


def _sizes(z: Float[Tensor, "*batch e m"]) -> tuple[int, int]:
    """Count the rows and columns of Z, a token above its label in each: two of either at least."""
    rows, columns = validation.shape("z", z, "... e m").values()
    validation.whole("the rows of z", rows, low=2)
    validation.whole("the columns of z, tokens and a query,", columns, low=2)
    return rows, columns
