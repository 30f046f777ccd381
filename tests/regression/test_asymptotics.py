"""The closed forms against each other, against random matrices and against their limits."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from iclutils import asymptotics, features
from iclutils.linear_icl import Setting, curve
from iclutils.randomness import stream

TAUS = (0.1, 0.5, 0.99, 1.01, 1.5, 100)
GRID = list(itertools.product((0.3, 1, 10, 100), (0.1, 0.5, 1, 2, 50, math.inf), TAUS, (0, 0.01, 0.5)))


def test_every_ridge_formula_at_ridge_zero_is_the_slides_formula():
    # conditioning: the effective ridge near τ = 1 is small against q, no term cancels to more than 1e3
    for alpha, kappa, tau, rho in GRID:
        slides = asymptotics.ridgeless_icl(alpha, kappa, tau, rho)
        assert asymptotics.errors(alpha, kappa, tau, rho, 0.0).icl == pytest.approx(slides, rel=1e-12)


@pytest.mark.parametrize("kappa", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("x", [0.05, 1.0, 20.0])
def test_marchenko_pastur_is_the_resolvent_of_a_task_covariance(kappa, x):
    d = 400
    k = int(kappa * d)
    w = torch.randn(k, d, dtype=torch.float64, generator=stream(0, "w", k))
    trace = float((1 / (torch.linalg.eigvalsh(w.T @ w / k) + x)).mean())
    # fluctuations and bias of the linear statistic are O(1/d) times its scale |x M'|/M ≤ 1
    assert trace == pytest.approx(asymptotics.marchenko_pastur(x, kappa), rel=4 / d)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 1e3), st.floats(1e-2, 1e3))
def test_marchenko_pastur_solves_its_quadratic_and_slope_is_its_derivative(x, kappa):
    m, gamma = asymptotics.marchenko_pastur(x, kappa), 1 / kappa
    terms = (gamma * x * m * m, (x + 1 - gamma) * m, -1.0)
    assert abs(sum(terms)) <= 1e-13 * sum(abs(t) for t in terms)
    step = 1e-4 * x
    slope = (asymptotics.marchenko_pastur(x + step, kappa) - asymptotics.marchenko_pastur(x - step, kappa)) / (2 * step)
    assert asymptotics.marchenko_pastur_slope(x, kappa) == pytest.approx(slope, rel=1e-5)


def test_no_cancellation_for_few_tasks():
    # κ < 1: M → (1 − κ)/x for small x; the textbook form loses all digits here
    assert asymptotics.marchenko_pastur(1e-14, 0.5) * 1e-14 == pytest.approx(0.5, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 100), st.floats(0.05, 100), st.floats(0.05, 30), st.floats(0, 2), st.floats(1e-8, 10))
def test_effective_ridge_solves_its_equation(alpha, kappa, tau, rho, lam):
    nu = asymptotics.effective_ridge(alpha, kappa, tau, rho, lam)
    q = (1 + rho) / alpha
    assert lam <= nu <= lam + (1 + q) / tau
    left, right = 1 - tau + tau * lam / nu, nu * asymptotics.marchenko_pastur(q + nu, kappa)
    assert abs(left - right) <= 1e-10 * (1 + tau)


@pytest.mark.parametrize("alpha", [1, 10, 100])
@pytest.mark.parametrize("kappa", [0.2, 1, 5])
def test_limits(alpha, kappa):
    rho = 0.1
    icl, idg = asymptotics.peak_coefficients(alpha, kappa, rho)
    for tau in (1 - 1e-7, 1 + 1e-7):
        e = asymptotics.errors(alpha, kappa, tau, rho, 0.0)
        assert e.icl * 1e-7 == pytest.approx(icl, rel=1e-4)
        assert e.idg * 1e-7 == pytest.approx(idg, rel=1e-4)
    assert asymptotics.errors(alpha, kappa, 1.0, rho, 0.0).icl == math.inf
    small = asymptotics.errors(alpha, kappa, 0.7, rho, 1e-12)
    assert small.icl == pytest.approx(asymptotics.errors(alpha, kappa, 0.7, rho, 0.0).icl, rel=1e-8)
    many = asymptotics.errors(alpha, math.inf, 0.7, rho, 0.1)
    assert many.icl == pytest.approx(many.idg, rel=1e-12)
    assert many.icl == pytest.approx(asymptotics.errors(alpha, 1e9, 0.7, rho, 0.1).icl, rel=1e-7)


@pytest.mark.parametrize("kappa", [0.3, 0.8, 1.0, 3.0])
def test_long_context_limit_has_alpha_over_tau(kappa):
    rho, ratio = 0.5, 0.2
    found = asymptotics.ridgeless_icl(1e12, kappa, ratio * 1e12, rho)
    # the approach is O(1/α), at κ = 1 O(α^-1/2): 1e-6
    assert found == pytest.approx(asymptotics.long_context_limit(kappa, rho, ratio), abs=1e-5)


def test_finite_equivalent_tends_to_the_limit_as_one_over_d():
    gaps = []
    for d in (200, 400, 800):
        fresh = features.fresh_moments(d, 10 * d, 0.1)
        found = asymptotics.finite_equivalent(fresh, fresh, int(1.5 * d * d), 0.1, 0.01)
        gaps.append(found.icl - asymptotics.errors(10, math.inf, 1.5, 0.1, 0.01).icl)
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.02)
    assert gaps[1] / gaps[2] == pytest.approx(2, rel=0.02)


def test_finite_equivalent_without_noise_in_gamma_is_the_population_minimiser():
    # n → ∞ at λ = 0: Γ = A S⁻¹ minimises the pretraining error
    train = features.moments(features.draw_tasks(3, 4, stream(0, "tasks")), 5, 0.2)
    fresh = features.fresh_moments(4, 5, 0.2)
    found = asymptotics.finite_equivalent(train, fresh, 10**9, 0.2, 0.0)
    gamma = torch.linalg.solve(train.second, train.cross.T).T
    assert found.idg == pytest.approx(train.error(gamma, 0.2), rel=1e-6)
    direction = torch.randn(4, 5, dtype=torch.float64, generator=stream(0, "direction"))
    best = minimize_scalar(lambda t: train.error(gamma + t * direction, 0.2))
    assert abs(best.x) < 1e-6


@pytest.mark.parametrize(("alpha", "kappa", "tau"), [(1, 0.5, 1.5), (2, math.inf, 0.6)])
def test_leverages_explain_simulations_that_the_plain_equivalent_misses(alpha, kappa, tau):
    setting, trials = Setting(16, alpha, kappa, tau, 0.1), 60
    simulated = curve([setting], 0.01, 0, trials)[:, 0, 0]
    plain, full = [], []
    for trial in range(6):
        train, fresh = setting.moments(0, trial)
        tasks, sample = setting.other_prompts(0, trial, 4000)
        plain.append(asymptotics.finite_equivalent(train, fresh, setting.n, 0.1, 0.01).icl)
        full.append(asymptotics.leverage_equivalent(train, fresh, tasks, sample, setting.n, 0.1, 0.01).icl)
    mean, se = float(simulated.mean()), float(simulated.std()) / math.sqrt(trials)
    tasks_se = float(torch.tensor(full).std()) / math.sqrt(6)
    # 1/d is corrected, so the rest is of the order of the correction squared
    rest = (full[0] - plain[0]) ** 2 / mean
    assert abs(mean - sum(full) / 6) < 4 * math.hypot(se, tasks_se) + rest
    assert mean - sum(plain) / 6 > 4 * se


@pytest.mark.parametrize(("change", "message"), [
    ({"alpha": 0.0}, "alpha must be finite"), ({"kappa": -1.0}, "kappa must be finite"), ({"tau": 0.0}, "tau must be finite"),
    ({"rho": -0.1}, "rho must be finite"), ({"lam": -1e-3}, "lam must be finite"), ({"tau": math.nan}, "tau must be finite")])
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        asymptotics.errors(**{"alpha": 1.0, "kappa": 0.5, "tau": 0.5, "rho": 0.1, "lam": 0.1, **change})
