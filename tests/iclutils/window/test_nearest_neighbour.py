"""Labels by Voronoi cell."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import estimate
from iclutils.window import attention, covariates
from iclutils.window.function_classes import Cosine
from iclutils.window.theory import nearest_neighbour

F64 = torch.float64


def test_the_loss_is_that_of_drawn_labels() -> None:
    d, n, w, sigma = 3, 6, 5.0, 0.4
    loss = nearest_neighbour.sampled(
        d, n, torch.tensor([w], dtype=F64), stream(0, "cells"), contexts=500
    )
    draws = stream(1, "cells")
    tokens = covariates.sample(covariates.Sphere(d), (40_000, n + 1), draws)
    x, query = tokens[:, :n], tokens[:, n:]
    labels = torch.randn(40_000, n, generator=draws, dtype=F64)
    noise = sigma * torch.randn(40_000, n, generator=draws, dtype=F64)
    gamma = attention.weights(w * torch.eye(d, dtype=F64), x, query)[..., 0]
    nearest = (x @ query.mT)[..., 0].argmax(1, keepdim=True)
    truth = labels.gather(1, nearest)[:, 0]
    squares = ((gamma * (labels + noise)).sum(1) - truth).square()
    by_labels = estimate(squares)
    by_theory = estimate(loss.excess(sigma)[0])
    gap = by_theory.value + sigma**2 - by_labels.value
    assert abs(gap) < 4 * math.hypot(by_theory.se, by_labels.se)


def test_the_break_even_noise_tends_to_its_formula() -> None:
    w = torch.tensor([1000.0], dtype=F64)
    loss = nearest_neighbour.sampled(3, 10, w, stream(0, "even"), contexts=4000)
    found = estimate(loss.break_even())
    # the next order in 1/w: the excess is c/w · [2v(ln 2 − 1/2) − σ²] to first order
    assert abs(found.value - (2 * math.log(2) - 1)) < 4 * found.se + 0.02
    even = float(loss.break_even()[0])
    # rounding of numbers of order 1
    assert abs(float(loss.excess(math.sqrt(even))[0, 0])) < 1e-12


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda w, g: nearest_neighbour.sampled(1, 5, w, g), "d"),
        (lambda w, g: nearest_neighbour.sampled(3, 1, w, g), "n"),
        (lambda w, g: nearest_neighbour.sampled(3, 5, -w, g), "w"),
        (lambda w, g: nearest_neighbour.sampled(3, 5, w, g, batches=0), "batches"),
    ],
)
def test_bad_input_is_refused(call, word) -> None:
    with pytest.raises(ValueError, match=word):
        call(torch.tensor([1.0], dtype=F64), stream(0, "bad"))


def test_the_nearest_of_many_tokens_is_the_query_itself_and_of_one_any_point() -> None:
    waves = Cosine(3, 2.0)
    distance, alike = nearest_neighbour.nearest(waves, 1, 20_000, stream(0, "one"))
    # two points of the sphere in 3 dimensions: t is uniform on [−1, 1], E|x − q| = 4/3
    assert abs(float(distance.mean()) - 4 / 3) < 4 * float(distance.std()) / 20_000**0.5
    t = torch.linspace(-1, 1, 2001, dtype=F64)
    expected = torch.trapezoid(waves.covariance(t), t) / 2 / waves.covariance(torch.ones(1))
    assert abs(float(alike.mean() - expected)) < 4 * float(alike.std()) / 20_000**0.5
    distance, alike = nearest_neighbour.nearest(waves, 20_000, 10, stream(0, "many"))
    # (4/n)^½ = 0.014 within which one token of n is expected
    assert float(distance.max()) < 0.05
    assert float(alike.min()) > 0.99
    with pytest.raises(ValueError, match="n must be at least 1; got 0"):
        nearest_neighbour.nearest(waves, 0, 10, stream(0, "none"))
