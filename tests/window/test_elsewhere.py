"""The loss of a window on other tasks: its touching point, its parabola, its slopes."""

import math

import pytest

from iclutils.ground.randomness import stream
from iclutils.window.functions import Affine, Cosine, ReLU
from iclutils.window.theory import elsewhere, isotropic

FAR = isotropic.limit(5, 2000)
DRAWN = isotropic.sampled(3, 50, stream(0, "mismatch"), contexts=400)


@pytest.mark.parametrize("exact", [FAR, DRAWN], ids=["limit", "drawn"])
def test_a_window_is_best_for_its_own_class(exact):
    learned = ReLU(exact.d, 2.0)
    assert elsewhere.loss_ratio(exact, learned, learned, 1.0).value == pytest.approx(1, abs=1e-9)
    for other in (ReLU(exact.d, 0.5), Affine(exact.d, 8.0), Cosine(exact.d, 3.0)):
        assert elsewhere.loss_ratio(exact, learned, other, 1.0).value > 1


def test_the_loss_is_a_parabola_in_the_constant():
    half, one, two = (
        elsewhere.loss_elsewhere(DRAWN, ReLU(3), ReLU(3, L), 1.0).value for L in (0.5, 1.0, 2.0)
    )
    signal = (two - one) / 3
    noise = one - signal
    assert half == pytest.approx(signal / 4 + noise, rel=1e-9)


def test_errors_are_over_batches_of_contexts():
    drawn = elsewhere.loss_elsewhere(DRAWN, ReLU(3), ReLU(3, 2.0), 1.0)
    assert drawn.se > 0
    assert drawn.dof == isotropic.BATCHES - 1
    closed = elsewhere.loss_elsewhere(FAR, ReLU(5), ReLU(5, 2.0), 1.0)
    assert closed.se == 0
    assert closed.dof == math.inf


@pytest.mark.parametrize("L", [1.0, 0.3])
def test_the_slope_is_that_of_the_losses(L):
    learned = ReLU(3, L)
    found = elsewhere.slope_in_constant(DRAWN, learned, 0.5, 0.2, 3.0)
    low, high = (
        elsewhere.loss_elsewhere(DRAWN, learned, ReLU(3, end), 0.5).value for end in (0.2, 3.0)
    )
    assert found.value == pytest.approx(math.log(high / low) / math.log(15), rel=1e-6)
    assert 0 < found.se < 0.1


def test_the_slopes_error_bounds_the_scatter_between_independent_sets():
    values = []
    for i in range(12):
        exact = isotropic.sampled(3, 50, stream(0, "scatter", i), contexts=400)
        values.append(elsewhere.slope_in_constant(exact, ReLU(3), 0.5, 0.2, 3.0))
    middle = sum(one.value for one in values) / len(values)
    scatter = math.sqrt(sum((one.value - middle) ** 2 for one in values) / (len(values) - 1))
    typical = sum(one.se for one in values) / len(values)
    # the window moves with the contexts too, which S and N at the best one hardly notice
    assert scatter < 1.5 * typical


def test_the_least_losses_rise_with_the_rate_of_chapter_1():
    # where noise sets the window: L² Λ^(−3/(d+2)) and so L^(2(d−1)/(d+2)) for ReLU tasks
    wide = isotropic.limit(3, 10**6)
    found = elsewhere.least_slope_in_constant(wide, ReLU(3), 1.0, 1.0, 2.0)
    assert found == pytest.approx(4 / 5, abs=0.05)


@pytest.mark.parametrize(
    "slope", [elsewhere.slope_in_constant, elsewhere.least_slope_in_constant]
)
@pytest.mark.parametrize("ends", [(0.0, 1.0), (2.0, 1.0), (1.0, -1.0)])
def test_the_ends_of_a_slope_must_rise(slope, ends):
    with pytest.raises(ValueError, match="must be"):
        slope(FAR, ReLU(5), 1.0, *ends)


@pytest.mark.parametrize("high", [-1.0, math.inf, math.nan])
def test_the_upper_end_of_a_slope_is_named(high):
    with pytest.raises(ValueError, match=r"^high must be"):
        elsewhere.slope_in_constant(FAR, ReLU(5), 1.0, 0.5, high)


def test_the_ratio_of_two_windows():
    narrow = DRAWN.best_window(ReLU(3, 4.0), 1.0)
    wide = DRAWN.best_window(ReLU(3), 1.0)
    found = elsewhere.window_ratio(narrow, wide)
    assert found.value == narrow.w / wide.w > 1
    relative = math.hypot(narrow.w_se / narrow.w, wide.w_se / wide.w)
    assert found.se == pytest.approx(found.value * relative)
    assert found.dof == isotropic.BATCHES - 1
    closed = FAR.best_window(ReLU(5), 1.0)
    assert elsewhere.window_ratio(closed, closed) == (1.0, 0.0, math.inf)
    with pytest.raises(ValueError, match="batches"):
        elsewhere.window_ratio(narrow, closed)
    flat = DRAWN.best_window(Cosine(3, 0.01), 1.0)
    with pytest.raises(ValueError, match=r"second\.w"):
        elsewhere.window_ratio(narrow, flat)
