"""Second moments of drawn prompts against their definition."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from iclutils.randomness import stream
from iclutils.regression.moments import fresh_moments, moments, orthonormal_error
from iclutils.regression.samplers import (
    Context,
    Prompts,
    draw_tasks,
    sample,
    sample_naive,
    sample_orthonormal,
)


@pytest.mark.parametrize("weights", [None, torch.tensor([1.0, 2.0, 1.0, 4.0])])
def test_moments_are_those_of_samples(weights):
    """Within 5 standard errors: 6e-7 false alarms an entry; 1e-12 is for exact equality."""
    n = 80000
    context = Context(d=3, ell=4, rho=0.3)
    tasks = draw_tasks(4, 3, stream(1, "tasks"))
    counts = torch.ones(4) if weights is None else weights
    chosen = torch.repeat_interleave(tasks, counts.long(), 0)
    prompts = sample_naive(chosen, context, stream(1, "naive"), n=n)
    w = chosen[torch.arange(n) % len(chosen)]
    exact = moments(tasks, context, weights)
    for left, expected in ((prompts.v, exact.second), (w, exact.cross)):
        samples = left[:, :, None] * prompts.v[:, None, :]
        se = samples.std(0) / n**0.5
        assert bool(((samples.mean(0) - expected).abs() <= 5 * se + 1e-12).all())


@pytest.mark.parametrize("normalised", [False, True])
def test_fresh_moments_are_the_average_over_many_tasks(normalised):
    k = 200000
    context = Context(d=4, ell=6, rho=0.2)
    tasks = draw_tasks(k, 4, stream(2, "tasks"), normalised=normalised)
    many = moments(tasks, context)
    fresh = fresh_moments(context, normalised=normalised)
    # entries of S have standard deviations below 8 (fourth moments of w), so 5 standard errors
    # are below 0.1
    assert float((many.second - fresh.second).abs().max()) < 0.1
    assert float((many.cross - fresh.cross).abs().max()) < 0.1
    assert abs(many.power - fresh.power) < 0.1


@pytest.mark.parametrize("size", [0.0, 0.3, 1.0])
def test_test_error_is_the_average_over_test_prompts(size):
    """Within 5 standard errors: a false alarm of 6e-7."""
    n = 100000
    context = Context(d=4, ell=6, rho=0.2)
    gamma = size * torch.randn(4, 5, dtype=torch.float64, generator=stream(0, "gamma"))
    prompts = sample(draw_tasks(n, 4, stream(4, "tasks")), context, stream(4, "prompts"))
    loss = (prompts.y - ((prompts.x @ gamma) * prompts.v).sum(1)).square()
    exact = fresh_moments(context).error(gamma, 0.2)
    assert abs(float(loss.mean()) - exact) < 5 * float(loss.std()) / n**0.5


@settings(max_examples=20, deadline=None)
@given(d=st.integers(1, 6), ell=st.integers(1, 9), rho=st.floats(0, 2), k=st.integers(1, 7))
def test_second_moments_are_positive(d, ell, rho, k):
    """The least eigenvalue, 0 at ρ = 0 and few tasks, has rounding errors far below 1e-9 of ‖S‖."""
    second = moments(draw_tasks(k, d, stream(0, "tasks", k)), Context(d=d, ell=ell, rho=rho)).second
    assert float(torch.linalg.eigvalsh(second).min()) > -1e-9
    assert torch.allclose(second, second.T)


def test_bad_input_is_refused():
    tasks = torch.ones(2, 3, dtype=torch.float64)
    context = Context(d=3, ell=2, rho=0.1)
    with pytest.raises(ValueError, match="d must be at least 1"):
        Context(d=0, ell=2, rho=0.1)
    with pytest.raises(ValueError, match="ell must be at least 1"):
        Context(d=3, ell=0, rho=0.1)
    with pytest.raises(ValueError, match="rho must be finite"):
        Context(d=3, ell=2, rho=-0.1)
    with pytest.raises(ValueError, match="n·d is too large"):
        sample(tasks, context, stream(0, "x"), n=10**9)
    for draw in (sample, sample_naive):
        with pytest.raises(ValueError, match="tasks must"):
            draw(1e200 * tasks, context, stream(0, "x"))
    with pytest.raises(ValueError, match=r"shape \(k d\)"):
        sample(tasks[0], context, stream(0, "x"))
    with pytest.raises(ValueError, match=r"shape \(k d\) with d = 4"):
        moments(tasks, Context(d=4, ell=2, rho=0.1))
    with pytest.raises(ValueError, match=r"v must have shape \(n e\) with n = 2, e = 4"):
        Prompts(tasks, tasks, tasks[:, 0])


def test_the_error_on_orthonormal_tokens_is_that_of_drawn_prompts():
    """Whose queries' labels carry noise, ρ more; within 5 standard errors: 6e-7 false alarms."""
    context, n = Context(d=4, ell=9, rho=0.5), 40000
    gamma = torch.randn(4, 5, generator=stream(0, "gamma"), dtype=torch.float64) / 3
    prompts = sample_orthonormal(context, stream(0, "prompts"), n=n)
    losses = (prompts.y - ((prompts.x @ gamma) * prompts.v).sum(1)).square()
    exact = orthonormal_error(gamma, context, n, stream(0, "exact")) + context.rho
    # the other mean has fewer sources of chance, so at most the same standard error
    assert abs(float(losses.mean() - exact)) < 5 * float(losses.std()) * (2 / n) ** 0.5


def test_the_least_error_on_orthonormal_tokens_is_the_posterior_means_at_equal_counts():
    """With one token the posterior mean is linear in v: Γ = I/(1+ρ)/K leaves its error alone."""
    K, rho = 3, 0.25
    context = Context(d=K, ell=1, rho=rho)
    gamma = torch.cat([torch.eye(K).double() / (K * (1 + rho)), torch.zeros(K, 1).double()], 1)
    # the letter shown keeps ρ/(1+ρ) of its variance, the others all
    least = (K - 1 + rho / (1 + rho)) / K
    draws = stream(0, "one token")
    assert float(orthonormal_error(gamma, context, 7, draws)) == pytest.approx(least)
    assert float(orthonormal_error(2 * gamma, context, 7, draws)) > least
    with pytest.raises(ValueError, match="gamma must have shape"):
        orthonormal_error(gamma[:, :K], context, 7, draws)
    with pytest.raises(ValueError, match="n must be"):
        orthonormal_error(gamma, context, 0, draws)
