"""Kriging: by hand, as least squares over sampled tasks, and the window against chapter 1's."""

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.transformer.samplers import Kinks, draw_kinks
from iclutils.transformer.theory.kriging import (
    best_softmax,
    expected_error,
    kriging_weights,
    softmax_weights,
)
from iclutils.window.function_classes import ReLU
from iclutils.window.theory import best_window, population_loss

KINKS = Kinks(2, 4, 0.5, (2.0,))


def places(count=1, n=4, d=2):
    return draw_kinks(Kinks(d, n, 0.5, (2.0,)), 1, (count,), stream(0, "places"))


def test_one_example_by_hand():
    x = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    query = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    k, across = KINKS.covariance(torch.tensor([1.0, 0.0]))
    found = kriging_weights(KINKS.covariance, x, query, 0.5)
    # rounding
    assert float(found) == pytest.approx(float(across / (k + 0.25)), rel=1e-12)


@pytest.mark.parametrize("d", [2, 5])
def test_the_weights_are_the_least_squares_of_many_tasks(d):
    prompt = places(d=d)
    tasks = ReLU(d, 2.0).sample((200_000,), stream(0, "tasks"))
    both = torch.cat([prompt.x[0], prompt.query[0]]).expand(200_000, 5, d)
    f = ReLU(d, 2.0).evaluate(tasks, both)
    y = f[:, :4] + 0.5 * normal(200_000, 4, generator=stream(0, "noise"))
    fitted = torch.linalg.lstsq(y, f[:, 4:]).solution[:, 0]
    covariance = Kinks(d, 4, 0.5, (2.0,)).covariance
    found = kriging_weights(covariance, prompt.x, prompt.query, 0.5)[0, 0]
    # a coefficient's standard error is about 1/√200 000 = 0.002: five of them
    assert torch.allclose(found, fitted, atol=0.012)


def test_the_weights_are_where_the_error_has_no_slope():
    prompt = places(10)
    w = kriging_weights(KINKS.covariance, prompt.x, prompt.query, 0.5).requires_grad_()
    error = expected_error(KINKS.covariance, w, prompt.x, prompt.query, 0.5)
    (slope,) = torch.autograd.grad(error.sum(), w)
    # rounding, of a solution of a system with condition below 1e3
    assert float(slope.abs().max()) < 1e-11


def test_the_expected_error_is_that_of_sampled_tasks():
    prompt = draw_kinks(Kinks(2, 6, 0.5, (1.0, 3.0)), 1, (20_000,), stream(0, "errors"))
    covariance = Kinks(2, 6, 0.5, (1.0, 3.0)).covariance
    J = softmax_weights(3.0, prompt.x, prompt.query)
    off = (J @ prompt.y.unsqueeze(-1)).squeeze(-1) - prompt.target
    expected = expected_error(covariance, J, prompt.x, prompt.query, 0.5)
    difference = off.square() - expected
    # four standard errors
    assert abs(float(difference.mean())) < 4 * float(difference.std()) / 20_000**0.5


def test_the_best_window_is_that_of_chapter_1():
    prompt = draw_kinks(Kinks(2, 20, 0.5, (2.0,)), 1, (800,), stream(0, "windows"))
    found = best_softmax(KINKS.covariance, prompt.x, prompt.query, 0.5)
    grid = best_window.grid(100.0, 31)
    degrees = population_loss.even_degrees(24)
    exact = population_loss.sampled(
        2, 20, stream(0, "chapter 1"), contexts=800, w=grid, degrees=degrees
    )
    best = exact.best_window(ReLU(2, 2.0), 0.5)
    # both from 800 places, those of chapter 1 with their mirror images: five standard errors
    assert abs(found.w - best.w) < 5 * 3**0.5 * best.w_se
    assert abs(found.error - best.loss) < 5 * 3**0.5 * best.loss_se


def test_bad_input_is_refused():
    prompt = places(3)
    with pytest.raises(ValueError, match="sigma must be finite"):
        kriging_weights(KINKS.covariance, prompt.x, prompt.query, -1.0)
    with pytest.raises(ValueError, match="query must have shape"):
        kriging_weights(KINKS.covariance, prompt.x, prompt.query[..., 1:], 1.0)
    windows = torch.tensor([0.0, 0.1], dtype=torch.float64)
    with pytest.raises(ValueError, match="windows must reach beyond"):
        best_softmax(KINKS.covariance, prompt.x, prompt.query, 0.01, windows)
