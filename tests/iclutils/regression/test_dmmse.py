"""dMMSE from a Wishart matrix against enumeration over tokens."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression.dmmse import best_average, dmmse_errors, mean_errors
from iclutils.regression.samplers import Context, draw_tasks


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize(("d", "ell"), [(2, 4), (3, 3)])
def test_dmmse_is_the_posterior_mean(d, ell, axis):
    """k = 3 tasks, the residuals of each; within 5 standard errors, a false alarm of 6e-7.

    The tasks lie anywhere, or on one axis: the law of the tokens knows no axis.
    """
    rho, count = 0.3, 20000
    tasks = draw_tasks(3, d, stream(0, "tasks"))
    if axis is not None:
        tasks = torch.zeros(3, d, dtype=torch.float64)
        tasks[:, axis] = torch.tensor([-1.5, 0.0, 1.5])
    w = draw_tasks(count, d, stream(0, "fresh"))
    x = torch.randn(count, ell, d, dtype=torch.float64, generator=stream(0, "x")) / math.sqrt(d)
    noise = torch.randn(count, ell, dtype=torch.float64, generator=stream(0, "noise"))
    y = torch.einsum("nld,nd->nl", x, w) + math.sqrt(rho) * noise
    away = (y[:, None] - torch.einsum("nld,kd->nkl", x, tasks)).square().sum(2)
    posterior = torch.softmax(-away / (2 * rho), 1)
    plain = rho + (posterior @ tasks - w).square().sum(1) / d
    fast = dmmse_errors(tasks, ell, rho, stream(0, "fast"), count, fresh=True)
    se = math.sqrt((float(plain.var()) + float(fast.var())) / count)
    assert abs(float(plain.mean() - fast.mean())) < 5 * se
    own = dmmse_errors(tasks, ell, rho, stream(0, "own"), count, fresh=False)
    assert float(own.mean()) < float(fast.mean())


def test_dmmse_refuses_bad_input():
    tasks = torch.ones(2, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="ell must be at least 3"):
        dmmse_errors(tasks, 2, 0.1, stream(0, "x"), 4, fresh=True)
    with pytest.raises(ValueError, match="rho must be finite"):
        dmmse_errors(tasks, 4, 0.0, stream(0, "x"), 4, fresh=True)


@pytest.mark.parametrize("fresh", [True, False])
def test_the_average_with_softness_1_is_dmmse(fresh):
    context = Context(d=3, ell=9, rho=0.1)
    found = best_average(4, context, 0, 5, 30, fresh=fresh, softness=[1.0])
    expected = mean_errors(4, context, 0, 5, 30, fresh=fresh)
    torch.testing.assert_close(found.errors, expected, rtol=1e-9, atol=0)  # two ways to sum
    assert (found.softness, found.constant) == (1.0, 1.0)


def test_softer_weights_are_those_of_more_noise():
    """Against the definition, from tokens; within 5 standard errors, a false alarm of 6e-7."""
    d, ell, rho, count, soft = 2, 6, 0.05, 40_000, 20.0
    tasks = draw_tasks(3, d, stream(0, "rival", 3, 0))
    w = draw_tasks(count, d, stream(0, "fresh"))
    x = torch.randn(count, ell, d, dtype=torch.float64, generator=stream(0, "x")) / math.sqrt(d)
    noise = torch.randn(count, ell, dtype=torch.float64, generator=stream(0, "noise"))
    y = torch.einsum("nld,nd->nl", x, w) + math.sqrt(rho) * noise
    away = (y[:, None] - torch.einsum("nld,kd->nkl", x, tasks)).square().sum(2)
    guess = torch.softmax(-away / (2 * rho * soft), 1) @ tasks
    plain = rho + (guess - w).square().sum(1) / d
    [error] = best_average(
        3, Context(d=d, ell=ell, rho=rho), 0, 1, count, fresh=True, softness=[soft]
    ).errors
    assert abs(float(error - plain.mean())) < 5 * math.sqrt(2 * float(plain.var()) / count)


def test_the_best_average_is_the_best_of_the_softness_and_a_constant_helps():
    context = Context(d=3, ell=27, rho=0.01)
    ladder = [1.0, 10.0, 100.0, 1000.0]
    one = [best_average(30, context, 0, 4, 100, fresh=True, softness=[s]).errors for s in ladder]
    best = best_average(30, context, 0, 4, 100, fresh=True, softness=ladder)
    at = min(range(4), key=lambda i: float(one[i].mean()))
    assert best.softness == ladder[at] > 1
    assert torch.equal(best.errors, one[at])
    scaled = best_average(30, context, 0, 4, 100, fresh=True, softness=ladder, scaled=True)
    assert float(scaled.errors.mean()) < float(best.errors.mean())


def test_a_very_soft_average_of_a_long_list_times_a_constant_is_the_mean_of_input_times_output():
    """Its error is ρ + q/(1 + q), q = (1 + ρ + 1/d)/α; 0.06: what list and softness leave."""
    d, alpha, rho = 2, 10, 0.1
    found = best_average(
        20_000,
        Context(d=d, ell=alpha * d, rho=rho),
        0,
        2,
        4000,
        fresh=True,
        softness=[2000.0],
        scaled=True,
    )
    q = (1 + rho + 1 / d) / alpha
    assert float(found.errors.mean()) == pytest.approx(rho + q / (1 + q), rel=0.06)
    assert found.constant > 1


@pytest.mark.parametrize("softness", [[], [0.0], [1.0, -1.0], [math.nan]])
def test_an_average_refuses_what_is_no_softness(softness):
    with pytest.raises(ValueError, match="softness"):
        best_average(3, Context(d=2, ell=6, rho=0.1), 0, 2, 5, fresh=True, softness=softness)
