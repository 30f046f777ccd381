"""Curves on a grid of windows: minima by two methods, jackknife errors, powers of w."""

import math

import pytest
import torch
from scipy.optimize import minimize_scalar

from iclutils import stats
from iclutils.randomness import stream
from iclutils.stats import jackknife_se
from iclutils.window.theory import best_window
from iclutils.window.theory.best_window import Window

F64 = torch.float64


def well(w, best):
    """Make a loss that is a parabola in log w with its minimum 1 at ``best``."""
    return 1 + (w.clamp(min=1e-9) / best).log().square()


def window(w, replicas):
    return Window(w, 1.0, 0.1, torch.tensor(replicas, dtype=F64))


def test_the_two_grids():
    even = best_window.stretch(best_window.grid(50.0, 20)).diff()
    # equal steps but for rounding
    torch.testing.assert_close(even, even[0].expand(19), rtol=1e-12, atol=0)
    steps = best_window.log_grid(0.1, 1e3, 30)[1:].log().diff()
    torch.testing.assert_close(steps, steps[0].expand(28), rtol=1e-12, atol=0)
    assert best_window.grid()[0] == best_window.log_grid()[0] == 0


def test_both_minima_of_a_well():
    log_grid = best_window.log_grid(0.01, 1e4, 60)
    found = best_window.parabola_minimum(log_grid, well(log_grid, 7.0))
    # exact for a parabola in log w, but for rounding
    assert found.w == pytest.approx(7.0, rel=1e-10)
    assert found.loss == pytest.approx(1.0, rel=1e-10)
    grid = best_window.grid(100.0, 121)
    loss = (best_window.stretch(grid) - best_window.stretch(torch.tensor(7.0))).square()
    (spline,) = best_window.spline_minima(grid, loss.unsqueeze(0))
    assert spline.w == pytest.approx(7.0, rel=1e-6)
    assert spline.loss == pytest.approx(0.0, abs=1e-12)


def test_minima_at_the_ends_of_the_grid():
    grid = best_window.grid(10.0, 20)
    assert best_window.spline_minima(grid, (1 + grid).unsqueeze(0)) == [(0.0, 1.0, 0)]
    with pytest.raises(ValueError, match="beyond the grid's end 10"):
        best_window.spline_minima(grid, -grid.unsqueeze(0))
    log_grid = best_window.log_grid(0.1, 10, 20)
    assert best_window.parabola_minimum(log_grid, 1 + log_grid).grid_index == 0
    assert best_window.parabola_minimum(log_grid, -log_grid).grid_index == 19


def test_a_minimum_of_the_spline_is_the_one_that_a_search_finds():
    """By a bounded search on the same spline, for shallow, steep and crooked curves."""
    grid = best_window.grid(100.0, 60)
    draws = torch.rand(20, generator=stream(0, "minima"), dtype=F64).unsqueeze(-1)
    loss = well(grid + 0.1, 2 + 30 * draws) * (1 + 0.05 * (3 * best_window.stretch(grid)).cos())
    for scaled in (loss, 1e-13 + loss**9):
        found = best_window.spline_minima(grid, scaled)
        u, through = best_window.stretch(grid).numpy(), best_window.spline(grid, scaled)
        for row, one in enumerate(found):
            search = minimize_scalar(
                lambda u, row=row, through=through: through(u)[row],
                bounds=(u[max(one.grid_index - 1, 0)], u[one.grid_index + 1]),
                method="bounded",
                options={"xatol": 1e-10},
            )
            # near a minimum rounding hides a step of 1e-8 in the stretched coordinate
            assert math.asinh(one.w / best_window.SMALL) == pytest.approx(search.x, abs=1e-6)
            assert one.loss == pytest.approx(search.fun, rel=1e-12)


def test_the_jackknife_is_the_one_of_the_ground():
    batches = torch.rand(12, generator=stream(0, "jackknife"), dtype=F64)

    def statistic(samples):
        return float(samples.mean().exp())

    without = best_window.leave_one_out(batches.unsqueeze(-1)).squeeze(-1).exp()
    _, se, _ = stats.jackknife(statistic, batches)
    # the same formula on the same numbers; 1e-10 is the rounding of a difference of replicas
    assert jackknife_se(without) == pytest.approx(se, rel=1e-10)
    # of a mean, the jackknife is the standard error itself
    mean = best_window.leave_one_out(batches.unsqueeze(-1)).squeeze(-1)
    expected = float(best_window.standard_error(batches))
    assert jackknife_se(mean) == pytest.approx(expected, rel=1e-10)


def test_a_single_batch_has_no_error():
    closed = window(3.0, [3.0])
    assert closed.w_se == 0
    assert best_window.standard_error(torch.ones(1, 4)).tolist() == [0, 0, 0, 0]
    assert window(3.0, [2.0, 4.0]).log_loss_se == 0.1


def test_compare_by_hand():
    first = window(1.0, [math.e, 1.0])
    second = window(math.e, [math.e, math.e**3])
    gap = best_window.compare(first, second)
    assert gap.value == pytest.approx(1.0)
    # the gaps without a batch are 0 and 3: sqrt(1/2 · 4.5)
    assert gap.se == pytest.approx(1.5)
    straight = best_window.compare(window(1.0, [3.0, 1.0]), window(3.0, [2.0, 4.0]), log=False)
    assert straight == (2.0, 2.0, 1)  # -1 and 3


def test_windows_on_other_contexts_are_independent():
    first = window(1.0, [1.0, 1.5])
    second = window(2.0, [2.0, 3.0, 4.0])
    gap = best_window.compare(first, second, log=False, paired=False)
    assert gap == stats.difference(second.estimate, first.estimate)
    ratio = best_window.compare(first, second, paired=False)
    assert ratio.value == pytest.approx(math.log(2))
    # d log w = dw/w, and the errors of independent numbers add in squares
    assert ratio.se == pytest.approx(math.hypot(first.w_se / 1, second.w_se / 2))


def test_a_window_in_closed_form_is_exact():
    assert window(3.0, [3.0]).estimate == (3.0, 0.0, math.inf)
    assert window(3.0, [2.0, 4.0]).estimate == (3.0, window(3.0, [2.0, 4.0]).w_se, 1)
    assert "replicas" not in repr(window(3.0, [2.0, 4.0]))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (window(1.0, [1.0, 2.0]), window(1.0, [1.0])),
        (window(0.0, [0.0, 0.0]), window(1.0, [1.0, 1.0])),
    ],
)
def test_windows_that_cannot_be_compared_are_refused(first, second):
    with pytest.raises(ValueError, match="same loss, positive for log = True"):
        best_window.compare(first, second)


def test_power_extrapolates_square_root_corrections():
    w = torch.logspace(0, 5, 120, dtype=F64)
    growth = best_window.power(w, w**-1.5 * (1 + 3 / w.sqrt()))
    # the next correction is 9/w, and w ends at 1e5 where finite differences leave 1e-3
    assert growth.exponent == pytest.approx(-1.5, abs=2e-3)
    assert abs(growth.exponent + 1.5) < 3 * growth.uncertainty + 1e-4  # 1e-4: rounding of slopes


def two_exchanged(w):
    """Make the same points, of which two neighbours in the middle do not rise."""
    middle = len(w) // 2
    return torch.cat([w[:middle], w[[middle + 1, middle]], w[middle + 2 :]])


@pytest.mark.parametrize(
    "w",
    [
        torch.logspace(0, 50, 2 * best_window.EDGE + 2, dtype=F64),  # two are left without the ends
        two_exchanged(torch.logspace(0, 5, 120, dtype=F64)),
        torch.logspace(0, 5, 60, dtype=F64).repeat_interleave(2),  # each point twice
        torch.logspace(0, 2, 120, dtype=F64),  # two decades with the ends
    ],
)
def test_a_power_needs_two_rising_decades(w):
    with pytest.raises(ValueError, match=f"w must rise over two decades.*got {len(w)} points"):
        best_window.power(w, w**2)


def test_three_points_between_the_ends_are_enough_for_a_power():
    w = torch.logspace(0, 20, 2 * best_window.EDGE + 3, dtype=F64)
    assert best_window.power(w, w**-0.4).exponent == pytest.approx(-0.4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: best_window.grid(0.0), ["largest", "0"]),
        (lambda: best_window.grid(10.0, 3), ["points", "3"]),
        (lambda: best_window.log_grid(0.0), ["low", "0"]),
        (lambda: best_window.log_grid(5.0, 2.0), ["low", "5"]),
        (lambda: best_window.checked(torch.tensor([1.0, 0.5, 2.0, 3.0])), ["w", "rising"]),
        (lambda: best_window.checked(torch.tensor([0.0, 0.5, math.nan, 3.0])), ["w", "NaN"]),
        (lambda: best_window.power(torch.ones(30), torch.ones(29)), ["y", "29"]),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words[0]) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
