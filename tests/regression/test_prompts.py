"""The exact sampler against token-by-token sampling, and the exact moments against both."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from iclutils import features
from iclutils.randomness import stream


def _parts(prompts: features.Prompts) -> torch.Tensor:
    return torch.cat([prompts.v, prompts.x, prompts.y[:, None]], 1)


@pytest.mark.parametrize("ell", [1, 2, 7])
@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_fast_and_naive_sampling_have_the_same_law(ell, rho):
    tasks = features.draw_tasks(1, 3, stream(3, "one task"))
    n = 20000
    fast = _parts(features.sample(tasks, ell, rho, stream(0, "fast"), n=n))
    plain = _parts(features.sample_naive(tasks, ell, rho, stream(0, "naive"), n=n))
    directions = torch.randn(12, fast.shape[1], dtype=torch.float64, generator=stream(0, "directions"))
    for direction in directions:  # 1e-5 each: a false alarm of 7e-4 over all settings
        assert ks_2samp(fast @ direction, plain @ direction).pvalue > 1e-5
    both = torch.stack([fast, plain])
    second = both[:, :, :, None] * both[:, :, None, :]
    gap, se = second.mean(1).diff(dim=0)[0], (second.var(1).sum(0) / n).sqrt()
    assert bool((gap.abs() <= 5 * se + 1e-12).all())


@pytest.mark.parametrize("weights", [None, torch.tensor([1.0, 2.0, 1.0, 4.0])])
def test_moments_are_those_of_samples(weights):
    d, ell, rho, n = 3, 4, 0.3, 80000
    tasks = features.draw_tasks(4, d, stream(1, "tasks"))
    counts = torch.ones(4) if weights is None else weights
    chosen = torch.repeat_interleave(tasks, counts.long(), 0)
    prompts = features.sample_naive(chosen, ell, rho, stream(1, "naive"), n=n)
    w = chosen[torch.arange(n) % len(chosen)]
    exact = features.moments(tasks, ell, rho, weights)
    for samples, expected in ((prompts.v[:, :, None] * prompts.v[:, None, :], exact.second),
                              (w[:, :, None] * prompts.v[:, None, :], exact.cross)):
        mean, se = samples.mean(0), samples.std(0) / n**0.5
        assert bool(((mean - expected).abs() <= 5 * se + 1e-12).all())


@pytest.mark.parametrize("normalised", [False, True])
def test_fresh_moments_are_the_average_over_many_tasks(normalised):
    d, ell, rho, k = 4, 6, 0.2, 200000
    tasks = features.draw_tasks(k, d, stream(2, "tasks"), normalised=normalised)
    many, fresh = features.moments(tasks, ell, rho), features.fresh_moments(d, ell, rho, normalised=normalised)
    # entries of S have standard deviations below 8 (fourth moments of w), so 5 standard errors are below 0.1
    assert float((many.second - fresh.second).abs().max()) < 0.1
    assert float((many.cross - fresh.cross).abs().max()) < 0.1
    assert abs(many.power - fresh.power) < 0.1


def test_test_error_is_the_average_over_test_prompts():
    d, ell, rho, n = 4, 6, 0.2, 100000
    gamma = torch.randn(d, d + 1, dtype=torch.float64, generator=stream(0, "gamma"))
    tasks = features.draw_tasks(n, d, stream(4, "tasks"))
    prompts = features.sample(tasks, ell, rho, stream(4, "prompts"))
    loss = (prompts.y - ((prompts.x @ gamma) * prompts.v).sum(1)).square()
    assert abs(float(loss.mean()) - features.fresh_moments(d, ell, rho).error(gamma, rho)) < 5 * float(loss.std()) / n**0.5


def test_tasks_are_balanced_and_streams_reproduce():
    tasks = features.draw_tasks(5, 3, stream(0, "tasks"))
    first = features.sample(tasks, 4, 0.1, stream(0, "prompts"), n=12)
    again = features.sample(tasks, 4, 0.1, stream(0, "prompts"), n=12)
    other = features.sample(tasks, 4, 0.1, stream(1, "prompts"), n=12)
    assert torch.equal(first.v, again.v)
    assert not torch.equal(first.v, other.v)
    assert torch.allclose(features.draw_tasks(5, 3, stream(0, "t"), normalised=True).norm(dim=1),
                          torch.tensor(3.0, dtype=torch.float64).sqrt())


@settings(max_examples=20, deadline=None)
@given(d=st.integers(1, 6), ell=st.integers(1, 9), rho=st.floats(0, 2), k=st.integers(1, 7))
def test_second_moments_are_positive(d, ell, rho, k):
    second = features.moments(features.draw_tasks(k, d, stream(0, "tasks", k)), ell, rho).second
    assert float(torch.linalg.eigvalsh(second).min()) > -1e-9
    assert torch.allclose(second, second.T)


def test_bad_input_is_refused():
    tasks = torch.ones(2, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="ell must be at least 1"):
        features.sample(tasks, 0, 0.1, stream(0, "x"))
    with pytest.raises(ValueError, match="rho must be finite"):
        features.moments(tasks, 2, -0.1)
    with pytest.raises(ValueError, match="n·d is too large"):
        features.sample(tasks, 2, 0.1, stream(0, "x"), n=10**9)
    with pytest.raises(ValueError, match=r"shape \(k d\)"):
        features.sample(tasks[0], 2, 0.1, stream(0, "x"))
