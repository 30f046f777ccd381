r"""The least squares of a fleet of attention layers: residuals, slopes and normal equations.

The residuals :math:`r_\mu=\hat y_\mu-y_\mu` of a layer on its own prompts are functions of its
weights u and M (:mod:`iclutils.regression.layers`); both trainings of
:mod:`iclutils.regression.layer_training` lower :math:`\|r\|^2`.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from iclutils.ground.products import product
from iclutils.regression.fleet import Fleet
from iclutils.regression.layers import Slopes, flattened

# A loss this small a share of the labels' power is an exact fit: what is left is rounding.
EXACT = 1e-20


class Weights(NamedTuple):
    """u and M of all layers, or derivatives by them."""

    u: Float[Tensor, "models e"]
    m: Float[Tensor, "models e e-1"]


class State(NamedTuple):
    """The weights θ = (u, M) of all layers, flattened, sums of squares, and JᵀJ and Jᵀr there."""

    theta: Float[Tensor, "models parameters"]
    loss: Float[Tensor, " models"]
    matrix: Float[Tensor, "models parameters parameters"]
    slope: Float[Tensor, "models parameters"]


@dataclass(frozen=True)
class LeastSquares:
    r"""The residuals of a fleet of layers as functions of their flattened weights.

    Linear attention sees a prompt through its matrix :math:`S=\tfrac1\ell ZZ^\top` alone,

    .. math:: \hat y = u^\top SMx,\qquad \frac{\partial\hat y}{\partial u} = SMx,\qquad
              \frac{\partial\hat y}{\partial(Mx)} = Su,

    which is computed once. A softmax needs all tokens; the prompts then lie along the last axis,
    for sums over a token's few entries, and over few tokens, are fast along long rows. Prompts that
    do not count are zero.
    """

    fleet: Fleet
    softmax: bool

    @functools.cached_property
    def z(self) -> Float[Tensor, "models prompts e t"]:
        """The prompts that count."""
        return self.fleet.z * self.fleet.mask[..., None, None]

    @functools.cached_property
    def x(self) -> Float[Tensor, "models prompts d"]:
        """Their queries."""
        return self.z[..., :-1, -1].contiguous()

    @functools.cached_property
    def y(self) -> Float[Tensor, "models prompts"]:
        """Their labels."""
        return self.fleet.y * self.fleet.mask

    @functools.cached_property
    def second_moment(self) -> Float[Tensor, "models prompts e e"]:
        """S of every prompt."""
        return product(self.z, self.z.mT) / (self.z.shape[-1] - 1)

    def of(self, chosen: Tensor) -> "LeastSquares":
        """The problem of the ``chosen`` layers alone, without the prompts that none of them has."""
        z, y, mask = self.fleet.z[chosen], self.fleet.y[chosen], self.fleet.mask[chosen]
        most = int(mask.sum(1).max()) if len(mask) else 0
        return LeastSquares(Fleet(z[:, :most], y[:, :most], mask[:, :most]), self.softmax)

    def split(self, theta: Float[Tensor, "models parameters"]) -> Weights:
        """The weights u and M."""
        e = self.fleet.z.shape[2]
        return Weights(theta[:, :e], theta[:, e:].reshape(len(theta), e, e - 1))

    @functools.cached_property
    def _tokens(self) -> NDArray[np.float64]:
        """The tokens, (models, e, t, prompts)."""
        return self.z.permute(0, 2, 3, 1).contiguous().numpy()

    def slopes(self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]) -> Slopes:
        """As :func:`iclutils.regression.layers.slopes`, by the way that is fast."""
        if self.softmax:
            return self._softmax_slopes(u, m)
        query, by_query = self._parts(u, m)
        by_u = product(self.second_moment, query.unsqueeze(-1)).squeeze(-1)
        return Slopes((by_query * query).sum(-1), by_u, by_query)

    def _softmax_slopes(
        self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]
    ) -> Slopes:
        query = product(m, self.x.mT)
        scores = torch.from_numpy(np.einsum("bitn,bin->btn", self._tokens, query.numpy()))
        attention = torch.softmax(scores, 1)
        values = torch.from_numpy(np.einsum("bitn,bi->btn", self._tokens, u.numpy()))
        answer = (attention * values).sum(1)
        by_score = attention * (values - answer.unsqueeze(1))
        by_u, by_query = (
            torch.from_numpy(np.einsum("bitn,btn->bin", self._tokens, weight.numpy())).mT
            for weight in (attention, by_score)
        )
        return Slopes(answer, by_u, by_query)

    def at(self, theta: Float[Tensor, "models parameters"]) -> State:
        """The weights ``theta``, their sums of squares and the normal equations there."""
        answer, by_u, by_query = self.slopes(*self.split(theta))
        residual = answer - self.y
        j = flattened(by_u, by_query, self.x)
        slope = product(j.mT, residual.unsqueeze(-1)).squeeze(-1)
        return State(theta, residual.square().sum(1), j.mT @ j, slope)

    def gradient(self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]) -> Weights:
        """The gradient of each layer's mean squared error in u and M."""
        share = 2 / self.fleet.mask.sum(1, keepdim=True)
        if self.softmax:
            answer, by_u, by_query = self.slopes(u, m)
            pull = (share * (answer - self.y)).unsqueeze(-1)
            of_u = (pull * by_u).sum(1)
        else:
            query, by_query = self._parts(u, m)
            pull = (share * ((by_query * query).sum(-1) - self.y)).unsqueeze(-1)
            pulled = product(self._rows.mT, (pull * query).flatten(1).unsqueeze(-1))
            of_u = pulled.squeeze(-1)
        return Weights(of_u, product((pull * by_query).mT, self.x))

    def cosine(self, state: State) -> Float[Tensor, " models"]:
        """The largest cosine between a layer's residuals and a column of J; 0 for an exact fit."""
        lengths = state.matrix.diagonal(dim1=1, dim2=2).sqrt() * state.loss.sqrt()[:, None]
        # a weight without influence has a column of zeros, and cosine 0
        cosine = (state.slope.abs() / lengths.clamp_min(torch.finfo(torch.float64).tiny)).amax(1)
        power = self.y.square().sum(1)
        return torch.where(state.loss <= EXACT * power, 0.0, cosine)

    def _parts(
        self, u: Float[Tensor, "models e"], m: Float[Tensor, "models e e-1"]
    ) -> tuple[Float[Tensor, "models prompts e"], Float[Tensor, "models prompts e"]]:
        """Mx and Su."""
        query = product(self.x, m.mT)
        return query, product(self._rows, u.unsqueeze(-1)).view(query.shape)

    @property
    def _rows(self) -> Float[Tensor, "models rows e"]:
        """The rows of S of all prompts: Su is one product for a layer."""
        return self.second_moment.flatten(1, 2)


def of_one_size(fleet: Fleet, chosen: Bool[Tensor, " models"]) -> list[Int[Tensor, " _"]]:
    """The chosen layers, those with as many prompts together: none carries another's padding."""
    sizes = fleet.mask.sum(1)
    return [(chosen & (sizes == size)).nonzero()[:, 0] for size in torch.unique(sizes[chosen])]
