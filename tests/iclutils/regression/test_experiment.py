"""The experiment at finite size: streams, and what a setting refuses."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression.experiment import (
    Setting,
    curve,
    equivalent,
    errors,
    leveraged,
    leveraged_estimate,
    ridgeless_curve,
    theory_curve,
)
from iclutils.regression.moments import without_corner
from iclutils.regression.ridge import solve, solve_ridgeless
from iclutils.regression.samplers import draw_tasks, sample
from iclutils.regression.theory.equivalents import finite_equivalent, leverage_equivalent


def test_errors_are_a_function_of_seed_and_trial():
    setting = Setting(d=6, alpha=3, kappa=0.5, tau=0.5, rho=0.1)
    first = errors(setting, [0.1, 1.0], 0, 0)
    assert torch.equal(first, errors(setting, [0.1, 1.0], 0, 0))
    # another start: equal to the relative error that the residual 1e-5 leaves at this ridge
    assert torch.allclose(first[1:], errors(setting, [1.0], 0, 0), rtol=1e-5)
    assert not torch.equal(first, errors(setting, [0.1, 1.0], 0, 1))
    both = curve([setting], 0.1, 0, 2)
    assert both.shape == (2, 1, 2)
    assert torch.equal(both[0, 0], first[0])


def test_the_sizes_are_the_ratios_times_the_dimension():
    for d, alpha, kappa, tau in ((5, 1.3, 0.7, 0.4), (11, 4.0, 2.5, 3.1), (40, 0.9, 1.0, 1.6)):
        setting = Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=0.1)
        # rounded to the nearest whole number
        assert abs(setting.ell - alpha * d) <= 0.5
        assert abs(setting.k - kappa * d) <= 0.5
        assert abs(setting.n - tau * d**2) <= 0.5


def test_the_two_errors_are_those_of_drawn_prompts():
    """On fresh tasks and on those of the list; within 5 standard errors."""
    setting, count = Setting(d=5, alpha=3, kappa=0.6, tau=4.0, rho=0.2), 40000
    icl, idg = errors(setting, [0.1], 0, 0)[0].tolist()
    gamma = solve(setting.prompts(0, 0), 0.1).gamma
    fresh = draw_tasks(count, 5, stream(0, "fresh tasks"))
    for exact, tasks in ((icl, fresh), (idg, setting.tasks(0, 0))):
        drawn = sample(tasks, setting.context, stream(0, "drawn", len(tasks)), n=count)
        loss = (drawn.y - ((drawn.x @ gamma) * drawn.v).sum(1)).square()
        # the 75 prompts that were trained on are balanced over the 3 tasks, as these are
        assert abs(float(loss.mean()) - exact) < 5 * float(loss.std()) / count**0.5
    assert abs(icl - idg) > 0.1


@pytest.mark.parametrize("kappa", [0.5, math.inf])
def test_no_draw_serves_twice(kappa):
    """Another seed, trial or purpose: other tasks, tokens and noise throughout."""
    setting = Setting(d=6, alpha=3, kappa=kappa, tau=0.5, rho=0.1)
    drawn = []
    for seed, trial in ((0, 0), (0, 1), (1, 0)):
        prompts, other = setting.prompts(seed, trial), setting.other_prompts(seed, trial, 12)[1]
        drawn += [setting.tasks(seed, trial), prompts.x, prompts.y, other.x, other.y]
    numbers = torch.cat([part.flatten() for part in drawn])
    assert len(numbers.unique()) == len(numbers)


@pytest.mark.parametrize(("asked", "drawn"), [(1, 3), (4, 3), (6, 6), (20, 18)])
def test_other_prompts_are_as_many_for_every_task(asked, drawn):
    tasks, other = Setting(d=6, alpha=3, kappa=0.5, tau=0.5, rho=0.1).other_prompts(0, 0, asked)
    assert len(tasks) == 3
    assert len(other.y) == drawn


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.0}, "alpha must be finite"),
        ({"kappa": 0.0}, "kappa must be finite"),
        ({"tau": -1.0}, "tau must be finite"),
        ({"rho": -1.0}, "rho must be finite"),
        ({"d": 1}, "d must be at least 2"),
    ],
)
def test_settings_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Setting(**{"d": 5, "alpha": 1.0, "kappa": 1.0, "tau": 1.0, "rho": 0.1, **change})


def test_a_curve_needs_a_trial():
    with pytest.raises(ValueError, match="trials must be at least 1"):
        curve([Setting(d=6, alpha=3, kappa=0.5, tau=0.5, rho=0.1)], 0.1, 0, 0)


@pytest.mark.parametrize(
    ("alpha", "tau", "most"), [(10, 0.4, 3e-6), (100, 0.8, 3e-6), (10, 1.4, 4e-5), (100, 1.2, 3e-4)]
)
def test_the_default_residual_leaves_as_much_as_is_said(alpha, tau, most):
    """The stated bounds; above the peak they are no larger than they have to be."""
    setting = Setting(d=20, alpha=alpha, kappa=0.5, tau=tau, rho=0.01)
    found, exact = (errors(setting, [0.0], 0, 0, **how) for how in ({}, {"tol": 1e-11}))
    worst = float(((found - exact).abs() / exact).max())
    assert worst < most
    assert worst > most / 20 or tau < 1


@pytest.mark.parametrize("kappa", [0.5, math.inf])
def test_a_setting_s_theory_is_that_of_its_moments_and_other_prompts(kappa):
    setting = Setting(d=8, alpha=4, kappa=kappa, tau=1.5, rho=0.1)
    both, others = setting.moments(0, 3), setting.other_prompts(0, 3, 200)
    equal = finite_equivalent(*both, setting.n, 0.1, 0.05)
    assert equivalent(setting, 0.05, 0, 3) == equal
    spread = leverage_equivalent(*both, *others, setting.n, 0.1, 0.05)
    assert leveraged(setting, 0.05, 0, 3, m=200) == spread
    without = equivalent(setting, 0.05, 0, 3, corner=False)
    assert without == finite_equivalent(*map(without_corner, both), setting.n, 0.1, 0.05)


def test_an_estimate_over_lists_adds_what_the_leverages_do():
    """With as many lists for the leverages the value is the mean with them."""
    setting = Setting(d=6, alpha=4, kappa=0.5, tau=1.5, rho=0.1)
    found = leveraged_estimate(setting, 0.05, 0, draws=3, leverages=3, m=60)
    each = [leveraged(setting, 0.05, 0, trial, m=60).icl for trial in range(3)]
    assert found.value == pytest.approx(sum(each) / 3)
    assert found.se > 0
    with pytest.raises(ValueError, match="leverages must be"):
        leveraged_estimate(setting, 0.05, 0, draws=2, leverages=3)


def test_a_theorys_curve_has_its_points_by_trial_and_setting():
    settings = [Setting(d=6, alpha=3, kappa=0.5, tau=t, rho=0.1) for t in (0.5, 2.0, 3.0)]
    by_trial = theory_curve(equivalent, settings, 0.1, 0, 2, corner=False)
    assert by_trial.shape == (2, 3, 2)
    point = equivalent(settings[2], 0.1, 0, 1, corner=False)
    assert by_trial[1, 2].tolist() == [point.icl, point.idg]
    spread = theory_curve(leveraged, settings[:1], 0.1, 0, 1, m=300)
    assert spread[0, 0, 0] == leveraged(settings[0], 0.1, 0, 0, m=300).icl
    with pytest.raises(ValueError, match="trials must be"):
        theory_curve(equivalent, settings, 0.1, 0, 0)
    with pytest.raises(ValueError, match="settings must hold at least one"):
        theory_curve(equivalent, [], 0.1, 0, 1)


def test_layers_without_a_ridge_have_the_errors_of_their_solutions():
    settings = [Setting(d=6, alpha=3, kappa=math.inf, tau=t, rho=0.1) for t in (0.5, 2.0, 3.0)]
    found = ridgeless_curve(settings, 4, 2)
    assert found.shape == (2, 3, 2)
    weak = errors(settings[1], [0.0], 4, 1, tol=1e-10)[0]  # by iterations, to that residual
    assert float(found[1, 1, 0]) == pytest.approx(float(weak[0]), rel=1e-7)
    gamma = solve_ridgeless(settings[2].prompts(4, 0))
    assert float(found[0, 2, 1]) == pytest.approx(float(gamma.norm()), rel=1e-12)  # last bits
    with pytest.raises(ValueError, match="trials must be"):
        ridgeless_curve(settings, 0, 0)
    with pytest.raises(ValueError, match="settings must hold at least one"):
        ridgeless_curve([], 0, 1)
