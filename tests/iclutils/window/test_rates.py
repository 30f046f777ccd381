"""Exponents of the best window, and of the sketch of the proof."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import exact
from iclutils.window import covariates, function_classes
from iclutils.window.function_classes import Affine, ReLU
from iclutils.window.theory import population_loss, rates


@pytest.mark.parametrize("d", [2, 5])
def test_exponents_are_the_classical_ones(d: int) -> None:
    classical = {function_classes.Affine(d): 2 / (d + 3), function_classes.ReLU(d): 2 / (d + 2)}
    for function, expected in classical.items():
        found = rates.exponent(function)
        # the extrapolation's own error, and 1e-4 for finite differences on 20 points a decade
        assert abs(found.value - expected) < found.half_width + 1e-4
        assert found.half_width < 1e-3


def test_the_edge_exponent_tends_to_that_of_the_spacing_of_the_tokens() -> None:
    """With hardly any noise the spacing n^(−1/(d−1)) of the tokens limits the window."""
    found = rates.edge_exponent(function_classes.Affine(5), 2.5)
    # w* ~ n^(2/(d+1)) for affine tasks, in units of Λ = n^(1 + δ)
    assert abs(found.value - 2 / 6 / 3.5) < 1e-3  # what is left at n = 10¹⁰
    with pytest.raises(ValueError, match="delta"):
        rates.edge_exponent(function_classes.Affine(5), -1.0)


@pytest.mark.parametrize("d", [5, 10])
def test_without_noise_the_spacing_of_the_tokens_decides(d: int) -> None:
    laws = {function_classes.ReLU(d): 2 / d, function_classes.Affine(d): 2 / (d + 1)}
    for function, law in laws.items():
        found = rates.noiseless_exponent(function)
        assert abs(found.value - law) < 1 / 60  # what is left at n = 10¹⁰
        assert 0 < found.half_width < 1 / 60
    assert rates.noiseless_exponent(function_classes.Affine(4)).value == pytest.approx(
        2 / 5, abs=0.1
    )
    with pytest.raises(ValueError, match=r"function\.d"):
        rates.noiseless_exponent(function_classes.ReLU(3))


def test_with_a_constant_noise_the_edge_is_the_exponent_itself() -> None:
    found = rates.edge_exponent(function_classes.ReLU(3), 0.0)
    assert abs(found.value - 2 / 5) < 0.02  # the approach to it at n = 10¹⁰
    assert 0 < found.half_width < 0.02  # and what a decade still changes of it


@pytest.mark.parametrize("d", [2, 3, 5, 10])
def test_the_cap_average_has_the_orders_of_its_share(d: int) -> None:
    found = rates.cap_exponents(d)
    # bias is the cap's height; the noise one over its share, (d − 1)/2; their balance
    assert found.bias.value == pytest.approx(-2, abs=1e-3)
    assert found.noise.value == pytest.approx((d - 1) / 2, abs=1e-3)
    assert found.window.value == pytest.approx(2 / (d + 3), abs=1e-3)


def test_the_mean_over_a_cap_is_that_of_drawn_tokens() -> None:
    w = torch.tensor([0.5, 2.0], dtype=torch.float64)
    t = covariates.sample(covariates.Sphere(4), (200_000,), stream(0, "cap"))[:, 0]
    for one, mean in zip(w, rates.cap_mean(w, 4), strict=True):
        inside = t[2 - 2 * t <= 1 / one]
        se = float(inside.std()) / math.sqrt(len(inside))
        assert abs(float(mean) - float(inside.mean())) < 4 * se


def test_the_endless_loss_is_the_closed_form() -> None:
    loss = rates.endless(3)
    exact = population_loss.limit(3, 1, w=loss.w)
    assert torch.equal(loss.concentration, exact.concentration)
    with pytest.raises(ValueError, match="d"):
        rates.endless(1)


@pytest.mark.parametrize("d", [2, 3, 5, 10])
def test_relu_exponents_approach_their_limits(d):
    found = rates.along_best_window(ReLU(d))
    # w* ∝ Λ^(2/(d+2)), loss ∝ Λ^(−3/(d+2)), n·noise ∝ Λ^((d−1)/(d+2)); 5 % is the distance left
    # at windows of 3000 (1000 at d = 10) in the slowest of them
    for slope, limit in zip(found, (2, -3, d - 1), strict=True):
        assert slope.value == pytest.approx(limit / (d + 2), rel=0.05)
        assert 0 < slope.half_width < 0.02


def test_affine_exponent_of_the_window():
    for d in (2, 5):
        window = rates.along_best_window(Affine(d)).window
        assert window.value == pytest.approx(2 / (d + 3), rel=0.02)


def test_exponents_do_not_depend_on_the_constant():
    one = rates.along_best_window(ReLU(3))
    ten = rates.along_best_window(ReLU(3, 10.0))
    for first, second in zip(one, ten, strict=True):
        assert first.value == pytest.approx(second.value, rel=1e-9)


def test_exponents_are_those_of_best_windows():
    """By a minimum at two levels of noise, near the window where the exponents are read."""
    far = population_loss.limit(3, 10**12)
    log_scale = math.log(float(far.optimal_for(ReLU(3))[-10]))
    ends = []
    for step in (-0.05, 0.05):
        sigma = math.exp(-(log_scale + step) / 2) * 1e6
        ends.append(far.best_window(ReLU(3), sigma))
    slope = math.log(ends[1].w / ends[0].w) / 0.1
    assert slope == pytest.approx(rates.along_best_window(ReLU(3)).window.value, abs=0.01)


def test_a_larger_constant_leaves_the_window_alone():
    near = rates.along_best_window(ReLU(3), ratio=1.0)
    far = rates.along_best_window(ReLU(3), ratio=2.0)
    assert near.window == far.window
    assert near.noise == far.noise
    assert near.loss != far.loss
    with pytest.raises(ValueError, match="ratio"):
        rates.along_best_window(ReLU(3), ratio=0.0)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_drift_bounds_what_is_left(d):
    found = rates.along_best_window(ReLU(d)).noise
    assert abs(found.value - (d - 1) / (d + 2)) < rates.noise_drift(d)
    assert rates.noise_drift(d) == pytest.approx(found.half_width)


def test_the_bound_for_any_task_falls_more_slowly_than_the_loss():
    for d in (2, 3, 5, 10):
        bound = rates.any_task(d)
        assert rates.along_best_window(ReLU(d)).loss.value < bound.value < 0
        # 2(1 − r₁) ∝ 1/w and w* ∝ Λ^(2/(d+2))
        assert bound.value == pytest.approx(-2 / (d + 2), rel=0.05)


def test_the_minimum_of_two_bounds():
    loss = exact(-0.4)
    # labels so small that the first bound is the smaller one: the labels' size cancels
    assert rates.over_e3_minimum(loss, 5, 2.0).value == pytest.approx(-0.4 + 2 / 7)
    assert rates.over_e3_minimum(loss, 5, 2.0, first=4.0).value == pytest.approx(-0.4 + 4 / 7)
    # labels of one size: the second bound is the smaller one, Λ^(5/14) over n = Λ²
    assert rates.over_e3_minimum(loss, 5, 0.0).value == pytest.approx(-0.4 + 2 - 5 / 14)
