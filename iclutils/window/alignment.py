r"""Does a trained matrix M know a subspace col(B)?

Block masses, the paper's ρ, and principal angles (chapter 4). B has orthonormal columns; the
leading axes of M and B broadcast. Every function raises ``ValueError`` where M is not square or
not finite, its dimension is not that of B's columns, or these span all directions.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats import Estimate, estimate
from iclutils.window.low_rank_tasks import complement

TIED = 1e-6  # of the largest eigenvalue: far more than rounding, far less than what training does

Matrices = Float[Tensor, "*S d d"]
Bases = Float[Tensor, "*T d k"]


class Blocks(NamedTuple):
    r"""What M does in col(B) and outside it, or a number for each of the two."""

    relevant: Tensor
    spurious: Tensor


def blocks(M: Matrices, B: Bases) -> Blocks:
    r"""Compute the blocks :math:`B^\top M B` (k by k), :math:`B_\perp^\top M B_\perp`."""
    _check(M, B)
    B_perp = complement(B)
    return Blocks(B.mT @ M @ B, B_perp.mT @ M @ B_perp)


def rho(M: Matrices, B: Bases) -> Float[Tensor, "*both"]:
    r"""Return the paper's representation error.

    .. math:: \rho(M,B) = \|B_\perp^\top M B_\perp\|_2 \,/\, \sigma_{\min}(B^\top M B)

    Collins et al., Appendix J.1; the formula itself is illegible there. It is the simplest fraction
    that fits what the text says of it (:math:`B_\perp` on top, the smallest singular value below,
    zero for :math:`M = cBB^\top`, one for :math:`M = wI`). It is infinite where M is blind to a
    direction of col(B). Raises ``ValueError`` where M is zero on both sides: 0/0 has no value.

    >>> M = torch.diag(torch.tensor([4.0, 2.0, 1.0]))
    >>> float(rho(M, torch.eye(3)[:, :2]))
    0.5
    """
    block = blocks(M, B)
    spurious: Tensor = torch.linalg.matrix_norm(block.spurious, ord=2)
    relevant: Tensor = torch.linalg.svdvals(block.relevant)[..., -1]
    if bool(((spurious == 0) & (relevant == 0)).any()):
        raise ValueError("M must not be zero in col(B) and outside it: its ρ would be 0/0")
    return spurious / relevant


def mean_log_rho(M: Float[Tensor, "T d d"], B: Float[Tensor, "T d k"]) -> Estimate:
    r"""Estimate the mean over trials of :math:`\ln\rho(M,B)`, each trial with its own B.

    Raises as :func:`rho`, and ``ValueError`` for fewer than 2 trials.
    """
    return estimate(rho(M, B).log())


def masses(M: Matrices, B: Bases) -> Blocks:
    r"""Mass per direction in col(B) and outside it.

    .. math:: \mathrm{tr}(B^\top M B)/k,\qquad \mathrm{tr}(B_\perp^\top M B_\perp)/(d-k)
    """
    block = blocks(M, B)
    relevant = block.relevant.diagonal(dim1=-2, dim2=-1).mean(-1)
    return Blocks(relevant, block.spurious.diagonal(dim1=-2, dim2=-1).mean(-1))


def cosines(M: Matrices, B: Bases) -> Float[Tensor, "*both k"]:
    """Cosines of the principal angles between col(B) and the top-k eigenvectors of M.

    The eigenvectors are those of the symmetric part of M; the cosines fall. Raises ``ValueError``
    where the k-th eigenvalue equals the next one, as for M = 0: rounding would choose the vectors.
    """
    _check(M, B)
    k = B.shape[-1]
    values, vectors = torch.linalg.eigh((M + M.mT) / 2)
    if bool((values[..., -k] == values[..., -k - 1]).any()):
        raise ValueError(f"M must have {k} eigenvalues above all others; the next one is as large")
    top = vectors[..., -k:]
    aligned: Tensor = torch.linalg.svdvals(top.mT @ B)
    return aligned.clamp(max=1)


def largest_angle(M: Matrices, B: Bases) -> Float[Tensor, "*both"]:
    """Compute the largest principal angle between col(B) and M's top k eigenvectors, in degrees."""
    return torch.rad2deg(torch.arccos(cosines(M, B)[..., -1]))


def overlap(M: Matrices, B: Bases) -> Float[Tensor, "*both"]:
    r"""Compute the mean squared cosine, :math:`\|\hat B^\top B\|_F^2/k`.

    Its expectation is k/d for a uniformly random :math:`\hat B`. Eigenvectors of equal eigenvalues
    are any of their space, and rounding would choose: there it is the mean over all choices.

    >>> B = torch.eye(3)[:, :1]
    >>> round(float(overlap(torch.eye(3), B)), 6), float(overlap(torch.diag(torch.arange(3.0)), B))
    (0.333333, 0.0)
    """
    _check(M, B)
    k = B.shape[-1]
    values, vectors = torch.linalg.eigh((M + M.mT) / 2)
    last = values[..., -k, None]
    room = TIED * values.abs().amax(-1, keepdim=True)
    above = values > last + room
    tied = (values - last).abs() <= room
    share = (k - above.sum(-1, keepdim=True)) / tied.sum(-1, keepdim=True)
    captured = (vectors.mT @ B).square().sum(-1)
    share_of_axes: Tensor = ((above + share * tied) * captured).sum(-1) / k
    return share_of_axes


def within(M: Matrices, B: Bases) -> Float[Tensor, "*both d d"]:
    r"""M without its spurious part, :math:`PMP` with :math:`P = BB^\top`."""
    _check(M, B)
    P = B @ B.mT
    return P @ M @ P


def _check(M: Matrices, B: Bases) -> None:
    sizes = validation.shape("B", B, "... d k")
    validation.whole("k, the columns of B,", sizes["k"], high=sizes["d"] - 1)
    validation.shape("M", M, "... d d", d=sizes["d"])
    validation.finite("M", M)
    validation.orthonormal("B", B)
