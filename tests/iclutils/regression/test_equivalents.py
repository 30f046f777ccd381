"""The equivalents at finite d against their limit, the population minimiser and simulations."""

import math

import pytest
import torch
from scipy.optimize import minimize_scalar

from iclutils.randomness import stream
from iclutils.regression.experiment import Setting, curve, errors
from iclutils.regression.moments import fresh_moments, moments
from iclutils.regression.samplers import Context, draw_tasks
from iclutils.regression.theory import asymptotics
from iclutils.regression.theory.asymptotics import Phase
from iclutils.regression.theory.equivalents import (
    _ridge_of_sample,
    finite_equivalent,
    layer_errors,
    leverage_equivalent,
)


def test_finite_equivalent_tends_to_the_limit_as_one_over_d():
    limit = asymptotics.errors(Phase(alpha=10, kappa=math.inf, tau=1.5, rho=0.1), 0.01).icl
    gaps = []
    for d in (200, 400, 800):
        fresh = fresh_moments(Context(d=d, ell=10 * d, rho=0.1))
        found = finite_equivalent(fresh, fresh, int(1.5 * d * d), 0.1, 0.01)
        gaps.append(found.icl - limit)
    # a term in 1/d² is left: 2 (1 + O(1/d)), 1/d ≤ 0.005 with a coefficient below 4
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.02)
    assert gaps[1] / gaps[2] == pytest.approx(2, rel=0.02)


def test_finite_equivalent_without_noise_in_gamma_is_the_population_minimiser():
    # n → ∞ at λ = 0: Γ = A S⁻¹ minimises the pretraining error
    context = Context(d=4, ell=5, rho=0.2)
    train = moments(draw_tasks(3, 4, stream(0, "tasks")), context)
    found = finite_equivalent(train, fresh_moments(context), 10**9, 0.2, 0.0)
    gamma = torch.linalg.solve(train.second, train.cross.T).T
    # the fluctuations are d(d+1)/n = 2e-8 of the error
    assert found.idg == pytest.approx(train.error(gamma, 0.2), rel=1e-6)
    direction = torch.randn(4, 5, dtype=torch.float64, generator=stream(0, "direction"))
    best = minimize_scalar(lambda t: train.error(gamma + t * direction, 0.2))
    # a minimum of a function with rounding errors of 1e-16 is found to their square root, 1e-8
    assert abs(best.x) < 1e-6


def test_without_a_ridge_the_effective_ridge_is_zero_above_the_peak_and_solves_its_equation_below():
    d = 6
    fresh = fresh_moments(Context(d=d, ell=12, rho=0.1))
    assert finite_equivalent(fresh, fresh, 43, 0.1, 0.0).nu == 0.0
    nu = finite_equivalent(fresh, fresh, 20, 0.1, 0.0).nu
    eigen = torch.linalg.eigvalsh(fresh.second)
    # Newton's method leaves rounding errors alone
    assert d / 20 * float((eigen / (eigen + nu)).sum()) == pytest.approx(1, rel=1e-12)
    with pytest.raises(ValueError, match=r"lam must be positive where n = d\(d\+1\) = 42"):
        finite_equivalent(fresh, fresh, 42, 0.1, 0.0)


@pytest.mark.parametrize(("alpha", "kappa", "tau"), [(1, 0.5, 1.5), (2, math.inf, 0.6)])
def test_leverages_explain_simulations_that_the_plain_equivalent_misses(alpha, kappa, tau):
    setting, trials = Setting(d=16, alpha=alpha, kappa=kappa, tau=tau, rho=0.1), 60
    simulated = curve([setting], 0.01, 0, trials)[:, 0, 0]
    plain, full = [], []
    for trial in range(6):
        train, fresh = setting.moments(0, trial)
        others = setting.other_prompts(0, trial, 4000)
        plain.append(finite_equivalent(train, fresh, setting.n, 0.1, 0.01).icl)
        full.append(leverage_equivalent(train, fresh, *others, setting.n, 0.1, 0.01).icl)
    mean = float(simulated.mean())
    se = float(simulated.std()) / math.sqrt(trials)
    tasks_se = float(torch.tensor(full).std()) / math.sqrt(6)
    # 1/d is corrected, so the rest is of the order of the correction squared; 4 standard errors
    # are a false alarm of 6e-5
    rest = (full[0] - plain[0]) ** 2 / mean
    assert abs(mean - sum(full) / 6) < 4 * math.hypot(se, tasks_se) + rest
    assert mean - sum(plain) / 6 > 4 * se


def test_the_equivalent_with_leverages_solves_its_equations_written_prompt_by_prompt():
    """The plain way: rounds of the printed equations for B, Γ and K, one matrix a prompt."""
    setting, rho, lam = Setting(d=6, alpha=4, kappa=0.5, tau=1.5, rho=0.1), 0.1, 0.2
    train, fresh = setting.moments(0, 0)
    tasks, others = setting.other_prompts(0, 0, 300)
    found = leverage_equivalent(train, fresh, tasks, others, setting.n, rho, lam, tol=1e-8)
    many = setting.n / setting.d
    power, v = others.x.square().sum(1), others.v
    w = tasks[torch.arange(len(v)) % len(tasks)]
    of_vv, of_wv = v[:, :, None] * v[:, None], w[:, :, None] * v[:, None]

    def average(weight, each, exact):
        rest = (weight - weight.mean())[:, None, None] * each
        return weight.mean() * exact + rest.mean(0)

    eye = torch.eye(7, dtype=torch.float64)
    b, k = eye.clone(), torch.zeros_like(eye)
    for _ in range(400):
        factor = 1 + power * torch.einsum("pi,ij,pj->p", v, b, v)
        b = torch.linalg.inv(many * average(power / factor, of_vv, train.second) + many * lam * eye)
    gamma = many * average(power / factor, of_wv, train.cross) @ b
    residual = power * (w - v @ gamma.T).square().sum(1) / setting.d + rho
    for _ in range(400):
        squared = residual + power * torch.einsum("pi,ij,pj->p", v, k, v)
        k = many * b @ average(power / factor**2 * squared, of_vv, train.second) @ b
    # it stops at relative changes of 1e-8
    for exact, error in ((fresh, found.icl), (train, found.idg)):
        plain = exact.error(gamma, rho) + float((exact.second * k).sum())
        assert error == pytest.approx(plain, rel=1e-6)


def test_equal_leverages_give_the_plain_equivalent():
    """The two meet as 1/d, with a coefficient of order 1: 5 % is three times 1/d at d = 60."""
    setting = Setting(d=60, alpha=2, kappa=math.inf, tau=2.0, rho=0.1)
    train, fresh = setting.moments(0, 0)
    others = setting.other_prompts(0, 0, 3000)
    full = leverage_equivalent(train, fresh, *others, setting.n, 0.1, 0.3)
    plain = finite_equivalent(train, fresh, setting.n, 0.1, 0.3)
    assert full.icl == pytest.approx(plain.icl, rel=0.05)


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ({"max_rounds": 2}, r"weights: the mean change is \d.* after 2 rounds, wanted 1.0e-06"),
        (
            {"max_iterations": 2},
            r"residuals: the relative residual is \d.* after 2 iterations of GMRES, wanted 1e-06",
        ),
    ],
)
def test_an_iteration_that_does_not_converge_says_so(bound, message):
    setting = Setting(d=8, alpha=2, kappa=0.5, tau=0.6, rho=0.1)
    arguments = (*setting.moments(0, 0), *setting.other_prompts(0, 0, 500), setting.n, 0.1, 0.01)
    leverage_equivalent(*arguments)
    with pytest.raises(RuntimeError, match=message):
        leverage_equivalent(*arguments, **bound)


def test_what_the_usual_tolerance_leaves_is_what_the_docstring_says():
    setting = Setting(d=25, alpha=1, kappa=0.5, tau=1.2, rho=0.01)
    of = (*setting.moments(0, 0), *setting.other_prompts(0, 0, 1000), setting.n, 0.01, 1e-5)
    usual, close = leverage_equivalent(*of), leverage_equivalent(*of, tol=1e-9)
    assert usual.icl == pytest.approx(close.icl, rel=2e-6)
    assert usual.idg == pytest.approx(close.idg, rel=2e-6)


def test_bad_input_is_refused():
    setting = Setting(d=8, alpha=2, kappa=0.5, tau=0.6, rho=0.1)
    pair, others = setting.moments(0, 0), setting.other_prompts(0, 0, 500)
    with pytest.raises(ValueError, match="lam must be finite"):
        leverage_equivalent(*pair, *others, setting.n, 0.1, 0.0)
    with pytest.raises(ValueError, match="tol must be"):
        leverage_equivalent(*pair, *others, setting.n, 0.1, 0.01, tol=0.0)
    with pytest.raises(ValueError, match="n must be at least 1"):
        finite_equivalent(*pair, 0, 0.1, 0.1)


@pytest.mark.parametrize("start", [1e-6, 0.3, 1e6])
def test_the_ridge_of_a_sample_does_not_depend_on_where_its_search_starts(start):
    """Newton's first step from the right of the root could leave the positive numbers."""
    draws = torch.Generator().manual_seed(0)
    power = torch.rand(400, generator=draws, dtype=torch.float64) + 0.5
    squares = torch.randn(9, 400, generator=draws, dtype=torch.float64).square()
    eigen = torch.linspace(0.3, 4, 9, dtype=torch.float64)
    nu, pulls = _ridge_of_sample(1 / power, squares, eigen, 0.1, 1e-5, start)
    assert float(pulls.mean()) == pytest.approx(1, abs=1e-9)
    assert nu == pytest.approx(_ridge_of_sample(1 / power, squares, eigen, 0.1, 1e-5, 1e-5)[0])
    assert nu > 0


def test_theory_is_near_a_trained_layer_and_falls_with_the_list():
    found = layer_errors(Context(d=20, ell=180, rho=0.01), 50, [4, 400], seed=0, draws=3)
    assert tuple(found.shape) == (2, 2, 3)
    assert bool((found[0, 0] > found[0, 1]).all())  # new tasks: worse with few on the list
    assert bool((found[1, 0] < found[1, 1]).all())
    trained = errors(Setting(d=20, alpha=9, kappa=20, tau=50, rho=0.01), [0.0], 0, 0)[0].log10()
    # at n = 20 000 for 420 numbers one training set is within a few per cent of the theory
    assert found[:, 1].mean(-1).tolist() == pytest.approx(trained.tolist(), abs=0.03)


def test_bad_input_is_refused_of_diversity():
    with pytest.raises(ValueError, match="draws"):
        layer_errors(Context(d=4, ell=8, rho=0.01), 50, [4], seed=0, draws=0)
    with pytest.raises(ValueError, match="tau"):
        layer_errors(Context(d=4, ell=8, rho=0.01), 0, [4], seed=0, draws=1)
