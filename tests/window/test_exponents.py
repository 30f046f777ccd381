"""Exponents along the best window: against their limits, and by finite differences."""

import math

import pytest

from iclutils.ground.statistics import exact
from iclutils.window.functions import Affine, ReLU
from iclutils.window.theory import exponents, isotropic


@pytest.mark.parametrize("d", [2, 3, 5, 10])
def test_relu_exponents_approach_their_limits(d):
    found = exponents.along_best_window(ReLU(d))
    # w* ∝ Λ^(2/(d+2)), loss ∝ Λ^(−3/(d+2)), n·noise ∝ Λ^((d−1)/(d+2)); 5 % is the distance left
    # at windows of 3000 (1000 at d = 10) in the slowest of them
    for slope, limit in zip(found, (2, -3, d - 1), strict=True):
        assert slope.value == pytest.approx(limit / (d + 2), rel=0.05)
        assert 0 < slope.half_width < 0.02


def test_affine_exponent_of_the_window():
    for d in (2, 5):
        window = exponents.along_best_window(Affine(d)).window
        assert window.value == pytest.approx(2 / (d + 3), rel=0.02)


def test_exponents_do_not_depend_on_the_constant():
    one = exponents.along_best_window(ReLU(3))
    ten = exponents.along_best_window(ReLU(3, 10.0))
    for first, second in zip(one, ten, strict=True):
        assert first.value == pytest.approx(second.value, rel=1e-9)


def test_exponents_are_those_of_best_windows():
    """By a minimum at two levels of noise, near the window where the exponents are read."""
    far = isotropic.limit(3, 10**12)
    log_scale = math.log(float(far.optimal_for(ReLU(3))[-10]))
    ends = []
    for step in (-0.05, 0.05):
        sigma = math.exp(-(log_scale + step) / 2) * 1e6
        ends.append(far.best_window(ReLU(3), sigma))
    slope = math.log(ends[1].w / ends[0].w) / 0.1
    assert slope == pytest.approx(exponents.along_best_window(ReLU(3)).window.value, abs=0.01)


def test_a_larger_constant_leaves_the_window_alone():
    near = exponents.along_best_window(ReLU(3), ratio=1.0)
    far = exponents.along_best_window(ReLU(3), ratio=2.0)
    assert near.window == far.window
    assert near.noise == far.noise
    assert near.loss != far.loss
    with pytest.raises(ValueError, match="ratio"):
        exponents.along_best_window(ReLU(3), ratio=0.0)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_drift_bounds_what_is_left(d):
    found = exponents.along_best_window(ReLU(d)).noise
    assert abs(found.value - (d - 1) / (d + 2)) < exponents.noise_drift(d)
    assert exponents.noise_drift(d) == pytest.approx(found.half_width)


def test_the_bound_for_any_task_falls_more_slowly_than_the_loss():
    for d in (2, 3, 5, 10):
        bound = exponents.any_task(d)
        assert exponents.along_best_window(ReLU(d)).loss.value < bound.value < 0
        # 2(1 − r₁) ∝ 1/w and w* ∝ Λ^(2/(d+2))
        assert bound.value == pytest.approx(-2 / (d + 2), rel=0.05)


def test_the_minimum_of_two_bounds():
    loss = exact(-0.4)
    # labels so small that the first bound is the smaller one: the labels' size cancels
    assert exponents.over_e3_minimum(loss, 5, 2.0).value == pytest.approx(-0.4 + 2 / 7)
    assert exponents.over_e3_minimum(loss, 5, 2.0, first=4.0).value == pytest.approx(-0.4 + 4 / 7)
    # labels of one size: the second bound is the smaller one, Λ^(5/14) over n = Λ²
    assert exponents.over_e3_minimum(loss, 5, 0.0).value == pytest.approx(-0.4 + 2 - 5 / 14)
