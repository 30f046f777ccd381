"""Random subspaces and stretches."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window import alignment, subspaces

F64 = torch.float64


def test_random_subspaces_have_overlap_k_over_d() -> None:
    """At 5 standard errors: 6e-7 false alarms."""
    B = subspaces.random_subspaces(4000, 6, 2, stream(0, "subspaces"))
    seen = alignment.overlap(torch.diag(torch.arange(6, dtype=F64)), B)
    assert float((seen.mean() - 2 / 6).abs()) < 5 * float(seen.std()) / math.sqrt(4000)


def test_a_basis_and_its_complement_make_a_frame() -> None:
    B = subspaces.random_subspaces(3, 5, 2, stream(0, "B"))
    frame = torch.cat([B, subspaces.complement(B)], dim=-1)
    torch.testing.assert_close(frame.mT @ frame, torch.eye(5, dtype=F64).expand(3, 5, 5))


def test_gram_roots_are_the_roots_of_gram_matrices() -> None:
    J = subspaces.gram_roots(3, 4, stream(0, "J"))
    G = torch.randn(3, 4, 4, generator=stream(0, "J"), dtype=F64)
    torch.testing.assert_close(J, J.mT)
    torch.testing.assert_close(J @ J, G.mT @ G)
    assert (torch.linalg.eigvalsh(J) > 0).all()


@pytest.mark.parametrize(
    ("count", "d", "k", "word"),
    [(0, 5, 2, "count"), (1, 1, 1, "d"), (1, 5, 5, "k"), (1, 5, 0, "k")],
)
def test_bad_numbers_are_refused(count: int, d: int, k: int, word: str) -> None:
    with pytest.raises(ValueError, match=f"{word} must be"):
        subspaces.random_subspaces(count, d, k, stream(0, "x"))
