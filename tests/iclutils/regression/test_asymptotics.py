"""The closed forms against each other, against random matrices and against their limits."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from iclutils.randomness import stream
from iclutils.regression.theory import asymptotics
from iclutils.regression.theory.asymptotics import Phase

TAUS = (0.1, 0.5, 0.99, 1.01, 1.5, 100)
KAPPAS = (0.1, 0.5, 1, 2, 50, math.inf)
RATIOS = itertools.product((0.3, 1, 10, 100), KAPPAS, TAUS, (0, 0.01, 0.5))
GRID = [{"alpha": a, "kappa": k, "tau": t, "rho": r} for a, k, t, r in RATIOS]


def test_every_ridge_formula_at_ridge_zero_is_the_slides_formula():
    # conditioning: the effective ridge near τ = 1 is small against q, no term cancels to more
    # than 1e3
    for point in GRID:
        slides = asymptotics.ridgeless_icl(Phase(**point))
        assert asymptotics.errors(Phase(**point), 0.0).icl == pytest.approx(slides, rel=1e-12)


def test_an_array_gives_what_its_points_give_one_by_one():
    """To 1e-13: the same operations, but for the steps that Newton takes after convergence."""
    columns = {name: np.array([point[name] for point in GRID]) for name in GRID[0]}
    lams = np.array([0.0, 1e-5, 0.3])[:, None]
    found = asymptotics.errors(Phase(**columns), lams)
    slides = asymptotics.ridgeless_icl(Phase(**columns))
    assert found.icl.shape == (3, len(GRID))
    assert found.icl.flags.writeable
    for i, j in itertools.product(range(3), range(0, len(GRID), 7)):
        one = asymptotics.errors(Phase(**GRID[j]), float(lams[i, 0]))
        for name in ("icl", "idg", "nu", "gap"):
            assert isinstance(getattr(one, name), float)
            there = getattr(found, name)[i, j]
            # a gap near 0 has the rounding errors of the errors themselves
            assert there == pytest.approx(getattr(one, name), rel=1e-13, abs=1e-13 * one.icl)
        assert slides[j] == pytest.approx(asymptotics.ridgeless_icl(Phase(**GRID[j])), rel=1e-13)


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
    m = asymptotics.marchenko_pastur(x, kappa)
    gamma = 1 / kappa
    terms = (gamma * x * m * m, (x + 1 - gamma) * m, -1.0)
    # rounding: 1e-13 of the terms
    assert abs(sum(terms)) <= 1e-13 * sum(abs(t) for t in terms)
    step = 1e-4 * x
    above = asymptotics.marchenko_pastur(x + step, kappa)
    below = asymptotics.marchenko_pastur(x - step, kappa)
    # the central difference errs by (step/x)² = 1e-8 and by rounding over step, 1e-12
    slope = (above - below) / (2 * step)
    assert asymptotics.marchenko_pastur_slope(x, kappa) == pytest.approx(slope, rel=1e-5)


def test_no_cancellation_for_few_tasks():
    # κ < 1: M → (1 − κ)/x for small x, up to 1e-14; the textbook form loses all digits here
    assert asymptotics.marchenko_pastur(1e-14, 0.5) * 1e-14 == pytest.approx(0.5, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.05, 100),
    st.floats(0.05, 100),
    st.floats(0.05, 30),
    st.floats(0, 2),
    st.floats(1e-8, 10),
)
def test_effective_ridge_solves_its_equation(alpha, kappa, tau, rho, lam):
    nu = asymptotics.effective_ridge(Phase(alpha=alpha, kappa=kappa, tau=tau, rho=rho), lam)
    q = (1 + rho) / alpha
    assert lam <= nu <= lam + (1 + q) / tau
    left = 1 - tau + tau * lam / nu
    right = nu * asymptotics.marchenko_pastur(q + nu, kappa)
    # rounding errors of the terms 1, τ and τλ/ν ≤ τ are below 1e-15 (1 + τ)
    assert abs(left - right) <= 1e-10 * (1 + tau)


def test_the_effective_ridge_is_the_root_that_bisection_finds():
    """A second solver; both leave errors of 1e-14 times the root's condition, below 1e2 here."""
    for point in GRID[::5]:
        phase = Phase(**point)
        for lam in (1e-7, 0.3):

            def excess(nu, phase=phase, lam=lam):
                pull = nu * nu * asymptotics.marchenko_pastur(phase.q + nu, phase.kappa)
                return nu * (1 - phase.tau) + phase.tau * lam - pull

            high = lam + (1 + phase.q) / phase.tau
            root = brentq(excess, lam, high, xtol=1e-300, rtol=1e-14, maxiter=500)
            assert asymptotics.effective_ridge(phase, lam) == pytest.approx(root, rel=1e-12)


@pytest.mark.parametrize("alpha", [1, 10, 100])
@pytest.mark.parametrize("kappa", [0.2, 1, 5])
def test_the_peak_has_its_coefficients_on_both_sides(alpha, kappa):
    peak = asymptotics.peak_coefficients(alpha, kappa, 0.1)
    for tau in (1 - 1e-7, 1 + 1e-7):
        e = asymptotics.errors(Phase(alpha=alpha, kappa=kappa, tau=tau, rho=0.1), 0.0)
        # the next term is 1e-7 of the first one, times coefficients below 1e3
        assert e.icl * 1e-7 == pytest.approx(peak.icl, rel=1e-4)
        assert e.idg * 1e-7 == pytest.approx(peak.idg, rel=1e-4)
    assert (
        asymptotics.errors(Phase(alpha=alpha, kappa=kappa, tau=1.0, rho=0.1), 0.0).icl == math.inf
    )
    assert asymptotics.ridgeless_icl(Phase(alpha=alpha, kappa=kappa, tau=1.0, rho=0.1)) == math.inf


@pytest.mark.parametrize("alpha", [1, 10, 100])
@pytest.mark.parametrize("kappa", [0.2, 1, 5])
def test_limits_in_the_ridge_and_in_the_tasks(alpha, kappa):
    phase = Phase(alpha=alpha, kappa=kappa, tau=0.7, rho=0.1)
    small = asymptotics.errors(phase, 1e-12)
    # linear in λ: 1e-12 times a slope below 1e4
    assert small.icl == pytest.approx(asymptotics.errors(phase, 0.0).icl, rel=1e-8)
    many = asymptotics.errors(Phase(alpha=alpha, kappa=math.inf, tau=0.7, rho=0.1), 0.1)
    # fresh tasks are the pretraining tasks: the same formula up to rounding
    assert many.icl == pytest.approx(many.idg, rel=1e-12)
    # linear in 1/κ = 1e-9, with a slope below 100
    nearly = asymptotics.errors(Phase(alpha=alpha, kappa=1e9, tau=0.7, rho=0.1), 0.1)
    assert many.icl == pytest.approx(nearly.icl, rel=1e-7)


@pytest.mark.parametrize("kappa", [0.3, 0.8, 1.0, 3.0])
def test_long_context_limit_has_alpha_over_tau(kappa):
    rho, ratio = 0.5, 0.2
    found = asymptotics.ridgeless_icl(Phase(alpha=1e12, kappa=kappa, tau=ratio * 1e12, rho=rho))
    # the approach is O(1/α), at κ = 1 O(α^-1/2): 1e-6
    limit = asymptotics.long_context_limit(kappa, rho, ratio)
    assert found == pytest.approx(limit, abs=1e-5)


def test_a_ridge_out_of_range_is_refused():
    with pytest.raises(ValueError, match="lam must be finite"):
        asymptotics.errors(Phase(alpha=1.0, kappa=0.5, tau=0.5, rho=0.1), -1e-3)
    with pytest.raises(ValueError, match="x must be finite"):
        asymptotics.marchenko_pastur(0.0, 0.5)


def test_the_extrapolated_long_context_is_its_limit():
    """At α = 10⁶ the term in 1/α is 10⁻⁶, and what is left of it 10⁻¹²."""
    for kappa in (0.2, 0.8, 4.0):
        found = asymptotics.extrapolated(
            lambda a, kappa=kappa: asymptotics.ridgeless_icl(
                Phase(alpha=a, kappa=kappa, tau=0.2 * a, rho=0.5)
            ),
            1e6,
        )
        assert found == pytest.approx(asymptotics.long_context_limit(kappa, 0.5, 0.2), abs=1e-8)


def test_the_power_over_a_decade():
    assert asymptotics.decade_power(lambda x: 5 * x**-1.5, 1e3) == pytest.approx(-1.5)
    # at κ = 1 the gap closes as α^-½, above as 1/α
    for kappa, power in ((1.0, -0.5), (2.0, -1.0)):
        found = asymptotics.decade_power(
            lambda a, kappa=kappa: (
                asymptotics.errors(Phase(alpha=a, kappa=kappa, tau=0.2 * a, rho=0.01), 0.0).gap
            ),
            1e8,
        )
        assert found == pytest.approx(power, abs=1e-3)


@pytest.mark.parametrize(("kappa", "power"), [(0.5, 0.0), (1.0, -0.5), (2.0, -1.0)])
def test_the_error_of_fresh_tasks_falls_with_the_context_for_tasks_enough(kappa, power):
    """Lu et al., Result 2: e_ICL − ρ stays, falls as α^(−1/2) or as 1/α."""
    last, before = asymptotics.long_context_exponents(
        lambda e: e.icl - 0.01, kappa, 0.01, ratio=0.2
    )
    # at α = 1e8 the next order is some 1e-4 of the first
    assert last == pytest.approx(power, abs=1e-3)
    assert abs(last - power) <= abs(before - power) + 1e-9
    (once,) = asymptotics.long_context_exponents(
        lambda e: e.icl - 0.01, kappa, 0.01, ratio=0.2, tops=[1e4]
    )
    far, near = (
        asymptotics.errors(Phase(alpha=a, kappa=kappa, tau=0.2 * a, rho=0.01), 0.0).icl - 0.01
        for a in (1e4, 1e3)
    )
    assert once == pytest.approx(math.log10(far / near))


def test_numbers_stay_numbers_and_sequences_become_arrays():
    phase = Phase(alpha=10, kappa=math.inf, tau=[0.5, 2.0], rho=torch.tensor([0.25, 0.5]))
    assert phase.alpha == 10.0
    assert isinstance(phase.alpha, float)
    assert np.array_equal(phase.tau, [0.5, 2.0])
    assert np.array_equal(phase.q, [1.25 / 10, 1.5 / 10])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.0}, "alpha must be finite"),
        ({"alpha": [1.0, 0.0]}, r"alpha must be finite and in \[1e-50, 1e\+50\]; got 0.0"),
        ({"kappa": -1.0}, "kappa must be finite"),
        ({"kappa": [math.inf, math.nan]}, "kappa must be finite"),
        ({"tau": 0.0}, "tau must be finite"),
        ({"tau": math.nan}, "tau must be finite"),
        ({"tau": [1.0, math.inf]}, "tau must be finite"),
        ({"rho": -0.1}, "rho must be finite"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        Phase(**{"alpha": 1.0, "kappa": 0.5, "tau": 0.5, "rho": 0.1, **change})
