"""Means over trials and their intervals, against formulas and simulations."""

import math

import numpy as np
import pytest
import torch
from scipy import stats as scipy_stats

from iclutils import stats
from iclutils.randomness import stream
from iclutils.stats import LEVEL, mean_se, width


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


def test_a_difference_has_welch_s_degrees_of_freedom():
    """Against scipy's own t-test of two samples with unequal variances."""
    generator = stream(0, "welch")
    first = 3 * torch.randn(12, generator=generator, dtype=torch.float64)
    second = 1 + torch.randn(7, generator=generator, dtype=torch.float64)
    gap = stats.difference(stats.estimate(first), stats.estimate(second))
    test = scipy_stats.ttest_ind(first.numpy(), second.numpy(), equal_var=False)
    assert gap.dof == pytest.approx(test.df)
    assert gap.value / gap.se == pytest.approx(test.statistic)


def test_the_standard_error_is_that_of_the_mean():
    """Of 4000 means of 50 trials only a handful miss 0 by more than 4 estimated standard errors.

    Student's t with 49 degrees of freedom: P(|t| > 4) = 2.1e-4, so 0.9 misses are expected; more
    than 8 has probability below 1e-5. The spread of the means agrees with the standard error within
    5/sqrt(2*4000).
    """
    samples = torch.randn(50, 4000, generator=stream(0, "se"), dtype=torch.float64)
    mean, se, dof = stats.mean_se(samples)
    assert dof == 49
    assert int((mean.abs() > 4 * se).sum()) <= 8
    assert float(mean.std()) == pytest.approx(1 / math.sqrt(50), rel=5 / math.sqrt(8000))


def test_exact_points_have_a_slope_without_error():
    fit = stats.line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
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
        fit = stats.line(x, y[trial], se[trial], dof=dof).estimate
        misses += abs(fit.value - 2) > fit.half_width
    assert misses <= 8


def test_the_jackknife_of_a_mean_is_its_standard_error():
    samples = torch.randn(3, 20, generator=stream(0, "jackknife"), dtype=torch.float64)
    value, se, dof = stats.jackknife(lambda s: float(s[1].mean()), samples)
    mean, expected, freedom = stats.mean_se(samples[1])
    assert dof == freedom == 19
    assert value == pytest.approx(float(mean))
    assert se == pytest.approx(float(expected))  # an identity, to rounding
    with pytest.raises(ValueError, match="trials must be at least 2"):
        stats.jackknife(lambda s: 0.0, samples[:, :1])


@pytest.fixture
def rng_samples():
    draws = stream(0, "two samples")
    return torch.randn(12, generator=draws).double(), 2 * torch.randn(12, generator=draws).double()


def test_a_share_has_the_error_that_it_would_have_at_the_bound():
    hits = torch.tensor([[True, False, True, True], [True, True, True, True]])
    assert stats.share(hits, under=0.5) == (0.875, 0.25, math.inf)  # 4 trials, not 8
    assert stats.share(hits.flatten(), under=0.01).se == pytest.approx(math.sqrt(0.01 * 0.99 / 8))
    with pytest.raises(ValueError, match="hits must be in"):
        stats.share(torch.tensor([1.5]), under=0.5)
    with pytest.raises(ValueError, match="under must be"):
        stats.share(hits, under=1.0)
    with pytest.raises(ValueError, match="trials must be"):
        stats.share(torch.zeros(0), under=0.5)


def test_geometric_bars_reach_to_the_ends_of_the_interval_of_the_logs(rng_samples):
    logs, _ = rng_samples
    middle, (below, above) = stats.geometric_bars(logs)
    found = stats.estimate(logs)
    assert float(middle) == pytest.approx(10**found.value)
    assert float(middle - below) == pytest.approx(10 ** (found.value - found.half_width))
    assert float(middle + above) == pytest.approx(10 ** (found.value + found.half_width))
    assert float(mean_se(logs).half_width) == pytest.approx(found.half_width)


def test_a_repeated_training_is_no_more_precise_than_it_may_be():
    same = torch.zeros(8)
    assert stats.estimate(same).half_width == 0
    assert stats.estimate(same, at_least=0.01).half_width == pytest.approx(0.01)
    scattered = torch.tensor([-1.0, 1.0, -2.0, 2.0])
    assert stats.estimate(scattered, at_least=0.01) == stats.estimate(scattered)
    with pytest.raises(ValueError, match="at_least"):
        stats.estimate(same, at_least=-1.0)


def test_a_printed_spread_is_that_of_the_runs(rng_samples):
    """numpy's deviation divides by the number of runs, the standard error's by one less."""
    runs = rng_samples[0]
    found = stats.from_spread(float(runs.mean()), float(np.std(runs.numpy())), len(runs))
    wanted = stats.estimate(runs)
    assert found.dof == wanted.dof
    assert found.value == pytest.approx(wanted.value)
    assert found.se == pytest.approx(wanted.se)
    with pytest.raises(ValueError, match="runs must be at least 2"):
        stats.from_spread(1.0, 0.1, 1)


def test_an_intercept_is_that_of_each_trial_s_line():
    x = [0.05, 0.1, 0.2, 0.7]
    samples = torch.randn(4, 11, generator=stream(0, "lines"), dtype=torch.float64)
    fitted = torch.tensor([stats.line(x, samples[:, i]).intercept for i in range(11)])
    found = stats.intercept(x, samples)
    wanted = stats.estimate(fitted.double())
    assert found.value == pytest.approx(wanted.value, rel=1e-5)  # single precision above
    assert found.se == pytest.approx(wanted.se, rel=1e-5)
    with pytest.raises(ValueError, match="at least two different points"):
        stats.intercept([1.0] * 4, samples)
