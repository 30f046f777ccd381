"""Tasks and prompts of the reduced model, by three samplers."""

import pytest
import torch
from scipy.stats import ks_2samp

from iclutils.randomness import stream
from iclutils.regression.samplers import (
    Context,
    Prompts,
    draw_tasks,
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
    context = Context(d=3, ell=ell, rho=rho)
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
    found = _parts(
        sample_orthonormal(Context(d=K, ell=ell, rho=rho), stream(0, "orthonormal"), n=n)
    )
    both = torch.stack([found, by_token])
    for values in (both, both[..., :, None] * both[..., None, :]):
        gap = values.mean(1).diff(dim=0)[0]
        se = (values.var(1).sum(0) / n).sqrt()
        assert bool((gap.abs() <= 5 * se + 1e-12).all())


def test_tasks_are_balanced_and_streams_reproduce():
    tasks = draw_tasks(5, 3, stream(0, "tasks"))
    context = Context(d=3, ell=4, rho=0.1)
    first = sample(tasks, context, stream(0, "prompts"), n=12)
    again = sample(tasks, context, stream(0, "prompts"), n=12)
    other = sample(tasks, context, stream(1, "prompts"), n=12)
    assert torch.equal(first.v, again.v)
    assert not torch.equal(first.v, other.v)
    norms = draw_tasks(5, 3, stream(0, "t"), normalised=True).norm(dim=1)
    assert torch.allclose(norms, torch.tensor(3.0, dtype=torch.float64).sqrt())
