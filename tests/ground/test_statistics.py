"""Comparisons, means, lines and the jackknife, against what they estimate."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from iclutils.ground import statistics
from iclutils.ground.randomness import stream
from iclutils.ground.statistics import (
    CONTRADICTED,
    LEVEL,
    SUPPORTED,
    UNDECIDED,
    Estimate,
    mean_se,
    width,
)

VALUES = st.floats(-10, 10)
SE = st.floats(0.01, 1)
DOF = st.sampled_from([1, 4, 9, 39, 17.3, math.inf])


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


@pytest.mark.parametrize("dof", [2, 9])
def test_intervals_from_few_trials_miss_as_often_as_stated(dof):
    """Means of dof + 1 Gaussian trials, 2 million times: 200 misses of 1 in 10 000 are expected.

    The count is binomial with the spread 14; 70 is five of them.
    """
    count = 2_000_000
    generator = stream(0, "misses", dof)
    found = mean_se(torch.randn(dof + 1, count, generator=generator, dtype=torch.float64))
    assert found.dof == dof
    misses = int((found.value.abs() > width(dof) * found.se).sum())
    assert abs(misses - LEVEL * count) < 70


@given(value=VALUES, bound=VALUES, se=SE, dof=DOF)
def test_comparisons_mirror_each_other(value, bound, se, dof):
    up = statistics.greater(value, bound, se=se, dof=dof)
    down = statistics.less(value, bound, se=se, dof=dof)
    opposite = {SUPPORTED: CONTRADICTED, CONTRADICTED: SUPPORTED, UNDECIDED: UNDECIDED}
    assert down.outcome == opposite[up.outcome]
    assert up.half_width == down.half_width == width(dof) * se
    assert bool(up) == (up.outcome == SUPPORTED)


@given(value=VALUES, target=VALUES, tol=st.floats(0.1, 5), se=SE, dof=DOF, louder=st.floats(1, 50))
def test_noise_never_helps(value, target, tol, se, dof, louder):
    """With the same value and more noise an outcome stays or becomes undecided."""
    quiet = statistics.equal(value, target, tol=tol, se=se, dof=dof)
    loud = statistics.equal(value, target, tol=tol, se=louder * se, dof=dof)
    assert loud.outcome in (quiet.outcome, UNDECIDED)
    if quiet.half_width > tol:
        assert quiet.outcome != SUPPORTED


@given(value=VALUES, low=VALUES, length=st.floats(0.1, 5), se=SE, dof=DOF)
def test_an_interval_is_an_equality_with_half_its_length(value, low, length, se, dof):
    inside = statistics.within(value, low, low + length, se=se, dof=dof)
    middle = low + (low + length - low) / 2
    margin = (low + length - low) / 2
    assert inside.outcome == statistics.equal(value, middle, tol=margin, se=se, dof=dof).outcome


@pytest.mark.parametrize(
    ("value", "outcome", "half_width"),
    [
        (1.0, SUPPORTED, 0.0),
        (1.5, SUPPORTED, 0.0),  # the edge belongs to the margin
        (1.6, CONTRADICTED, 0.0),
        (1.0, SUPPORTED, 0.5),
        (1.0, UNDECIDED, 0.6),  # noisier than the margin
        (1.6, UNDECIDED, 0.2),  # outside, but its interval reaches the margin
        (1.6, UNDECIDED, 0.6),
        (1.8, CONTRADICTED, 0.2),
        (2.2, CONTRADICTED, 0.6),  # noisy, but far away
        (0.2, CONTRADICTED, 0.2),
    ],
)
def test_an_equality_has_three_outcomes(value, outcome, half_width):
    se = half_width / width(9)
    assert statistics.equal(value, 1.0, tol=0.5, se=se, dof=9).outcome == outcome


def test_an_inequality_has_three_outcomes():
    for value, outcome in ((1.0, SUPPORTED), (-1.0, CONTRADICTED), (0.5, UNDECIDED)):
        assert statistics.greater(value, 0.0, se=0.1, dof=9).outcome == outcome
    assert statistics.greater(0.0, 0.0).outcome == UNDECIDED
    assert statistics.greater(1e-300, 0.0).outcome == SUPPORTED  # computed, not sampled


def test_an_estimate_is_a_value_with_its_error():
    found = Estimate(1.0, 0.1, 9)
    assert statistics.greater(found) == statistics.greater(1.0, se=0.1, dof=9)
    exact = statistics.equal(Estimate(1.0, 0.0, math.inf), 1.0, tol=0.1)
    assert (exact.half_width, exact.outcome, exact.dof) == (0.0, SUPPORTED, None)
    assert Estimate(1.0, 0.0, 9).half_width == 0.0
    assert statistics.greater(found).dof == 9
    assert statistics.greater(1.0, se=0.1, dof=math.inf).dof is None


@given(value=VALUES, other=VALUES, bound=VALUES, se=SE, dof=DOF)
def test_a_comparison_is_judged_again_by_the_same_rule(value, other, bound, se, dof):
    for call in (
        statistics.greater,
        statistics.less,
        lambda x, b, **error: statistics.equal(x, b, tol=0.7, **error),
        lambda x, b, **error: statistics.within(x, b - 0.25, b + 0.75, **error),
    ):
        assert call(value, bound, se=se, dof=dof).at(other) == call(other, bound, se=se, dof=dof)


def test_a_comparison_made_by_hand_is_not_judged_again():
    with pytest.raises(KeyError, match="test must be one of"):
        statistics.Comparison(1.0, 0.1, "by hand", SUPPORTED).at(2.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: statistics.equal(1.0, 1.0, tol=0.0),
        lambda: statistics.equal(1.0, 1.0, tol=-1.0),
        lambda: statistics.equal(math.nan, 1.0, tol=1),
        lambda: statistics.equal(1.0, math.inf, tol=1),
        lambda: statistics.greater(1.0, se=-1, dof=9),
        lambda: statistics.greater(1.0, se=0.1),
        lambda: statistics.less(1.0, se=0.1),
        lambda: statistics.equal(1.0, 1.0, tol=1, se=0.1),
        lambda: statistics.within(1.0, 0, 1, se=0.1),
        lambda: statistics.greater(1.0, -math.inf),
        lambda: statistics.greater(Estimate(1.0, 0.1, 9), se=0.1, dof=9),
        lambda: statistics.greater(Estimate(1.0, 0.1, 9), dof=9),
        lambda: statistics.within(0, 2, 1),
        lambda: statistics.within(0, 1, math.inf),
        lambda: statistics.mean_se(torch.zeros(1)),
        lambda: statistics.mean_se(torch.tensor(1.0)),
        lambda: statistics.line([0, 1], [0, 1]),
        lambda: statistics.line([0, 1, 2], [0, 1, 2], [1, 1, 1]),
        lambda: statistics.line([0, 1, 2], [0, 1, 2], [1, 1, 0], dof=9),
        lambda: statistics.line([0, 1, 2], [0, 1, 2], dof=9),
        lambda: statistics.line([1, 1, 1], [0, 1, 2]),
        lambda: statistics.exponent([1, 2, 0], [1, 2, 3]),
        lambda: statistics.ordered(torch.zeros(3)),
        lambda: statistics.mean_se(torch.tensor([1.0, math.nan])),
    ],
)
def test_bad_numbers_are_refused(call):
    with pytest.raises(ValueError, match=r"must|needs"):
        call()


def test_a_difference_has_welch_s_degrees_of_freedom():
    """Against scipy's own t-test of two samples with unequal variances."""
    generator = stream(0, "welch")
    first = 3 * torch.randn(12, generator=generator, dtype=torch.float64)
    second = 1 + torch.randn(7, generator=generator, dtype=torch.float64)
    gap = statistics.difference(statistics.estimate(first), statistics.estimate(second))
    test = stats.ttest_ind(first.numpy(), second.numpy(), equal_var=False)
    assert gap.dof == pytest.approx(test.df)
    assert gap.value / gap.se == pytest.approx(test.statistic)


def test_a_difference_from_an_exact_number_has_the_other_s_error():
    noisy = Estimate(3.0, 0.1, 9)
    exact = Estimate(1.0, 0.0, math.inf)
    for gap in (statistics.difference(noisy, exact), statistics.difference(exact, noisy)):
        assert (gap.se, gap.dof) == (pytest.approx(0.1), pytest.approx(9))
    assert statistics.difference(exact, exact) == Estimate(0.0, 0.0, math.inf)
    tiny = Estimate(1.0, 1e-120, 9)
    assert statistics.difference(tiny, tiny).dof == pytest.approx(18)  # nothing underflows


def test_the_standard_error_is_that_of_the_mean():
    """Of 4000 means of 50 trials only a handful miss 0 by more than 4 estimated standard errors.

    Student's t with 49 degrees of freedom: P(|t| > 4) = 2.1e-4, so 0.9 misses are expected; more
    than 8 has probability below 1e-5. The spread of the means agrees with the standard error within
    5/sqrt(2*4000).
    """
    samples = torch.randn(50, 4000, generator=stream(0, "se"), dtype=torch.float64)
    mean, se, dof = statistics.mean_se(samples)
    assert dof == 49
    assert int((mean.abs() > 4 * se).sum()) <= 8
    assert float(mean.std()) == pytest.approx(1 / math.sqrt(50), rel=5 / math.sqrt(8000))


def test_pairing_removes_what_two_settings_share():
    shared = 10 * torch.randn(100, generator=stream(0, "shared"), dtype=torch.float64)
    samples = torch.stack(
        [
            shared,
            shared + 1 + 0.1 * torch.randn(100, generator=stream(0, "own"), dtype=torch.float64),
        ]
    )
    assert [c.outcome for c in statistics.ordered(samples)] == [UNDECIDED]
    assert [c.outcome for c in statistics.ordered(samples, paired=True)] == [SUPPORTED]


def test_an_exact_power_is_found():
    x = torch.tensor([1.0, 2.0, 5.0, 9.0], dtype=torch.float64)
    fit = statistics.exponent(x, 3 * x**-0.7)
    # an exact line: what is left is rounding of numbers of order 1
    assert fit.slope == pytest.approx(-0.7, abs=1e-12)
    assert fit.intercept == pytest.approx(math.log(3), abs=1e-12)
    assert fit.slope_se < 1e-12


@pytest.mark.parametrize("size", [3, 4, 9])
def test_a_line_is_that_of_scipy_and_with_weights_that_of_numpy(size):
    draws = stream(0, "lines", size)
    x, y, s = (torch.rand(size, generator=draws, dtype=torch.float64) + 0.1 for _ in range(3))
    fit, other = statistics.line(x, y), stats.linregress(x.numpy(), y.numpy())
    assert (fit.slope, fit.intercept) == pytest.approx((other.slope, other.intercept))
    assert fit.slope_se == pytest.approx(other.stderr)
    # on the line itself the scatter is nothing, and the errors given are propagated
    straight = statistics.line(x, 2 * x + 1, s, dof=9)
    weights = (1 / s).numpy()
    _, covariance = np.polyfit(x.numpy(), y.numpy(), 1, w=weights, cov="unscaled")
    assert straight.slope_se == pytest.approx(covariance[0, 0] ** 0.5)
    slope, intercept = np.polyfit(x.numpy(), y.numpy(), 1, w=weights)
    weighted = statistics.line(x, y, s, dof=9)
    assert (weighted.slope, weighted.intercept) == pytest.approx((slope, intercept))


def test_exact_points_have_a_slope_without_error():
    fit = statistics.line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    assert fit.slope_se < 1e-12  # rounding
    assert fit.dof == 1
    assert statistics.equal(fit.estimate, 2.0, tol=1e-9).outcome == SUPPORTED


def test_a_slope_s_interval_misses_as_often_as_stated():
    """10 000 lines through 5 points whose errors are estimated from 10 trials each.

    One miss is expected. The weights are the points' own estimated errors, so that the level is
    approximate, and 8 are allowed; intervals of 4 standard errors, taken for normal, would miss
    about 280 times for the scatter's 3 degrees of freedom.
    """
    count = 10_000
    generator = stream(0, "lines")
    x = torch.linspace(0, 1, 5, dtype=torch.float64)
    draws = torch.randn(10, count, 5, generator=generator, dtype=torch.float64)
    y, se, dof = mean_se(draws + 2 * x)
    misses = 0
    for trial in range(count):
        fit = statistics.line(x, y[trial], se[trial], dof=dof).estimate
        misses += abs(fit.value - 2) > fit.half_width
    assert misses <= 8


def test_a_slope_s_degrees_of_freedom_are_those_of_the_points_that_carry_it():
    """A line through three points: the middle one carries nothing of the slope."""
    fit = statistics.line([0, 1, 2], [0.0, 1.0, 2.0], [0.1, 0.1, 0.1], dof=9)
    assert fit.dof == pytest.approx(18)  # the ends share it: Welch's 2·9
    fit = statistics.line([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0], [1e-6, 1e-6, 1e-6, 1.0], dof=9)
    assert fit.dof == pytest.approx(18, rel=1e-3)
    assert statistics.line([0, 1, 2], [0.0, 1.0, 0.0], [1e-6] * 3, dof=9).dof == 1  # the scatter's


def test_curvature_is_not_taken_for_precision():
    x = torch.linspace(0, 1, 20, dtype=torch.float64)
    tight = statistics.line(x, x, torch.full((20,), 1e-6, dtype=torch.float64), dof=9)
    curved = statistics.line(x, x**3, torch.full((20,), 1e-6, dtype=torch.float64), dof=9)
    # scatter of order 0.1 around the line against errors of 1e-6: far more than a factor of 100
    assert curved.slope_se > 100 * tight.slope_se
    assert curved.dof == 18


def test_crossing_is_on_the_line_between_the_last_point_below_and_the_next():
    assert statistics.crossing([1, 2, 4, 8], [0, 3, 1, 5], 2) == pytest.approx(5)
    for y in ([3, 4], [0, 1]):
        with pytest.raises(ValueError, match="y must rise from below to above the level 2"):
            statistics.crossing([1, 2], y, 2)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    samples = torch.randn(3, 20, generator=stream(0, "jackknife"), dtype=torch.float64)
    value, se, dof = statistics.jackknife(lambda s: float(s[1].mean()), samples)
    mean, expected, freedom = statistics.mean_se(samples[1])
    assert dof == freedom == 19
    assert value == pytest.approx(float(mean))
    assert se == pytest.approx(float(expected))  # an identity, to rounding
    with pytest.raises(ValueError, match="trials must be at least 2"):
        statistics.jackknife(lambda s: 0.0, samples[:, :1])


def test_the_jackknife_from_replicas_is_its_formula():
    without = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    centred = without - without.mean()
    expected = math.sqrt(2 / 3 * float(centred.square().sum()))
    # the same sum in another order: float64 rounding
    assert statistics.jackknife_se(without) == pytest.approx(expected, rel=1e-12)
