"""The heads: what they answer, and their gradients."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import attention, covariates, function_classes, prompts
from iclutils.window.prompts import Prompt

F64 = torch.float64


@pytest.fixture
def prompt() -> Prompt:
    law = covariates.Sphere(5)
    return prompts.draw(function_classes.ReLU(5, 2.0), law, 11, 0.2, 3, (7,), stream(0, "prompts"))


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


@pytest.mark.parametrize("scale", [1.0, 40.0, 400.0])
def test_the_largest_score_matters_to_nothing_but_the_range(monkeypatch, prompt, scale) -> None:
    """Left in where scores are bounded: the same gradient, to the rounding of the exponents."""
    fleet = Prompt(prompt.x, prompt.y.unsqueeze(1), prompt.query, prompt.target.unsqueeze(1))
    M = scale * torch.eye(5, dtype=F64).expand(7, 1, 5, 5)
    monkeypatch.setattr(attention, "SAFE", math.inf)
    left_in = attention.gradient(M, fleet)
    monkeypatch.setattr(attention, "SAFE", 0.0)
    taken_out = attention.gradient(M, fleet)
    # an exponent up to 400 / ln 2 is rounded by 6e-14, its power of two by 4e-14 of itself
    torch.testing.assert_close(left_in, taken_out, rtol=1e-11, atol=1e-13)


def test_zero_M_averages_uniformly(prompt: Prompt) -> None:
    answer = attention.predict(torch.zeros(5, 5, dtype=F64), prompt)
    torch.testing.assert_close(answer, prompt.y.mean(-1, keepdim=True).expand(7, 3))


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


def test_a_gradient_in_parts_is_that_of_all_trials_at_once(monkeypatch) -> None:
    draws = stream(0, "parts")
    x, y, query, target, M = (
        torch.randn(*size, generator=draws, dtype=F64)
        for size in ((7, 11, 5), (7, 2, 11), (7, 3, 5), (7, 2, 3), (7, 2, 5, 5))
    )
    whole = attention.gradient(M, Prompt(x, y, query, target))
    monkeypatch.setattr(attention, "CACHED", 2 * 2 * 3 * 11)  # two trials at once
    torch.testing.assert_close(attention.gradient(M, Prompt(x, y, query, target)), whole)
