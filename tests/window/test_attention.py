"""The attention units: weights by hand, the gradient against autograd."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window import attention, covariates, functions, prompts
from iclutils.window.prompts import Prompt

F64 = torch.float64


@pytest.fixture
def prompt() -> Prompt:
    law = covariates.Sphere(5)
    return prompts.draw(functions.ReLU(5, 2.0), law, 11, 0.2, 3, (7,), stream(0, "prompts"))


@pytest.mark.parametrize("unit", attention.UNITS)
def test_closed_form_gradient_equals_autograd(unit: str) -> None:
    """Seven trials, two settings that share their tokens and differ in tasks and noise."""
    generator = stream(0, "fleet")
    x = covariates.sample(covariates.Sphere(5), (7, 11), generator)
    query = covariates.sample(covariates.Sphere(5), (7, 3), generator)
    y = torch.randn(7, 2, 11, generator=generator, dtype=F64)
    target = torch.randn(7, 2, 3, generator=generator, dtype=F64)
    M = torch.randn(7, 2, 5, 5, generator=generator, dtype=F64).requires_grad_()
    one_each = Prompt(x.unsqueeze(1), y, query.unsqueeze(1), target)
    loss = (attention.predict(M, one_each, unit) - target).square().mean(-1).sum()
    (by_autograd,) = torch.autograd.grad(loss, M)
    gradient = attention.gradient(M.detach(), Prompt(x, y, query, target), unit)
    torch.testing.assert_close(gradient, by_autograd)


def test_the_gradient_survives_scores_that_overflow_the_exponential(prompt: Prompt) -> None:
    fleet = Prompt(prompt.x, prompt.y.unsqueeze(1), prompt.query, prompt.target.unsqueeze(1))
    huge = 1e4 * torch.eye(5, dtype=F64).expand(7, 1, 5, 5)
    assert bool(attention.gradient(huge, fleet).isfinite().all())


def test_weights_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=F64)
    gamma = attention.weights(math.log(3) * torch.eye(2, dtype=F64), x, x[:1])
    torch.testing.assert_close(gamma.squeeze(-1), torch.tensor([0.75, 0.25], dtype=F64))
    assert float(attention.effective_number(gamma)) == pytest.approx(1 / (0.75**2 + 0.25**2))
    assert float(attention.half_mass_cap(gamma, x, x[:1])) == pytest.approx(0.0)
    flipped = attention.weights(-math.log(3) * torch.eye(2, dtype=F64), x, x[:1])
    assert float(attention.half_mass_cap(flipped, x, x[:1])) == pytest.approx(math.pi / 2)


def test_a_cap_holds_half_and_no_smaller_one_does() -> None:
    draws = stream(0, "caps")
    x, query = (covariates.sample(covariates.Sphere(4), (40, m), draws) for m in (60, 3))
    gamma = attention.weights(5 * torch.eye(4, dtype=F64), x, query)
    angle = (x @ query.mT).clamp(-1, 1).arccos()
    cap = attention.half_mass_cap(gamma, x, query).unsqueeze(-2)
    held, inside = ((gamma * part).sum(-2) for part in (angle <= cap, angle < cap))
    assert bool((held >= 0.5).all())
    assert bool((inside < 0.5).all())


def test_zero_M_averages_uniformly(prompt: Prompt) -> None:
    answer = attention.predict(torch.zeros(5, 5, dtype=F64), prompt)
    torch.testing.assert_close(answer, prompt.y.mean(-1, keepdim=True).expand(7, 3))


def test_bad_arguments_are_refused(prompt: Prompt) -> None:
    with pytest.raises(ValueError, match="M must be finite"):
        attention.predict(torch.full((5, 5), math.nan, dtype=F64), prompt)
    with pytest.raises(ValueError, match="M must have shape"):
        attention.weights(torch.zeros(5, 4, dtype=F64), prompt.x, prompt.query)
    with pytest.raises(KeyError, match="unit must be one of"):
        attention.predict(torch.zeros(5, 5, dtype=F64), prompt, "relu")
    with pytest.raises(ValueError, match="gamma must have shape"):
        attention.half_mass_cap(torch.ones(3, 2), prompt.x, prompt.query)


def test_scaling_leaves_the_linear_weights_alone():
    draws = stream(0, "relative")
    M = torch.randn(3, 3, generator=draws, dtype=torch.float64)
    x = torch.randn(4, 7, 3, generator=draws, dtype=torch.float64)
    query = torch.randn(4, 2, 3, generator=draws, dtype=torch.float64)
    once = attention.relative_scores(M, x, query)
    # rounding of sums of seven numbers
    torch.testing.assert_close(attention.relative_scores(5 * M, x, query), once)
    torch.testing.assert_close(once.abs().sum(-2), torch.ones(4, 2, dtype=torch.float64))
    scores = x @ M @ query.mT
    assert bool((scores.sign() == once.sign()).all())


def test_mean_errors_are_those_of_one_unit_at_a_time():
    draws = stream(0, "mean errors")
    size = (2, 4)
    batch = prompts.draw(functions.ReLU(3, 1.0), covariates.Sphere(3), 5, 0.2, 2, size, draws)
    M = torch.randn(2, 3, 3, 3, generator=draws, dtype=F64)
    found = attention.mean_errors(M, batch)
    assert found.shape == (2, 3)
    answers = attention.predict(M[1, 2], batch)
    one = (answers - batch.target).square()[1].mean()
    # sums of eight numbers in another order
    torch.testing.assert_close(found[1, 2], one)


def test_a_gradient_in_parts_is_that_of_all_trials_at_once(monkeypatch) -> None:
    draws = stream(0, "parts")
    x, y, query, target, M = (
        torch.randn(*size, generator=draws, dtype=F64)
        for size in ((7, 11, 5), (7, 2, 11), (7, 3, 5), (7, 2, 3), (7, 2, 5, 5))
    )
    whole = attention.gradient(M, Prompt(x, y, query, target))
    monkeypatch.setattr(attention, "CACHED", 2 * 2 * 3 * 11)  # two trials at once
    torch.testing.assert_close(attention.gradient(M, Prompt(x, y, query, target)), whole)
