"""Jackknife, crossed draws and ratios of means."""

import math

import pytest
import torch

from iclutils import stats
from iclutils.randomness import stream


def test_the_jackknife_from_replicas_is_its_formula():
    without = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    centred = without - without.mean()
    expected = math.sqrt(2 / 3 * float(centred.square().sum()))
    # the same sum in another order: float64 rounding
    assert stats.jackknife_se(without) == pytest.approx(expected, rel=1e-12)


@pytest.fixture
def rng_samples():
    draws = stream(0, "two samples")
    return torch.randn(12, generator=draws).double(), 2 * torch.randn(12, generator=draws).double()


def test_statistics_of_means_are_jackknifed(rng_samples):
    """Against the formulas as they stand in a textbook, the trials left out one by one."""
    curves = torch.stack([*rng_samples, rng_samples[0].flip(0), rng_samples[1].cos()])
    curves = curves + torch.tensor([[9.0], [6.0], [4.0], [0.0]])
    found = stats.share_of_fall(curves)

    def fall(m):
        return (m[1] - m[2]) / (m[0] - m[3])

    without = [fall(torch.cat([curves[:, :i], curves[:, i + 1 :]], 1).mean(1)) for i in range(12)]
    se = math.sqrt(11 / 12 * sum(float(f - sum(without) / 12) ** 2 for f in without))
    assert found == pytest.approx((float(fall(curves.mean(1))), se, 11))
    x = [0.0, 1.0, 2.0, 3.0]
    tops = curves - torch.tensor([[7.0], [0.0], [0.0], [0.0]])
    by_hand = stats.jackknife(lambda kept: stats.parabola_top(x, kept.mean(-1)), tops)
    assert stats.summit(x, tops) == pytest.approx(by_hand)
    left, whole = curves, 2 * curves + 1
    size = float(left.mean(1).norm() / whole.mean(1).norm())
    assert stats.unexplained(left, whole).value == pytest.approx(size)
    times = float((left.mean(1) * whole.mean(1)).sum() / whole.mean(1).square().sum())
    assert stats.proportion(left, whole).value == pytest.approx(times)


def test_two_sources_of_chance_add_up():
    """Errors of contexts and trials as simulated: a table of both, a thousand times.

    The spread of its mean is √(A/C + B/T + E/CT), here with A = 4, B = 1, E = 1, C = 20, T = 5.
    """
    draws = stream(0, "crossed")
    contexts, trials, count = 20, 5, 1000
    a = 2 * torch.randn(count, contexts, 1, generator=draws, dtype=torch.float64)
    b = torch.randn(count, 1, trials, generator=draws, dtype=torch.float64)
    e = torch.randn(count, contexts, trials, generator=draws, dtype=torch.float64)
    found = [stats.crossed(lambda both: both.mean(), table) for table in a + b + e]
    variance = sum(one.se**2 for one in found) / count
    true = 4 / contexts + 1 / trials + 1 / (contexts * trials)
    # what is estimated counts the last term twice; a thousand variances, each good to a third
    assert variance == pytest.approx(true + 1 / (contexts * trials), rel=0.05)
    z = torch.tensor([one.value / one.half_width for one in found])
    assert float((z.abs() > 1).double().mean()) < 0.01
    for table, one in zip((a + b + e)[:5], found[:5], strict=True):
        ours = stats.crossed_mean(table)
        expected = pytest.approx((one.value, one.se, one.dof), rel=1e-10)  # both but for rounding
        assert (ours.value, ours.se, ours.dof) == expected


def test_what_a_theory_leaves_and_how_much_of_it_is_there():
    """The theory explains four fifths, and half as much again is measured as it predicts."""
    noise = 1e-3 * torch.randn(2, 5, 40, generator=stream(0, "left"), dtype=torch.float64)
    deviation = torch.linspace(-1, 2, 5, dtype=torch.float64)[:, None]
    left = stats.unexplained(0.2 * deviation + noise[0], deviation + noise[1])
    there = stats.proportion(1.5 * deviation + noise[0], deviation + noise[1])
    # the noise of a mean is 1.6e-4 of the deviation; 5 standard errors
    for found, wanted in ((left, 0.2), (there, 1.5)):
        assert found.dof == 39
        assert abs(found.value - wanted) < 5 * found.se < 1e-3
    for function in (stats.unexplained, stats.proportion):
        with pytest.raises(ValueError, match="the second of the two"):
            function(noise[0], noise[1][:, :7])
        with pytest.raises(ValueError, match="trials"):
            function(noise[0][:, :1], noise[1][:, :1])


def test_a_ratio_of_means_is_paired():
    """What both share drops out, and the logarithm is that of the ratio."""
    shared = torch.rand(30, generator=stream(0, "shared"), dtype=torch.float64) + 0.5
    assert stats.ratio(3 * shared, shared).se == pytest.approx(0, abs=1e-12)
    other = torch.rand(30, generator=stream(0, "other"), dtype=torch.float64) + 0.5
    found, log = (stats.ratio(shared, other, log=log) for log in (False, True))
    assert found.value == pytest.approx(float(shared.mean() / other.mean()))
    assert log.value == pytest.approx(math.log(found.value))
    # the delta method, to first order in errors of a tenth
    assert log.se == pytest.approx(found.se / found.value, rel=0.05)
    with pytest.raises(ValueError, match="below"):
        stats.ratio(shared, other[:5])


def test_a_typical_deviation_is_over_points_and_relative_and_leaves_out_missing_trials():
    sets = torch.tensor([[1.0, 1.2, math.nan], [3.0, 5.0, 4.6]], dtype=torch.float64)
    found = stats.typical_deviation(sets, torch.tensor([1.0, 4.0], dtype=torch.float64))
    # the means are off by 10 % and 5 %
    assert found.value == pytest.approx(math.sqrt((0.1**2 + 0.05**2) / 2))
    assert found.dof == 2
    without_last = math.sqrt((0.1**2 + 0.0**2) / 2)
    without = [without_last, *(math.sqrt((a**2 + b**2) / 2) for a, b in ((0.2, 0.2), (0.0, -0.05)))]
    assert found.se == pytest.approx(stats.jackknife_se(torch.tensor(without, dtype=torch.float64)))
    with pytest.raises(ValueError, match="sets must have shape"):
        stats.typical_deviation(sets, torch.ones(3))
