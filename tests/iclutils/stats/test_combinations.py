"""Differences, ratios and weighted sums of estimates."""

import math

import numpy as np
import pytest
import torch
from scipy import stats as scipy_stats

from iclutils import stats
from iclutils.randomness import stream


def test_pairing_removes_what_two_settings_share():
    shared = 10 * torch.randn(100, generator=stream(0, "shared"), dtype=torch.float64)
    samples = torch.stack(
        [
            shared,
            shared + 1 + 0.1 * torch.randn(100, generator=stream(0, "own"), dtype=torch.float64),
        ]
    )
    [apart] = stats.steps(samples)
    [paired] = stats.steps(samples, paired=True)
    assert abs(apart.value) < apart.half_width
    assert paired.value > paired.half_width


def test_an_exact_power_is_found():
    x = torch.tensor([1.0, 2.0, 5.0, 9.0], dtype=torch.float64)
    fit = stats.exponent(x, 3 * x**-0.7)
    # an exact line: what is left is rounding of numbers of order 1
    assert fit.slope == pytest.approx(-0.7, abs=1e-12)
    assert fit.intercept == pytest.approx(math.log(3), abs=1e-12)
    assert fit.slope_se < 1e-12


@pytest.mark.parametrize("size", [3, 4, 9])
def test_a_line_is_that_of_scipy_and_with_weights_that_of_numpy(size):
    draws = stream(0, "lines", size)
    x, y, s = (torch.rand(size, generator=draws, dtype=torch.float64) + 0.1 for _ in range(3))
    fit, other = stats.line(x, y), scipy_stats.linregress(x.numpy(), y.numpy())
    assert (fit.slope, fit.intercept) == pytest.approx((other.slope, other.intercept))
    assert fit.slope_se == pytest.approx(other.stderr)
    # on the line itself the scatter is nothing, and the errors given are propagated
    straight = stats.line(x, 2 * x + 1, s, dof=9)
    weights = (1 / s).numpy()
    _, covariance = np.polyfit(x.numpy(), y.numpy(), 1, w=weights, cov="unscaled")
    assert straight.slope_se == pytest.approx(covariance[0, 0] ** 0.5)
    slope, intercept = np.polyfit(x.numpy(), y.numpy(), 1, w=weights)
    weighted = stats.line(x, y, s, dof=9)
    assert (weighted.slope, weighted.intercept) == pytest.approx((slope, intercept))


def test_differences_of_means_and_steps_are_welchs(rng_samples):
    first, second = rng_samples
    found = stats.mean_difference(first, second[:7])
    other = scipy_stats.ttest_ind(first.numpy(), second[:7].numpy(), equal_var=False)
    assert found.value / found.se == pytest.approx(other.statistic)
    assert found.dof == pytest.approx(other.df)
    both = torch.stack([second, first])
    [step] = stats.steps(both)
    assert step == pytest.approx(stats.mean_difference(first, second))
    [step] = stats.steps(both, paired=True)
    assert step == pytest.approx(stats.estimate(first - second))


@pytest.fixture
def rng_samples():
    draws = stream(0, "two samples")
    return torch.randn(12, generator=draws).double(), 2 * torch.randn(12, generator=draws).double()


@pytest.mark.parametrize(
    "numbers", [(math.nan, 1, 1), (1, -1e-300, 1), (1, math.nan, 1), (1, 1, 0), (1, 1, math.nan)]
)
def test_what_is_no_estimate_is_refused(numbers):
    with pytest.raises(ValueError, match="estimates must have"):
        stats.lowest([stats.exact(1.0), stats.Estimate(*numbers)])


def test_a_correlation_is_averaged_over_trials():
    first, second = torch.randn(2, 7, 20, generator=stream(0, "pairs"), dtype=torch.float64)
    by_scipy = [
        scipy_stats.pearsonr(a.numpy(), b.numpy())[0] for a, b in zip(first, second, strict=True)
    ]
    found = stats.correlation(first, second)
    assert found.value == pytest.approx(float(np.mean(by_scipy)))
    assert found.se == pytest.approx(float(np.std(by_scipy, ddof=1)) / math.sqrt(7))
    with pytest.raises(ValueError, match="second"):
        stats.correlation(first, second[:3])
    with pytest.raises(ValueError, match="finite"):
        stats.correlation(first, torch.ones(7, 20))
