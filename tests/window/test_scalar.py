"""Is the best matrix a multiple of the identity?"""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window import covariates, functions
from iclutils.window.theory import scalar

F64 = torch.float64
EYE = torch.eye(3, dtype=F64)


def accidents(sets, size, *role):
    """w·I with an independent symmetric accident of the given size in each set."""
    noise = torch.randn(sets, 3, 3, generator=stream(0, *role), dtype=F64)
    return 4 * EYE + size * (noise + noise.mT)


def test_what_is_beside_has_no_trace():
    M = accidents(5, 1.0, "trace")
    rest = scalar.beside(M)
    assert float(rest.diagonal(dim1=1, dim2=2).sum(1).abs().max()) < 1e-12  # rounding
    torch.testing.assert_close(rest + scalar.scale(M).view(-1, 1, 1) * EYE, M)


def test_an_accident_falls_with_the_root_and_a_direction_stays():
    few, many = accidents(200, 1.0, "few"), accidents(200, 0.25, "many")  # 16 times the contexts
    found = scalar.fall(few, many, 16)
    assert abs(found.value + 0.5) < 4 * found.se
    direction = torch.diag(torch.tensor([20.0, -10.0, -10.0], dtype=F64))
    assert abs(scalar.fall(few + direction, many + direction, 16).value) < 0.05
    # by hand: sizes 2 and 1 everywhere, a factor of 4 in the contexts
    bump = torch.diag(torch.tensor([1.0, -1.0, 0.0], dtype=F64)).expand(3, 3, 3)
    by_hand = scalar.fall(2 * bump, bump, 4)
    assert by_hand.value == pytest.approx(math.log(0.5) / math.log(4))
    assert by_hand.se == pytest.approx(0, abs=1e-12)


def test_a_turned_matrix_loses_against_the_multiple():
    x = covariates.sample(covariates.Sphere(3), (12, 200, 11), stream(0, "fresh"))
    task = functions.ReLU(3)
    bumped = 4 * EYE + torch.diag(torch.tensor([3.0, 0.0, -3.0], dtype=F64)).expand(12, 3, 3)
    worse = scalar.log_excess(task, bumped, x[:, :, :10], x[:, :, 10:], 0.1)
    assert worse.value > 4 * worse.se
    same = scalar.log_excess(task, 4 * EYE.expand(12, 3, 3), x[:, :, :10], x[:, :, 10:], 0.1)
    assert same.value == pytest.approx(0, abs=1e-12)


def test_bad_input_is_refused():
    M = accidents(4, 1.0, "bad")
    with pytest.raises(ValueError, match="factor"):
        scalar.fall(M, M, 1.0)
    with pytest.raises(ValueError, match="many"):
        scalar.fall(M, M[:3], 4)
    x = covariates.sample(covariates.Sphere(3), (4, 20, 6), stream(0, "bad x"))
    with pytest.raises(ValueError, match="sigma"):
        scalar.log_excess(functions.Affine(3), M, x[..., :5, :], x[..., 5:, :], -1.0)
