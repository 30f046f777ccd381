r"""Task functions of transformed covariates, for the ellipsoids of Collins et al., Appendix B."""

from collections.abc import Hashable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.window.functions import Affine, Cosine, ReLU
from iclutils.window.tasks import Task


@dataclass(frozen=True, eq=False)
class Through:
    r"""Tasks g of another class seen through a matrix, :math:`f(x) = g(R^\top x)`.

    With :math:`R = \Sigma^{-1/2}` the directions of affine and ReLU tasks are
    :math:`\Sigma^{-1/2}u` (Collins et al., Definition B.3). Raises ``ValueError`` where ``root`` is
    not finite or not of the class's dimension.
    """

    function: Affine | ReLU | Cosine
    root: Float[Tensor, "d d"]

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "d d", d=self.function.d)
        validation.finite("root", self.root)

    @property
    def name(self) -> str:
        """The name of the class that is seen."""
        return self.function.name

    @property
    def law(self) -> Hashable:
        """The law of the class that is seen."""
        return self.function.law

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks of the class that is seen."""
        return self.function.sample(size, generator)

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        r"""g at :math:`R^\top x`."""
        return self.function.evaluate(task, x @ self.root)
