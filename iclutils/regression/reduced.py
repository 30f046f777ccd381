r"""Linear attention and its reduction to one matrix Γ (Lu et al., arXiv 2405.11751; chapter 5).

The slides ("Model", "Predictor for :math:`y_{\ell+1}`") put the prompt into the columns of Z,
tokens above labels, with 0 for the query's label. The answer of the layer is the last entry of the
last row of its output; the reduced model answers :math:`\langle\Gamma, H_Z\rangle`. In the shapes
e is d + 1 and m is ℓ + 1.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation


def linear_attention(
    z: Float[Tensor, "*batch e m"],
    value: Float[Tensor, "*#batch e e"],
    key_query: Float[Tensor, "*#batch e e"],
) -> Float[Tensor, "*batch e m"]:
    r"""The layer's output.

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
    r"""The reduced parameter, exact where the last row of V is zero but for its last entry.

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
    r"""The reduced model's answer :math:`\langle\Gamma, H_Z\rangle`, from the tokens.

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
    """The rows and columns of Z, a token above its label in each: two of either at least."""
    rows, columns = validation.shape("z", z, "... e m").values()
    validation.whole("the rows of z", rows, low=2)
    validation.whole("the columns of z, tokens and a query,", columns, low=2)
    return rows, columns
