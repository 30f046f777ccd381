"""Diagnostics of a trained matrix, on matrices made by hand."""

import math

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from iclutils.randomness import stream
from iclutils.window import alignment, low_rank_tasks

F64 = torch.float64


@pytest.fixture
def frame() -> torch.Tensor:
    gaussian = torch.randn(5, 5, generator=stream(0, "test frame"), dtype=F64)
    return torch.linalg.qr(gaussian).Q


def test_metrics_on_a_matrix_made_by_hand(frame: torch.Tensor) -> None:
    B = frame[:, :2]
    M = frame @ torch.diag(torch.tensor([4.0, 5.0, 2.0, 1.0, -3.0], dtype=F64)) @ frame.mT
    assert float(alignment.rho(M, B)) == pytest.approx(3 / 4)
    masses = alignment.masses(M, B)
    assert float(masses.relevant) == pytest.approx(4.5)
    assert float(masses.spurious) == pytest.approx(0.0, abs=1e-12)  # (2 + 1 − 3)/3 to rounding
    # the arc cosine near 1 turns an error of 1e-15 into 4e-8 radians, 3e-6 degrees
    assert float(alignment.largest_angle(M, B)) == pytest.approx(0.0, abs=1e-5)
    # the square of a cosine that is zero to rounding
    assert float(alignment.overlap(M, frame[:, 2:4])) == pytest.approx(0.0, abs=1e-12)
    kept = B @ torch.diag(torch.tensor([4.0, 5.0], dtype=F64)) @ B.mT
    torch.testing.assert_close(alignment.within(M, B), kept)
    assert float(alignment.rho(torch.eye(5, dtype=F64), B)) == pytest.approx(1.0)


def test_the_mean_of_log_rho_is_over_trials_each_with_its_own_basis(frame: torch.Tensor) -> None:
    M = torch.diag(torch.tensor([4.0, 2.0, 1.0], dtype=F64)).expand(2, 3, 3)
    B = torch.eye(3, dtype=F64)[:, [[0, 1], [1, 2]]].transpose(0, 1)  # ρ = 1/2, and 4/1
    mean = alignment.mean_log_rho(M, B)
    assert mean.value == pytest.approx(math.log(2) / 2)
    assert mean.se == pytest.approx(1.5 * math.log(2))


def test_a_known_angle_is_found() -> None:
    angle = torch.deg2rad(torch.tensor(30.0, dtype=F64))
    direction = torch.stack([angle.cos(), angle.sin(), torch.zeros((), dtype=F64)])
    M = torch.outer(direction, direction)
    B = torch.eye(3, dtype=F64)[:, :1]
    assert float(alignment.largest_angle(M, B)) == pytest.approx(30.0)
    assert float(alignment.overlap(M, B)) == pytest.approx(3 / 4)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_angles_are_the_principal_ones(k: int) -> None:
    draws = stream(0, "angles", k)
    for _ in range(5):
        M = torch.randn(6, 6, generator=draws, dtype=F64)
        B = torch.linalg.qr(torch.randn(6, k, generator=draws, dtype=F64)).Q
        top = torch.linalg.eigh((M + M.mT) / 2).eigenvectors[:, -k:]
        angles = subspace_angles(top.numpy(), B.numpy())
        # the arc cosine near 1 turns an error of 1e-15 into 4e-8
        assert alignment.cosines(M, B).numpy() == pytest.approx(np.sort(np.cos(angles))[::-1])
        assert float(alignment.largest_angle(M, B)) == pytest.approx(np.rad2deg(angles.max()))
        mean = np.square(np.cos(angles)).mean()
        assert float(alignment.overlap(M, B)) == pytest.approx(mean)


def test_matrices_and_bases_of_other_dimensions_are_refused(frame: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="M must have shape"):
        alignment.rho(torch.eye(4, dtype=F64), frame[:, :2])


@pytest.mark.parametrize("size", [0.0, 1e-13])
def test_rounding_chooses_no_eigenvectors(size: float) -> None:
    """At a multiple of I every subspace is a top one; the mean over all is k/d."""
    d, k = 6, 2
    noise = torch.randn(5, d, d, generator=stream(0, "ties"), dtype=torch.float64)
    B = low_rank_tasks.random_subspaces(5, d, k, stream(0, "B"))
    M = 1e-6 * (torch.eye(d, dtype=torch.float64) + size * noise)
    torch.testing.assert_close(alignment.overlap(M, B), torch.full((5,), k / d, dtype=F64))


def test_a_tie_at_the_edge_is_shared() -> None:
    """One direction is sure; the second is either of two, of which B has one."""
    M = torch.diag(torch.tensor([3.0, 2.0, 2.0, 1.0], dtype=torch.float64))
    B = torch.eye(4, dtype=torch.float64)[:, :2]
    assert float(alignment.overlap(M, B)) == pytest.approx((1 + 1 / 2) / 2)
