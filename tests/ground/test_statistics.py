"""Means, lines and the jackknife, against what they estimate."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from iclutils.ground import statistics
from iclutils.ground.randomness import stream
from iclutils.ground.statistics import LEVEL, Estimate, mean_se, width

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


def test_a_false_equality_is_hardly_ever_supported():
    """Means of 16 trials about 1.11, 0.01 out of the margin of 0.1 about 1, a million times.

    A quarter of the means lie in the margin all the same. An interval does so once in 20 000 times
    at most, 50 times here, if the truth is on the margin's edge, and beyond it less often; the
    spread of 50 is 7.
    """
    draws = stream(0, "false equality")
    found = mean_se(1.11 + 0.06 * torch.randn(16, 1_000_000, generator=draws, dtype=torch.float64))
    distance = (found.value - 1).abs()
    assert float((distance <= 0.1).double().mean()) > 0.2
    assert int((distance + found.half_width <= 0.1).sum()) < 50


@pytest.mark.parametrize(
    "call",
    [
        lambda: statistics.mean_se(torch.zeros(1)),
        lambda: statistics.mean_se(torch.tensor(1.0)),
        lambda: statistics.line([0, 1], [0, 1]),
        lambda: statistics.line([0, 1, 2], [0, 1, 2], [1, 1, 1]),
        lambda: statistics.line([0, 1, 2], [0, 1, 2], [1, 1, 0], dof=9),
        lambda: statistics.line([0, 1, 2], [0, 1, 2], dof=9),
        lambda: statistics.line([1, 1, 1], [0, 1, 2]),
        lambda: statistics.exponent([1, 2, 0], [1, 2, 3]),
        lambda: statistics.steps(torch.zeros(3)),
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
    [apart] = statistics.steps(samples)
    [paired] = statistics.steps(samples, paired=True)
    assert abs(apart.value) < apart.half_width
    assert paired.value > paired.half_width


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
    assert abs(fit.estimate.value - 2) + fit.estimate.half_width < 1e-9


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
    assert statistics.weighted(weights, estimates) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    least = min(part.dof for part in estimates)
    assert least * (1 - 1e-9) <= statistics.weighted(weights, estimates).dof


def test_a_sum_of_computed_numbers_has_no_error():
    found = statistics.weighted([2.0, 1.0], [statistics.exact(1.0), statistics.exact(3.0)])
    assert found == (5.0, 0.0, math.inf)
    one = Estimate(1.0, 0.1, 9)
    assert statistics.difference(one, statistics.exact(3.0)) == pytest.approx((-2.0, 0.1, 9))


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
    assert statistics.log_ratio(first, second) == pytest.approx(expected)


def test_a_computed_number_is_right_to_within_its_half_width():
    assert statistics.exact(2.0) == (2.0, 0.0, math.inf)
    assert statistics.exact(2.0, within=0.3).half_width == pytest.approx(0.3)
    for call in (lambda: statistics.exact(math.nan), lambda: statistics.exact(1.0, within=-1.0)):
        with pytest.raises(ValueError, match="must be finite"):
            call()


def test_differences_of_means_and_steps_are_welchs(rng_samples):
    first, second = rng_samples
    found = statistics.mean_difference(first, second[:7])
    other = stats.ttest_ind(first.numpy(), second[:7].numpy(), equal_var=False)
    assert found.value / found.se == pytest.approx(other.statistic)
    assert found.dof == pytest.approx(other.df)
    both = torch.stack([second, first])
    [step] = statistics.steps(both)
    assert step == pytest.approx(statistics.mean_difference(first, second))
    [step] = statistics.steps(both, paired=True)
    assert step == pytest.approx(statistics.estimate(first - second))


@pytest.fixture
def rng_samples():
    draws = stream(0, "two samples")
    return torch.randn(12, generator=draws).double(), 2 * torch.randn(12, generator=draws).double()


def test_the_slope_through_estimates_is_that_of_least_squares():
    x = [0.0, 1.0, 3.0, 4.0]
    y = [1.0, 4.0, 2.0, 7.0]
    found = statistics.slope(x, [Estimate(value, 0.2, 9) for value in y])
    assert found.value == pytest.approx(np.polyfit(x, y, 1)[0])
    # equal errors: s²/Σ(x − x̄)², and the x̄ is 2
    assert found.se == pytest.approx(0.2 / math.sqrt(10))
    with pytest.raises(ValueError, match="two different points"):
        statistics.slope([1.0, 1.0], [Estimate(0.0, 1.0, 9)] * 2)


def test_a_root_mean_square_has_the_error_of_its_derivative():
    parts = [Estimate(3.0, 0.1, 9), Estimate(-4.0, 0.2, 9)]
    root = math.sqrt(12.5)
    expected = welch([3 / (2 * root), -4 / (2 * root)], parts)[1:]
    assert statistics.root_mean_square(parts) == pytest.approx((root, *expected))
    with pytest.raises(ValueError, match="not all be zero"):
        statistics.root_mean_square([statistics.exact(0.0)])


def test_the_lowest_is_the_one_whose_interval_ends_lowest():
    quiet, loud = Estimate(1.0, 0.0, 9), Estimate(2.0, 1.0, 9)
    assert statistics.lowest([quiet, loud]) == loud


def test_a_share_has_the_error_that_it_would_have_at_the_bound():
    hits = torch.tensor([[True, False, True, True], [True, True, True, True]])
    assert statistics.share(hits, under=0.5) == (0.875, 0.25, math.inf)  # 4 trials, not 8
    assert statistics.share(hits.flatten(), under=0.01).se == pytest.approx(
        math.sqrt(0.01 * 0.99 / 8)
    )
    with pytest.raises(ValueError, match="hits must be in"):
        statistics.share(torch.tensor([1.5]), under=0.5)
    with pytest.raises(ValueError, match="under must be"):
        statistics.share(hits, under=1.0)
    with pytest.raises(ValueError, match="trials must be"):
        statistics.share(torch.zeros(0), under=0.5)


def test_geometric_bars_reach_to_the_ends_of_the_interval_of_the_logs(rng_samples):
    logs, _ = rng_samples
    middle, (below, above) = statistics.geometric_bars(logs)
    found = statistics.estimate(logs)
    assert float(middle) == pytest.approx(10**found.value)
    assert float(middle - below) == pytest.approx(10 ** (found.value - found.half_width))
    assert float(middle + above) == pytest.approx(10 ** (found.value + found.half_width))
    assert float(mean_se(logs).half_width) == pytest.approx(found.half_width)


def test_the_top_of_a_parabola():
    x = torch.linspace(0, 4, 9, dtype=torch.float64)
    y = 3 - 2 * (x - 1.7) ** 2
    assert statistics.parabola_top(x, y) == pytest.approx(1.7)
    a, b, _ = np.polyfit(x, y + x.sin(), 2)
    assert statistics.parabola_top(x, y + x.sin()) == pytest.approx(-b / (2 * a))
    # far from the top another curve: only the five points around it count
    bent = torch.where((x - 1.5).abs() > 1.1, y - 5, y)
    assert statistics.parabola_top(x, bent, nearest=5) == pytest.approx(1.7)
    with pytest.raises(ValueError, match="to have a top"):
        statistics.parabola_top(x, -y)
    for nearest in (4, 9):
        with pytest.raises(ValueError, match="nearest must be odd and fit"):
            statistics.parabola_top(x, y, nearest=nearest)
    with pytest.raises(ValueError, match="number of points must be at least 3"):
        statistics.parabola_top(x[:2], y[:2])


def test_statistics_of_means_are_jackknifed(rng_samples):
    """Against the formulas as they stand in a textbook, the trials left out one by one."""
    curves = torch.stack([*rng_samples, rng_samples[0].flip(0), rng_samples[1].cos()])
    curves = curves + torch.tensor([[9.0], [6.0], [4.0], [0.0]])
    found = statistics.share_of_fall(curves)

    def fall(m):
        return (m[1] - m[2]) / (m[0] - m[3])

    without = [fall(torch.cat([curves[:, :i], curves[:, i + 1 :]], 1).mean(1)) for i in range(12)]
    se = math.sqrt(11 / 12 * sum(float(f - sum(without) / 12) ** 2 for f in without))
    assert found == pytest.approx((float(fall(curves.mean(1))), se, 11))
    x = [0.0, 1.0, 2.0, 3.0]
    tops = curves - torch.tensor([[7.0], [0.0], [0.0], [0.0]])
    by_hand = statistics.jackknife(lambda kept: statistics.parabola_top(x, kept.mean(-1)), tops)
    assert statistics.summit(x, tops) == pytest.approx(by_hand)
    left, whole = curves, 2 * curves + 1
    size = float(left.mean(1).norm() / whole.mean(1).norm())
    assert statistics.unexplained(left, whole).value == pytest.approx(size)
    times = float((left.mean(1) * whole.mean(1)).sum() / whole.mean(1).square().sum())
    assert statistics.proportion(left, whole).value == pytest.approx(times)


def test_two_sources_of_chance_add_up():
    """Errors of contexts and trials as simulated: a table of both, a thousand times.

    The spread of its mean is √(A/C + B/T + E/CT), here with A = 4, B = 1, E = 1, C = 20, T = 5.
    """
    draws = stream(0, "crossed")
    contexts, trials, count = 20, 5, 1000
    a = 2 * torch.randn(count, contexts, 1, generator=draws, dtype=torch.float64)
    b = torch.randn(count, 1, trials, generator=draws, dtype=torch.float64)
    e = torch.randn(count, contexts, trials, generator=draws, dtype=torch.float64)
    found = [statistics.crossed(lambda both: both.mean(), table) for table in a + b + e]
    variance = sum(one.se**2 for one in found) / count
    true = 4 / contexts + 1 / trials + 1 / (contexts * trials)
    # what is estimated counts the last term twice; a thousand variances, each good to a third
    assert variance == pytest.approx(true + 1 / (contexts * trials), rel=0.05)
    z = torch.tensor([one.value / one.half_width for one in found])
    assert float((z.abs() > 1).double().mean()) < 0.01
    for table, one in zip((a + b + e)[:5], found[:5], strict=True):
        ours = statistics.crossed_mean(table)
        expected = pytest.approx((one.value, one.se, one.dof), rel=1e-10)  # both but for rounding
        assert (ours.value, ours.se, ours.dof) == expected


def test_a_known_number_less_an_estimate_keeps_its_error():
    assert 3.0 - statistics.Estimate(1.0, 0.5, 9) == statistics.Estimate(2.0, 0.5, 9)


def test_a_repeated_training_is_no_more_precise_than_it_may_be():
    same = torch.zeros(8)
    assert statistics.estimate(same).half_width == 0
    assert statistics.estimate(same, at_least=0.01).half_width == pytest.approx(0.01)
    scattered = torch.tensor([-1.0, 1.0, -2.0, 2.0])
    assert statistics.estimate(scattered, at_least=0.01) == statistics.estimate(scattered)
    with pytest.raises(ValueError, match="at_least"):
        statistics.estimate(same, at_least=-1.0)


def test_a_printed_spread_is_that_of_the_runs(rng_samples):
    """numpy's deviation divides by the number of runs, the standard error's by one less."""
    runs = rng_samples[0]
    found = statistics.from_spread(float(runs.mean()), float(np.std(runs.numpy())), len(runs))
    wanted = statistics.estimate(runs)
    assert found.dof == wanted.dof
    assert found.value == pytest.approx(wanted.value)
    assert found.se == pytest.approx(wanted.se)
    with pytest.raises(ValueError, match="runs must be at least 2"):
        statistics.from_spread(1.0, 0.1, 1)


def test_a_relative_root_mean_square_is_that_of_the_relative_deviations():
    found = [Estimate(1.1, 0.02, 9), Estimate(4.0, 0.1, 9)]
    wanted = [Estimate(1.0, 0.0, 9), Estimate(5.0, 0.1, 9)]
    got = statistics.relative_root_mean_square(found, wanted)
    # ((0.1² + 0.2²)/2)^½ by hand; errors 0.02 and (0.1² + 0.1²)^½/5, by their weights 0.1 and −0.2
    root = math.sqrt((0.01 + 0.04) / 2)
    assert got.value == pytest.approx(root)
    error = math.hypot(0.1 * 0.02, 0.2 * math.sqrt(0.02) / 5) / (2 * root)
    assert got.se == pytest.approx(error)
    with pytest.raises(ValueError, match="zip"):
        statistics.relative_root_mean_square(found, wanted[:1])


def test_an_intercept_is_that_of_each_trial_s_line():
    x = [0.05, 0.1, 0.2, 0.7]
    samples = torch.randn(4, 11, generator=stream(0, "lines"), dtype=torch.float64)
    fitted = torch.tensor([statistics.line(x, samples[:, i]).intercept for i in range(11)])
    found = statistics.intercept(x, samples)
    wanted = statistics.estimate(fitted.double())
    assert found.value == pytest.approx(wanted.value, rel=1e-5)  # single precision above
    assert found.se == pytest.approx(wanted.se, rel=1e-5)
    with pytest.raises(ValueError, match="at least two different points"):
        statistics.intercept([1.0] * 4, samples)


def test_a_correlation_is_averaged_over_trials():
    first, second = torch.randn(2, 7, 20, generator=stream(0, "pairs"), dtype=torch.float64)
    by_scipy = [stats.pearsonr(a.numpy(), b.numpy())[0] for a, b in zip(first, second, strict=True)]
    found = statistics.correlation(first, second)
    assert found.value == pytest.approx(float(np.mean(by_scipy)))
    assert found.se == pytest.approx(float(np.std(by_scipy, ddof=1)) / math.sqrt(7))
    with pytest.raises(ValueError, match="second"):
        statistics.correlation(first, second[:3])
    with pytest.raises(ValueError, match="finite"):
        statistics.correlation(first, torch.ones(7, 20))


def test_what_a_theory_leaves_and_how_much_of_it_is_there():
    """The theory explains four fifths, and half as much again is measured as it predicts."""
    noise = 1e-3 * torch.randn(2, 5, 40, generator=stream(0, "left"), dtype=torch.float64)
    deviation = torch.linspace(-1, 2, 5, dtype=torch.float64)[:, None]
    left = statistics.unexplained(0.2 * deviation + noise[0], deviation + noise[1])
    there = statistics.proportion(1.5 * deviation + noise[0], deviation + noise[1])
    # the noise of a mean is 1.6e-4 of the deviation; 5 standard errors
    for found, wanted in ((left, 0.2), (there, 1.5)):
        assert found.dof == 39
        assert abs(found.value - wanted) < 5 * found.se < 1e-3
    for function in (statistics.unexplained, statistics.proportion):
        with pytest.raises(ValueError, match="the second of the two"):
            function(noise[0], noise[1][:, :7])
        with pytest.raises(ValueError, match="trials"):
            function(noise[0][:, :1], noise[1][:, :1])


def test_a_ratio_of_means_is_paired():
    """What both share drops out, and the logarithm is that of the ratio."""
    shared = torch.rand(30, generator=stream(0, "shared"), dtype=torch.float64) + 0.5
    assert statistics.ratio(3 * shared, shared).se == pytest.approx(0, abs=1e-12)
    other = torch.rand(30, generator=stream(0, "other"), dtype=torch.float64) + 0.5
    found, log = (statistics.ratio(shared, other, log=log) for log in (False, True))
    assert found.value == pytest.approx(float(shared.mean() / other.mean()))
    assert log.value == pytest.approx(math.log(found.value))
    # the delta method, to first order in errors of a tenth
    assert log.se == pytest.approx(found.se / found.value, rel=0.05)
    with pytest.raises(ValueError, match="below"):
        statistics.ratio(shared, other[:5])


def test_an_estimate_is_written_with_its_half_width():
    found = Estimate(0.5, 0.1, math.inf)
    assert f"{found:.2f}" == f"0.50 ± {0.1 * width(math.inf):.2f}"
    assert f"{found}" == str(found)
