r"""What a class of task functions offers, and the draws that the classes share.

A task carries leading axes ``*size``: f at ``x: (*size, m, d)`` is ``(*size, m)``.
"""

from collections.abc import Hashable
from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import normal
from iclutils.window.covariates import normalised

Task = dict[str, Tensor]


class FunctionClass(Protocol):
    """What pretraining needs of a function class.

    ``law`` is what ``sample`` depends on: classes of one law draw the same tasks from a stream.
    """

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def law(self) -> Hashable: ...

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task: ...

    def evaluate(self, task: Task, x: Float[Tensor, "*size m d"]) -> Float[Tensor, "*size m"]: ...


def directions(
    size: tuple[int, ...], d: int, generator: torch.Generator
) -> Float[Tensor, "*size d"]:
    r"""Draw unit vectors, uniform on :math:`S^{d-1}`.

    Raises ``TypeError`` or ``ValueError`` where ``size`` is no tuple of whole numbers or d is
    below 1.
    """
    size = validation.sizes("size", size)
    validation.whole("d", d)
    return normalised(normal(*size, d, generator=generator))


def along(
    w: Float[Tensor, "*tasks d"], x: Float[Tensor, "*points m d"]
) -> Float[Tensor, "*both m"]:
    r""":math:`w^\top x` for every token; the leading axes broadcast.

    Raises ``ValueError`` where the tokens have another dimension than w.
    """
    validation.shape("x", x, "... m d", d=w.shape[-1])
    return (x @ w.unsqueeze(-1)).squeeze(-1)


def symmetric_uniform(size: tuple[int, ...], generator: torch.Generator) -> Float[Tensor, "*size"]:
    """Draw numbers, uniform on [−1, 1].

    Raises ``TypeError`` or ``ValueError`` where ``size`` is no tuple of whole numbers.
    """
    size = validation.sizes("size", size)
    return 2 * torch.rand(*size, generator=generator, dtype=torch.float64) - 1
