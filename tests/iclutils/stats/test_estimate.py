"""One estimate: its width, its level, and what an exact number is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from iclutils import stats
from iclutils.stats import LEVEL, Estimate, width

VALUES = st.floats(-10, 10)


SE = st.floats(0.01, 1)


@pytest.mark.parametrize("dof", [1, 2, 3, 9, 19.5, 99, math.inf])
def test_a_width_leaves_out_the_stated_level(dof):
    """Against the distribution function, which is another routine than its inverse."""
    outside = 2 * (
        special.ndtr(-width(dof)) if dof == math.inf else special.stdtr(dof, -width(dof))
    )
    assert outside == pytest.approx(LEVEL, rel=1e-6)  # the inverse's own accuracy


def test_few_trials_have_wide_intervals():
    widths = [width(dof) for dof in (1, 2, 4, 9, 99, math.inf)]
    assert widths == sorted(widths, reverse=True)
    # tables of Student's t and of the normal distribution: 0.99995 quantiles
    assert widths[3] == pytest.approx(6.594, abs=5e-4)
    assert widths[5] == pytest.approx(3.891, abs=5e-4)
    for dof in (0, -1, math.nan):
        with pytest.raises(ValueError, match="dof must be"):
            width(dof)


def test_a_difference_from_an_exact_number_has_the_other_s_error():
    noisy = Estimate(3.0, 0.1, 9)
    exact = Estimate(1.0, 0.0, math.inf)
    for gap in (stats.difference(noisy, exact), stats.difference(exact, noisy)):
        assert (gap.se, gap.dof) == (pytest.approx(0.1), pytest.approx(9))
    assert stats.difference(exact, exact) == Estimate(0.0, 0.0, math.inf)
    tiny = Estimate(1.0, 1e-120, 9)
    assert stats.difference(tiny, tiny).dof == pytest.approx(18)  # nothing underflows


def welch(weights, parts):
    """Value, standard error and degrees of freedom, from the sums of squares and fourth powers."""
    errors = [c * part.se for c, part in zip(weights, parts, strict=True)]
    square = sum(e**2 for e in errors)
    fourth = sum(e**4 / part.dof for e, part in zip(errors, parts, strict=True))
    value = sum(c * part.value for c, part in zip(weights, parts, strict=True))
    return value, math.sqrt(square), square**2 / fourth


@given(parts=st.lists(st.tuples(VALUES, SE, st.sampled_from([1, 4, 9.5, 39])), min_size=1))
def test_a_weighted_sum_has_welch_and_satterthwaites_degrees_of_freedom(parts):
    estimates = [Estimate(*part) for part in parts]
    weights = [0.5 + i for i in range(len(parts))]
    expected = welch(weights, estimates)
    # sums of a few numbers of size 10, in another order
    assert stats.weighted(weights, estimates) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    least = min(part.dof for part in estimates)
    assert least * (1 - 1e-9) <= stats.weighted(weights, estimates).dof


def test_a_sum_of_computed_numbers_has_no_error():
    found = stats.weighted([2.0, 1.0], [stats.exact(1.0), stats.exact(3.0)])
    assert found == (5.0, 0.0, math.inf)
    one = Estimate(1.0, 0.1, 9)
    assert stats.difference(one, stats.exact(3.0)) == pytest.approx((-2.0, 0.1, 9))


def test_known_numbers_are_taken_from_estimates_and_scale_them():
    found = Estimate(3.0, 0.5, 9)
    assert found - 1 == (2.0, 0.5, 9)
    assert found * 2 == 2 * found == (6.0, 1.0, 9)
    assert found / -2 == (-1.5, 0.25, 9)
    assert -found == (-3.0, 0.5, 9)
    assert found.log() == pytest.approx((math.log(3), 0.5 / 3, 9))
    assert found.log().power_of() == pytest.approx(found)
    assert Estimate(2.0, 0.1, 9).power_of(10) == pytest.approx((100, 10 * math.log(10), 9))
    with pytest.raises(ValueError, match="value must be"):
        Estimate(-1.0, 0.1, 9).log()


def test_two_estimates_are_not_combined_by_an_operator():
    found = Estimate(3.0, 0.5, 9)
    for combine in (lambda: found - found, lambda: found / found, lambda: found * found):
        with pytest.raises(TypeError, match=r"statistics\.difference"):
            combine()


def test_a_log_ratio_is_the_difference_of_logarithms():
    first, second = Estimate(4.0, 0.4, 9), Estimate(2.0, 0.1, 19)
    expected = welch([1, -1], [Estimate(math.log(4), 0.1, 9), Estimate(math.log(2), 0.05, 19)])
    assert stats.log_ratio(first, second) == pytest.approx(expected)


def test_a_computed_number_is_right_to_within_its_half_width():
    assert stats.exact(2.0) == (2.0, 0.0, math.inf)
    assert stats.exact(2.0, within=0.3).half_width == pytest.approx(0.3)
    for call in (lambda: stats.exact(math.nan), lambda: stats.exact(1.0, within=-1.0)):
        with pytest.raises(ValueError, match="must be finite"):
            call()


def test_the_slope_through_estimates_is_that_of_least_squares():
    x = [0.0, 1.0, 3.0, 4.0]
    y = [1.0, 4.0, 2.0, 7.0]
    found = stats.slope(x, [Estimate(value, 0.2, 9) for value in y])
    assert found.value == pytest.approx(np.polyfit(x, y, 1)[0])
    # equal errors: s²/Σ(x − x̄)², and the x̄ is 2
    assert found.se == pytest.approx(0.2 / math.sqrt(10))
    with pytest.raises(ValueError, match="two different points"):
        stats.slope([1.0, 1.0], [Estimate(0.0, 1.0, 9)] * 2)


def test_a_root_mean_square_has_the_error_of_its_derivative():
    parts = [Estimate(3.0, 0.1, 9), Estimate(-4.0, 0.2, 9)]
    root = math.sqrt(12.5)
    expected = welch([3 / (2 * root), -4 / (2 * root)], parts)[1:]
    assert stats.root_mean_square(parts) == pytest.approx((root, *expected))
    with pytest.raises(ValueError, match="not all be zero"):
        stats.root_mean_square([stats.exact(0.0)])


def test_the_lowest_is_the_one_whose_interval_ends_lowest():
    quiet, loud = Estimate(1.0, 0.0, 9), Estimate(2.0, 1.0, 9)
    assert stats.lowest([quiet, loud]) == loud


def test_a_known_number_less_an_estimate_keeps_its_error():
    assert 3.0 - stats.Estimate(1.0, 0.5, 9) == stats.Estimate(2.0, 0.5, 9)


def test_a_relative_root_mean_square_is_that_of_the_relative_deviations():
    found = [Estimate(1.1, 0.02, 9), Estimate(4.0, 0.1, 9)]
    wanted = [Estimate(1.0, 0.0, 9), Estimate(5.0, 0.1, 9)]
    got = stats.relative_root_mean_square(found, wanted)
    # ((0.1² + 0.2²)/2)^½ by hand; errors 0.02 and (0.1² + 0.1²)^½/5, by their weights 0.1 and −0.2
    root = math.sqrt((0.01 + 0.04) / 2)
    assert got.value == pytest.approx(root)
    error = math.hypot(0.1 * 0.02, 0.2 * math.sqrt(0.02) / 5) / (2 * root)
    assert got.se == pytest.approx(error)
    with pytest.raises(ValueError, match="zip"):
        stats.relative_root_mean_square(found, wanted[:1])


def test_an_estimate_is_written_with_its_half_width():
    found = Estimate(0.5, 0.1, math.inf)
    assert f"{found:.2f}" == f"0.50 ± {0.1 * width(math.inf):.2f}"
    assert f"{found}" == str(found)
