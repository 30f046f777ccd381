"""What a window pays on tasks of another slope: against the loss itself, and in its limit."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import exponent
from iclutils.window import function_classes
from iclutils.window.function_classes import Affine, Cosine, ReLU
from iclutils.window.theory import misspecification, population_loss

RELU = function_classes.ReLU(5, 1.0)
OPTIMA = misspecification.Optima.of(RELU, 6.0)


def test_a_frozen_window_costs_what_the_loss_at_the_other_slope_says():
    i = OPTIMA.nearest(0.1)
    w, Lambda = float(OPTIMA.w[i]), float(OPTIMA.Lambda[i])
    steep = function_classes.ReLU(5, 3.0)
    loss = population_loss.limit(5, 1).loss(steep, Lambda**-0.5)
    curve = population_loss.limit(5, 1)
    here = loss[int((curve.w - w).abs().argmin())]
    # the default grid of windows has steps of some per cent, and both losses are flat there
    assert OPTIMA.price(i, 3.0) == pytest.approx(float(here / loss.min()), rel=0.02)
    assert OPTIMA.price(i, 1.0) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("make", [function_classes.Affine, function_classes.ReLU])
def test_the_price_tends_to_its_limit(make):
    function = make(5, 1.0)
    windows = misspecification.Optima.of(function, 6.0)
    limit = misspecification.limit_price(5.0, misspecification.bias_exponent(function))
    near, far = (int((windows.w - w).abs().argmin()) for w in (10.0, 1e4))
    assert abs(windows.price(far, 5.0) / limit - 1) < 0.02
    assert abs(windows.price(near, 5.0) / limit - 1) > abs(windows.price(far, 5.0) / limit - 1)


def test_the_exponents_are_those_of_bias_and_cells():
    s = misspecification.bias_exponent(RELU)
    assert s == 3 / 4
    assert OPTIMA.rate().value == pytest.approx(-s / (1 + s), abs=0.005)
    assert OPTIMA.cells_exponent().value == pytest.approx(2, abs=0.005)
    late = OPTIMA.w > 1e4
    fitted = exponent(OPTIMA.Lambda[late], OPTIMA.loss[late]).slope
    assert fitted == pytest.approx(-s / (1 + s), abs=0.02)


def test_the_limit_is_least_where_nothing_changed():
    prices = [misspecification.limit_price(r, 0.75) for r in (0.5, 0.9, 1.0, 1.1, 2.0)]
    assert min(prices) == prices[2] == 1.0
    assert misspecification.limit_price(10.0, 1e9) == pytest.approx(10**2 / 1e9 + 1, rel=1e-6)


def test_the_price_of_a_shrinkage_is_that_of_its_loss():
    q, there = 0.3, 0.05

    def loss(a):
        return (1 - a) ** 2 + there * a**2

    ratio = loss(1 / (1 + q)) / loss(1 / (1 + there))
    assert misspecification.shrinkage_price(q, there) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: misspecification.Optima.of(function_classes.Affine(5, 2.0)), "slope L = 1; got 2"),
        (lambda: misspecification.Optima.of(RELU, 0.0), "decades"),
        (lambda: OPTIMA.price(3, 0.0), "r must"),
        (lambda: OPTIMA.nearest(-0.1), "error must"),
        (lambda: misspecification.limit_price(math.nan, 1.0), "r must"),
        (lambda: misspecification.limit_price(1.0, 0.0), "s must"),
        (lambda: misspecification.shrinkage_price(0.1, 0.0), "q_there must"),
    ],
)
def test_what_is_out_of_range_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_windows_are_doubles():
    assert OPTIMA.w.dtype == torch.float64


FAR = population_loss.limit(5, 2000)
DRAWN = population_loss.sampled(3, 50, stream(0, "mismatch"), contexts=400)


@pytest.mark.parametrize("exact", [FAR, DRAWN], ids=["limit", "drawn"])
def test_a_window_is_best_for_its_own_class(exact):
    learned = ReLU(exact.d, 2.0)
    assert misspecification.loss_ratio(exact, learned, learned, 1.0).value == pytest.approx(
        1, abs=1e-9
    )
    for other in (ReLU(exact.d, 0.5), Affine(exact.d, 8.0), Cosine(exact.d, 3.0)):
        assert misspecification.loss_ratio(exact, learned, other, 1.0).value > 1


def test_the_loss_is_a_parabola_in_the_constant():
    half, one, two = (
        misspecification.loss_elsewhere(DRAWN, ReLU(3), ReLU(3, L), 1.0).value
        for L in (0.5, 1.0, 2.0)
    )
    signal = (two - one) / 3
    noise = one - signal
    assert half == pytest.approx(signal / 4 + noise, rel=1e-9)


def test_errors_are_over_batches_of_contexts():
    drawn = misspecification.loss_elsewhere(DRAWN, ReLU(3), ReLU(3, 2.0), 1.0)
    assert drawn.se > 0
    assert drawn.dof == population_loss.BATCHES - 1
    closed = misspecification.loss_elsewhere(FAR, ReLU(5), ReLU(5, 2.0), 1.0)
    assert closed.se == 0
    assert closed.dof == math.inf


@pytest.mark.parametrize("L", [1.0, 0.3])
def test_the_slope_is_that_of_the_losses(L):
    learned = ReLU(3, L)
    found = misspecification.slope_in_constant(DRAWN, learned, 0.5, 0.2, 3.0)
    low, high = (
        misspecification.loss_elsewhere(DRAWN, learned, ReLU(3, end), 0.5).value
        for end in (0.2, 3.0)
    )
    assert found.value == pytest.approx(math.log(high / low) / math.log(15), rel=1e-6)
    assert 0 < found.se < 0.1


def test_the_slopes_error_bounds_the_scatter_between_independent_sets():
    values = []
    for i in range(12):
        exact = population_loss.sampled(3, 50, stream(0, "scatter", i), contexts=400)
        values.append(misspecification.slope_in_constant(exact, ReLU(3), 0.5, 0.2, 3.0))
    middle = sum(one.value for one in values) / len(values)
    scatter = math.sqrt(sum((one.value - middle) ** 2 for one in values) / (len(values) - 1))
    typical = sum(one.se for one in values) / len(values)
    # the window moves with the contexts too, which S and N at the best one hardly notice
    assert scatter < 1.5 * typical


def test_the_least_losses_rise_with_the_rate_of_chapter_1():
    # where noise sets the window: L² Λ^(−3/(d+2)) and so L^(2(d−1)/(d+2)) for ReLU tasks
    wide = population_loss.limit(3, 10**6)
    found = misspecification.least_slope_in_constant(wide, ReLU(3), 1.0, 1.0, 2.0)
    assert found == pytest.approx(4 / 5, abs=0.05)


@pytest.mark.parametrize(
    "slope", [misspecification.slope_in_constant, misspecification.least_slope_in_constant]
)
@pytest.mark.parametrize("ends", [(0.0, 1.0), (2.0, 1.0), (1.0, -1.0)])
def test_the_ends_of_a_slope_must_rise(slope, ends):
    with pytest.raises(ValueError, match="must be"):
        slope(FAR, ReLU(5), 1.0, *ends)


@pytest.mark.parametrize("high", [-1.0, math.inf, math.nan])
def test_the_upper_end_of_a_slope_is_named(high):
    with pytest.raises(ValueError, match=r"^high must be"):
        misspecification.slope_in_constant(FAR, ReLU(5), 1.0, 0.5, high)


def test_the_ratio_of_two_windows():
    narrow = DRAWN.best_window(ReLU(3, 4.0), 1.0)
    wide = DRAWN.best_window(ReLU(3), 1.0)
    found = misspecification.window_ratio(narrow, wide)
    assert found.value == narrow.w / wide.w > 1
    relative = math.hypot(narrow.w_se / narrow.w, wide.w_se / wide.w)
    assert found.se == pytest.approx(found.value * relative)
    assert found.dof == population_loss.BATCHES - 1
    closed = FAR.best_window(ReLU(5), 1.0)
    assert misspecification.window_ratio(closed, closed) == (1.0, 0.0, math.inf)
    with pytest.raises(ValueError, match="batches"):
        misspecification.window_ratio(narrow, closed)
    flat = DRAWN.best_window(Cosine(3, 0.01), 1.0)
    with pytest.raises(ValueError, match=r"second\.w"):
        misspecification.window_ratio(narrow, flat)
