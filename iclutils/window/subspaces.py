r"""Does a matrix M know a subspace col(B)? Block masses, the paper's ρ, and the principal angle.

Shapes: ``M: (*S, d, d)``, ``B: (*T, d, k)`` with orthonormal columns; leading axes broadcast. Used in chapter 4.
"""

import torch

from iclutils import validation


def random_subspaces(count: int, d: int, k: int, generator: torch.Generator) -> torch.Tensor:
    """Orthonormal bases ``B: (count, d, k)`` of uniform subspaces: Q of the QR of a Gaussian (Collins et al., App. J.1)."""
    validation.whole("count", count)
    validation.whole("k", k, low=1, high=validation.whole("d", d, low=2) - 1)
    return torch.linalg.qr(torch.randn(count, d, k, generator=generator, dtype=torch.float64)).Q


def complement(B: torch.Tensor) -> torch.Tensor:
    """An orthonormal basis ``B_perp: (*T, d, d − k)`` of what is orthogonal to col(B)."""
    k = validation.shape("B", B, "... d k")["k"]
    return torch.linalg.qr(B, mode="complete").Q[..., k:]


def gram_roots(count: int, d: int, generator: torch.Generator) -> torch.Tensor:
    r"""The stretches of Figure 9, $J = (G^\top G)^{1/2}$ of square Gaussian G; ``(count, d, d)`` (Collins et al., App. J.1)."""
    G = torch.randn(validation.whole("count", count), validation.whole("d", d), d, generator=generator, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(G.mT @ G)
    return (vectors * values.clamp(min=0).sqrt().unsqueeze(-2)) @ vectors.mT


def blocks(M: torch.Tensor, B: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    r"""The relevant and the spurious block, $B^\top M B$ ``(..., k, k)`` and $B_\perp^\top M B_\perp$ ``(..., d−k, d−k)``."""
    _check(M, B)
    B_perp = complement(B)
    return B.mT @ M @ B, B_perp.mT @ M @ B_perp


def rho(M: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    r"""The paper's representation error, $\rho(M,B) = \|B_\perp^\top M B_\perp\|_2 \,/\, \sigma_{\min}(B^\top M B)$.

    Collins et al., Appendix J.1; the formula itself is illegible there. It is the one fraction that fits what
    the text says of it (B_⊥ on top, the smallest singular value below, zero for M = cBBᵀ, one for M = wI).
    """
    relevant, spurious = blocks(M, B)
    return torch.linalg.matrix_norm(spurious, ord=2) / torch.linalg.svdvals(relevant)[..., -1]


def masses(M: torch.Tensor, B: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Mass per direction in and outside col(B): $\mathrm{tr}(B^\top M B)/k$ and $\mathrm{tr}(B_\perp^\top M B_\perp)/(d-k)$."""
    return tuple(block.diagonal(dim1=-2, dim2=-1).mean(-1) for block in blocks(M, B))  # type: ignore[return-value]


def cosines(M: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """Cosines ``(..., k)`` of the principal angles between col(B) and the top-k eigenvectors of the symmetric part of M."""
    _check(M, B)
    top = torch.linalg.eigh((M + M.mT) / 2).eigenvectors[..., -B.shape[-1]:]
    return torch.linalg.svdvals(top.mT @ B).clamp(max=1)


def largest_angle(M: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """The largest principal angle in degrees: 0 where the top-k eigenvectors of M span col(B)."""
    return torch.rad2deg(torch.arccos(cosines(M, B)[..., -1]))


def overlap(M: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    r"""$\|\hat B^\top B\|_F^2/k$, the mean squared cosine; a uniformly random $\hat B$ has expectation k/d."""
    return cosines(M, B).square().mean(-1)


def within(M: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    r"""M without its spurious part, $PMP$ with $P = BB^\top$."""
    _check(M, B)
    P = B @ B.mT
    return P @ M @ P


def _check(M: torch.Tensor, B: torch.Tensor) -> None:
    validation.shape("M", M, "... d d", d=validation.shape("B", B, "... d k")["d"])
