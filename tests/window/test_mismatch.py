"""What a window pays on tasks of another slope: against the loss itself, and in its limit."""

import math

import pytest
import torch

from iclutils.ground.statistics import exponent
from iclutils.window import functions
from iclutils.window.theory import isotropic, mismatch

RELU = functions.ReLU(5, 1.0)
OPTIMA = mismatch.Optima.of(RELU, 6.0)


def test_a_frozen_window_costs_what_the_loss_at_the_other_slope_says():
    i = OPTIMA.nearest(0.1)
    w, Lambda = float(OPTIMA.w[i]), float(OPTIMA.Lambda[i])
    steep = functions.ReLU(5, 3.0)
    loss = isotropic.limit(5, 1).loss(steep, Lambda**-0.5)
    curve = isotropic.limit(5, 1)
    here = loss[int((curve.w - w).abs().argmin())]
    # the default grid of windows has steps of some per cent, and both losses are flat there
    assert OPTIMA.price(i, 3.0) == pytest.approx(float(here / loss.min()), rel=0.02)
    assert OPTIMA.price(i, 1.0) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("make", [functions.Affine, functions.ReLU])
def test_the_price_tends_to_its_limit(make):
    function = make(5, 1.0)
    windows = mismatch.Optima.of(function, 6.0)
    limit = mismatch.limit_price(5.0, mismatch.bias_exponent(function))
    near, far = (int((windows.w - w).abs().argmin()) for w in (10.0, 1e4))
    assert abs(windows.price(far, 5.0) / limit - 1) < 0.02
    assert abs(windows.price(near, 5.0) / limit - 1) > abs(windows.price(far, 5.0) / limit - 1)


def test_the_exponents_are_those_of_bias_and_cells():
    s = mismatch.bias_exponent(RELU)
    assert s == 3 / 4
    assert OPTIMA.rate().value == pytest.approx(-s / (1 + s), abs=0.005)
    assert OPTIMA.cells_exponent().value == pytest.approx(2, abs=0.005)
    late = OPTIMA.w > 1e4
    fitted = exponent(OPTIMA.Lambda[late], OPTIMA.loss[late]).slope
    assert fitted == pytest.approx(-s / (1 + s), abs=0.02)


def test_the_limit_is_least_where_nothing_changed():
    prices = [mismatch.limit_price(r, 0.75) for r in (0.5, 0.9, 1.0, 1.1, 2.0)]
    assert min(prices) == prices[2] == 1.0
    assert mismatch.limit_price(10.0, 1e9) == pytest.approx(10**2 / 1e9 + 1, rel=1e-6)


def test_the_price_of_a_shrinkage_is_that_of_its_loss():
    q, there = 0.3, 0.05

    def loss(a):
        return (1 - a) ** 2 + there * a**2

    ratio = loss(1 / (1 + q)) / loss(1 / (1 + there))
    assert mismatch.shrinkage_price(q, there) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mismatch.Optima.of(functions.Affine(5, 2.0)), "slope L = 1; got 2"),
        (lambda: mismatch.Optima.of(RELU, 0.0), "decades"),
        (lambda: OPTIMA.price(3, 0.0), "r must"),
        (lambda: OPTIMA.nearest(-0.1), "error must"),
        (lambda: mismatch.limit_price(math.nan, 1.0), "r must"),
        (lambda: mismatch.limit_price(1.0, 0.0), "s must"),
        (lambda: mismatch.shrinkage_price(0.1, 0.0), "q_there must"),
    ],
)
def test_what_is_out_of_range_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_windows_are_doubles():
    assert OPTIMA.w.dtype == torch.float64
