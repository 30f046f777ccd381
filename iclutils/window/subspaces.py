"""Random subspaces and stretches, drawn as Figure 9 of Collins et al. draws them (chapter 4)."""

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation


def random_subspaces(
    count: int, d: int, k: int, generator: torch.Generator
) -> Float[Tensor, "count d k"]:
    """Orthonormal bases of uniform k-dimensional subspaces, Q of the QR of a Gaussian.

    Collins et al., Appendix J.1. Raises ``TypeError`` or ``ValueError`` where ``count`` is no whole
    number above zero or not 1 ≤ k < d.

    >>> from iclutils.ground.randomness import stream
    >>> B = random_subspaces(3, 5, 2, stream(0, "subspaces"))
    >>> bool((B.mT @ B - torch.eye(2, dtype=torch.float64)).abs().max() < 1e-12)
    True
    """
    validation.whole("count", count)
    validation.whole("d", d, low=2)
    validation.whole("k", k, low=1, high=d - 1)
    gaussian = torch.randn(count, d, k, generator=generator, dtype=torch.float64)
    Q: Tensor = torch.linalg.qr(gaussian).Q
    return Q


def complement(B: Float[Tensor, "*T d k"]) -> Float[Tensor, "*T d r"]:
    """An orthonormal basis of the d − k directions orthogonal to col(B).

    Raises ``ValueError`` where B has more columns than rows or an entry is not finite.
    """
    sizes = validation.shape("B", validation.finite("B", B), "... d k")
    k = validation.whole("k, the columns of B,", sizes["k"], low=0, high=sizes["d"])
    Q: Tensor = torch.linalg.qr(B, mode="complete").Q
    return Q[..., k:]


def gram_roots(count: int, d: int, generator: torch.Generator) -> Float[Tensor, "count d d"]:
    r"""The stretches of Figure 9, :math:`J = (G^\top G)^{1/2}` of square Gaussian G.

    Collins et al., Appendix J.1. Raises ``TypeError`` or ``ValueError`` where ``count`` or d is no
    whole number above zero.
    """
    validation.whole("count", count)
    validation.whole("d", d)
    G = torch.randn(count, d, d, generator=generator, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(G.mT @ G)
    root: Tensor = (vectors * values.clamp(min=0).sqrt().unsqueeze(-2)) @ vectors.mT
    return root
