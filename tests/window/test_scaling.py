"""Exponents of the best window, and of the sketch of the proof."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window import covariates, functions
from iclutils.window.theory import isotropic, scaling


@pytest.mark.parametrize("d", [2, 5])
def test_exponents_are_the_classical_ones(d: int) -> None:
    classical = {functions.Affine(d): 2 / (d + 3), functions.ReLU(d): 2 / (d + 2)}
    for function, expected in classical.items():
        found = scaling.exponent(function)
        # the extrapolation's own error, and 1e-4 for finite differences on 20 points a decade
        assert abs(found.value - expected) < found.half_width + 1e-4
        assert found.half_width < 1e-3


def test_the_edge_exponent_tends_to_that_of_the_spacing_of_the_tokens() -> None:
    """With hardly any noise the spacing n^(−1/(d−1)) of the tokens limits the window."""
    found = scaling.edge_exponent(functions.Affine(5), 2.5)
    # w* ~ n^(2/(d+1)) for affine tasks, in units of Λ = n^(1 + δ)
    assert abs(found.value - 2 / 6 / 3.5) < 1e-3  # what is left at n = 10¹⁰
    with pytest.raises(ValueError, match="delta"):
        scaling.edge_exponent(functions.Affine(5), -1.0)


@pytest.mark.parametrize("d", [5, 10])
def test_without_noise_the_spacing_of_the_tokens_decides(d: int) -> None:
    laws = {functions.ReLU(d): 2 / d, functions.Affine(d): 2 / (d + 1)}
    for function, law in laws.items():
        found = scaling.noiseless_exponent(function)
        assert abs(found.value - law) < 1 / 60  # what is left at n = 10¹⁰
        assert found.half_width < 1 / 60
    assert scaling.noiseless_exponent(functions.Affine(4)).value == pytest.approx(2 / 5, abs=0.1)
    with pytest.raises(ValueError, match=r"function\.d"):
        scaling.noiseless_exponent(functions.ReLU(3))


def test_with_a_constant_noise_the_edge_is_the_exponent_itself() -> None:
    found = scaling.edge_exponent(functions.ReLU(3), 0.0)
    assert abs(found.value - 2 / 5) < 0.02  # the approach to it at n = 10¹⁰
    assert 0 < found.half_width < 0.02  # and what a decade still changes of it


@pytest.mark.parametrize("d", [2, 3, 5, 10])
def test_the_cap_average_has_the_orders_of_its_share(d: int) -> None:
    found = scaling.cap_exponents(d)
    # bias is the cap's height; the noise one over its share, (d − 1)/2; their balance
    assert found.bias.value == pytest.approx(-2, abs=1e-3)
    assert found.noise.value == pytest.approx((d - 1) / 2, abs=1e-3)
    assert found.window.value == pytest.approx(2 / (d + 3), abs=1e-3)


def test_the_mean_over_a_cap_is_that_of_drawn_tokens() -> None:
    w = torch.tensor([0.5, 2.0], dtype=torch.float64)
    t = covariates.sample(covariates.Sphere(4), (200_000,), stream(0, "cap"))[:, 0]
    for one, mean in zip(w, scaling.cap_mean(w, 4), strict=True):
        inside = t[2 - 2 * t <= 1 / one]
        se = float(inside.std()) / math.sqrt(len(inside))
        assert abs(float(mean) - float(inside.mean())) < 4 * se


def test_the_endless_loss_is_the_closed_form() -> None:
    loss = scaling.endless(3)
    exact = isotropic.limit(3, 1, w=loss.w)
    assert torch.equal(loss.concentration, exact.concentration)
    with pytest.raises(ValueError, match="d"):
        scaling.endless(1)
