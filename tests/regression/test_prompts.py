"""The exact sampler against token-by-token sampling, and the exact moments against both."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from iclutils.ground.randomness import stream
from iclutils.regression.prompts import (
    Context,
    Prompts,
    draw_tasks,
    fresh_moments,
    moments,
    sample,
    sample_naive,
    sample_orthonormal,
)
from iclutils.stages.prompts import draw_prompts

COVARIANCE = torch.tensor([[1.5, 0.4, 0.0], [0.4, 0.8, -0.3], [0.0, -0.3, 0.5]]).double()


def _parts(prompts):
    return torch.cat([prompts.v, prompts.x, prompts.y[:, None]], 1)


@pytest.mark.parametrize("ell", [1, 2, 7])
@pytest.mark.parametrize("rho", [0.0, 0.5])
@pytest.mark.parametrize("covariance", [None, COVARIANCE], ids=["isotropic", "covariance"])
def test_fast_and_naive_sampling_have_the_same_law(ell, rho, covariance):
    """Means within 5 standard errors: 6e-7 false alarms each; 1e-12 is for exact equality."""
    tasks = draw_tasks(1, 3, stream(3, "one task"))
    n = 20000
    context = Context(3, ell, rho)
    fast = _parts(sample(tasks, context, stream(0, "fast"), n=n, covariance=covariance))
    plain = _parts(sample_naive(tasks, context, stream(0, "naive"), n=n, covariance=covariance))
    draws = stream(0, "directions")
    directions = torch.randn(12, fast.shape[1], dtype=torch.float64, generator=draws)
    for direction in directions:  # 1e-5 each: a false alarm of 7e-4 over all settings
        assert ks_2samp(fast @ direction, plain @ direction).pvalue > 1e-5
    both = torch.stack([fast, plain])
    second = both[:, :, :, None] * both[:, :, None, :]
    gap = second.mean(1).diff(dim=0)[0]
    se = (second.var(1).sum(0) / n).sqrt()
    assert bool((gap.abs() <= 5 * se + 1e-12).all())


@pytest.mark.parametrize("weights", [None, torch.tensor([1.0, 2.0, 1.0, 4.0])])
def test_moments_are_those_of_samples(weights):
    """Within 5 standard errors: 6e-7 false alarms an entry; 1e-12 is for exact equality."""
    n = 80000
    context = Context(3, 4, 0.3)
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
    context = Context(4, 6, 0.2)
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
    context = Context(4, 6, 0.2)
    gamma = size * torch.randn(4, 5, dtype=torch.float64, generator=stream(0, "gamma"))
    prompts = sample(draw_tasks(n, 4, stream(4, "tasks")), context, stream(4, "prompts"))
    loss = (prompts.y - ((prompts.x @ gamma) * prompts.v).sum(1)).square()
    exact = fresh_moments(context).error(gamma, 0.2)
    assert abs(float(loss.mean()) - exact) < 5 * float(loss.std()) / n**0.5


def test_prompts_of_orthonormal_tokens_are_those_of_chapter_6():
    """The means and second moments of (v, x, y); within 5 standard errors, 6e-7 an entry."""
    K, ell, rho, n = 3, 5, 0.4, 40000
    even, frame = torch.full((K,), 1 / K).double(), torch.eye(K).double()
    plain = draw_prompts(even, frame, ell, 1, n, stream(0, "plain"), sigma=rho**0.5)
    tokens, labels, query, answer = (part[0] for part in plain)
    sums = K / ell * torch.einsum("nl,nlk->nk", labels, tokens)
    v = torch.cat([sums, labels.square().mean(1, keepdim=True)], 1)
    noise = torch.randn(n, generator=stream(0, "noise of the query"), dtype=torch.float64)
    by_token = _parts(Prompts(query, v, answer + rho**0.5 * noise))
    found = _parts(sample_orthonormal(Context(K, ell, rho), stream(0, "orthonormal"), n=n))
    both = torch.stack([found, by_token])
    for values in (both, both[..., :, None] * both[..., None, :]):
        gap = values.mean(1).diff(dim=0)[0]
        se = (values.var(1).sum(0) / n).sqrt()
        assert bool((gap.abs() <= 5 * se + 1e-12).all())


def test_tasks_are_balanced_and_streams_reproduce():
    tasks = draw_tasks(5, 3, stream(0, "tasks"))
    context = Context(3, 4, 0.1)
    first = sample(tasks, context, stream(0, "prompts"), n=12)
    again = sample(tasks, context, stream(0, "prompts"), n=12)
    other = sample(tasks, context, stream(1, "prompts"), n=12)
    assert torch.equal(first.v, again.v)
    assert not torch.equal(first.v, other.v)
    norms = draw_tasks(5, 3, stream(0, "t"), normalised=True).norm(dim=1)
    assert torch.allclose(norms, torch.tensor(3.0, dtype=torch.float64).sqrt())


@settings(max_examples=20, deadline=None)
@given(d=st.integers(1, 6), ell=st.integers(1, 9), rho=st.floats(0, 2), k=st.integers(1, 7))
def test_second_moments_are_positive(d, ell, rho, k):
    """The least eigenvalue, 0 at ρ = 0 and few tasks, has rounding errors far below 1e-9 of ‖S‖."""
    second = moments(draw_tasks(k, d, stream(0, "tasks", k)), Context(d, ell, rho)).second
    assert float(torch.linalg.eigvalsh(second).min()) > -1e-9
    assert torch.allclose(second, second.T)


def test_bad_input_is_refused():
    tasks = torch.ones(2, 3, dtype=torch.float64)
    context = Context(3, 2, 0.1)
    with pytest.raises(ValueError, match="d must be at least 1"):
        Context(0, 2, 0.1)
    with pytest.raises(ValueError, match="ell must be at least 1"):
        Context(3, 0, 0.1)
    with pytest.raises(ValueError, match="rho must be finite"):
        Context(3, 2, -0.1)
    with pytest.raises(ValueError, match="n·d is too large"):
        sample(tasks, context, stream(0, "x"), n=10**9)
    for draw in (sample, sample_naive):
        with pytest.raises(ValueError, match="tasks must"):
            draw(1e200 * tasks, context, stream(0, "x"))
    with pytest.raises(ValueError, match=r"shape \(k d\)"):
        sample(tasks[0], context, stream(0, "x"))
    with pytest.raises(ValueError, match=r"shape \(k d\) with d = 4"):
        moments(tasks, Context(4, 2, 0.1))
    with pytest.raises(ValueError, match=r"v must have shape \(n e\) with n = 2, e = 4"):
        Prompts(tasks, tasks, tasks[:, 0])
