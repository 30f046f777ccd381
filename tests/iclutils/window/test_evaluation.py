"""Test errors of heads, their slope in the value weight, what they attend to."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import estimate
from iclutils.window import attention, covariates, evaluation, function_classes, prompts
from iclutils.window.prompts import Prompt
from iclutils.window.theory import population_loss
from iclutils.window.theory.linear_attention import LinearUnit

F64 = torch.float64


@pytest.fixture
def prompt() -> Prompt:
    law = covariates.Sphere(5)
    return prompts.draw(function_classes.ReLU(5, 2.0), law, 11, 0.2, 3, (7,), stream(0, "prompts"))


def test_weights_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=F64)
    gamma = attention.weights(math.log(3) * torch.eye(2, dtype=F64), x, x[:1])
    torch.testing.assert_close(gamma.squeeze(-1), torch.tensor([0.75, 0.25], dtype=F64))
    assert float(evaluation.effective_number(gamma)) == pytest.approx(1 / (0.75**2 + 0.25**2))
    assert float(evaluation.half_mass_cap(gamma, x, x[:1])) == pytest.approx(0.0)
    flipped = attention.weights(-math.log(3) * torch.eye(2, dtype=F64), x, x[:1])
    assert float(evaluation.half_mass_cap(flipped, x, x[:1])) == pytest.approx(math.pi / 2)


def test_a_cap_holds_half_and_no_smaller_one_does() -> None:
    draws = stream(0, "caps")
    x, query = (covariates.sample(covariates.Sphere(4), (40, m), draws) for m in (60, 3))
    gamma = attention.weights(5 * torch.eye(4, dtype=F64), x, query)
    angle = (x @ query.mT).clamp(-1, 1).arccos()
    cap = evaluation.half_mass_cap(gamma, x, query).unsqueeze(-2)
    held, inside = ((gamma * part).sum(-2) for part in (angle <= cap, angle < cap))
    assert bool((held >= 0.5).all())
    assert bool((inside < 0.5).all())


def test_bad_arguments_are_refused(prompt: Prompt) -> None:
    with pytest.raises(ValueError, match="M must be finite"):
        attention.predict(torch.full((5, 5), math.nan, dtype=F64), prompt)
    with pytest.raises(ValueError, match="M must have shape"):
        attention.weights(torch.zeros(5, 4, dtype=F64), prompt.x, prompt.query)
    with pytest.raises(KeyError, match="unit must be one of"):
        attention.predict(torch.zeros(5, 5, dtype=F64), prompt, "relu")
    with pytest.raises(ValueError, match="gamma must have shape"):
        evaluation.half_mass_cap(torch.ones(3, 2), prompt.x, prompt.query)


def test_mean_errors_are_those_of_one_unit_at_a_time():
    draws = stream(0, "mean errors")
    size = (2, 4)
    batch = prompts.draw(
        function_classes.ReLU(3, 1.0), covariates.Sphere(3), 5, 0.2, 2, size, draws
    )
    M = torch.randn(2, 3, 3, 3, generator=draws, dtype=F64)
    found = evaluation.mean_errors(M, batch)
    assert found.shape == (2, 3)
    answers = attention.predict(M[1, 2], batch)
    one = (answers - batch.target).square()[1].mean()
    # sums of eight numbers in another order
    torch.testing.assert_close(found[1, 2], one)


def test_a_fitted_matrix_has_the_least_error_and_is_the_theorys_in_the_limit(prompt: Prompt):
    """By the gradient, which is zero there, and by the minimiser of the population loss."""
    tasks, law = function_classes.Affine(3), covariates.Sphere(3)
    drawn = prompts.draw(tasks, law, 20, 0.3, 8, (20_000,), stream(0, "fit"))
    M = evaluation.fit_linear_matrix(drawn)
    errors = (attention.predict(M, drawn, "linear") - drawn.target).square().mean()
    for move in torch.randn(5, 3, 3, generator=stream(0, "moves"), dtype=F64):
        moved = attention.predict(M + 1e-3 * move, drawn, "linear") - drawn.target
        assert float(moved.square().mean()) > float(errors)
    best = LinearUnit.of(tasks).minimiser(20, 0.3) * torch.eye(3, dtype=F64)
    # a tenth of the entries, some four standard errors of 20 000 prompts
    torch.testing.assert_close(M, best, rtol=0, atol=0.1 * float(best[0, 0]))
    for size, queries in ((2, 5), (8, 1)):  # too few directions of tokens, too few queries
        few = prompts.draw(tasks, law, 20, 0.3, queries, (size,), stream(0, "few"))
        with pytest.raises(ValueError, match="3 prompts and 9 queries to fit 9 entries"):
            evaluation.fit_linear_matrix(few)
    enough = prompts.draw(tasks, law, 20, 0.3, 3, (3,), stream(0, "enough"))
    answers = attention.predict(evaluation.fit_linear_matrix(enough), enough, "linear")
    torch.testing.assert_close(answers, enough.target)  # as many entries as answers: exact
    two_axes = Prompt(*(part[None] for part in (prompt.x, prompt.y, prompt.query, prompt.target)))
    with pytest.raises(ValueError, match=r"prompt\.x must have shape"):
        evaluation.fit_linear_matrix(two_axes)


def test_sampled_errors_are_those_of_drawn_prompts() -> None:
    """Every chunk is a stream of its own."""
    tasks, law, M = function_classes.Affine(3), covariates.Sphere(3), torch.eye(3, dtype=F64)
    found = evaluation.sampled_errors(M, tasks, law, 9, 0.2, 0, role="test", size=40, chunks=2)
    for chunk in (0, 1):
        drawn = prompts.draw(tasks, law, 9, 0.2, 1, (40,), stream(0, "test", "affine", 3, 9, chunk))
        errors = (attention.predict(M, drawn, "linear") - drawn.target).square().squeeze(-1)
        torch.testing.assert_close(found[40 * chunk : 40 * chunk + 40], errors)
    units = torch.stack([2 * M, M])
    both = evaluation.sampled_errors(units, tasks, law, 9, 0.2, 0, role="test", size=40, chunks=2)
    torch.testing.assert_close(both[1], found)
    with pytest.raises(ValueError, match="chunks"):
        evaluation.sampled_errors(M, tasks, law, 9, 0.2, 0, role="test", chunks=0)


def test_tokens_with_a_constant_are_answered_with_it() -> None:
    tasks, law, M = function_classes.ReLU(3), covariates.Sphere(3), torch.eye(4, dtype=F64)
    how = {"role": "test", "size": 40, "queries": 2, "constant": True}
    errors = evaluation.sampled_errors(M, tasks, law, 9, 0.2, 0, **how)
    prompt = prompts.draw(tasks, law, 9, 0.2, 2, (40,), stream(0, "test", "relu", 3, 9, 0))
    near = (prompt.x @ prompt.query.mT + 1) * prompt.y.unsqueeze(-1)  # the constant adds 1·1
    torch.testing.assert_close(errors, (near.sum(1) - prompt.target).square().mean(1))


def test_a_drawn_task_costs_on_average_what_the_tokens_say() -> None:
    M, tasks = 3 * torch.eye(3, dtype=F64), function_classes.Cosine(3, 2.0)
    draws, (w, sigma, n) = stream(0, "two routes"), (3.0, 0.5, 6)
    both = evaluation.losses_by_two_routes(M, tasks, covariates.Sphere(3), n, sigma, 20_000, draws)
    exact, exact_se = population_loss.sampled(3, n, stream(0, "exact")).at(tasks, sigma, w)
    for losses in both:
        one = estimate(losses)
        assert abs(one.value - float(exact)) < 5 * math.hypot(one.se, float(exact_se))
    assert both.integrated.std() < both.sampled.std() / 2  # which have the task's chance as well


def test_the_log_of_a_mean_loss_has_the_chance_of_units_and_of_prompts(prompt: Prompt) -> None:
    M = torch.randn(6, 5, 5, generator=stream(0, "units"), dtype=F64)
    found = evaluation.log_mean_loss(M, prompt)
    losses = torch.stack([(attention.predict(one, prompt) - prompt.target).square() for one in M])
    assert found.value == pytest.approx(math.log(float(losses.mean())))
    alike = evaluation.log_mean_loss(M[:1].expand(6, -1, -1), prompt)
    by_prompt = losses[0].mean(-1)
    # the units add nothing: the error is that of the prompts, by the delta method
    relative = float(by_prompt.std() / math.sqrt(len(by_prompt)) / by_prompt.mean())
    assert alike.se == pytest.approx(relative, rel=0.3)


def test_a_value_slope_is_half_the_derivative_of_the_loss() -> None:
    """By automatic differentiation in the weights v of an answer with vᵀx̄."""
    law, M = covariates.Sphere(4), 2 * torch.eye(4, dtype=F64)
    drawn = prompts.draw(function_classes.ReLU(4), law, 9, 0.3, 1, (60,), stream(0, "slopes"))
    gamma = attention.weights(M, drawn.x, drawn.query)
    mean_token = (drawn.x.mT @ gamma).squeeze(-1)
    v = torch.zeros(4, dtype=F64, requires_grad=True)
    answer = attention.predict(M, drawn).squeeze(-1) + mean_token @ v
    loss = (answer - drawn.target.squeeze(-1)).square().mean()
    (slopes,) = torch.autograd.grad(loss, v)
    halves = [
        Prompt(drawn.x[part], drawn.y[part], drawn.query[part], drawn.target[part])
        for part in (slice(0, 30), slice(30, 60))
    ]
    found = evaluation.value_slope(M, halves)
    j = int((slopes / 2 - found.slope.value).abs().argmin())
    assert found.slope.value == pytest.approx(float(slopes[j]) / 2)
    assert found.loss == pytest.approx(loss.item())
    assert found.square == pytest.approx(float(mean_token[:, j].square().mean()))
    scores = (slopes / 2 / ((answer - drawn.target.squeeze(-1))[:, None] * mean_token).std(0)).abs()
    assert int(scores.argmax()) == j
