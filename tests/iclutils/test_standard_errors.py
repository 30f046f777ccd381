"""Every standard error that the package gives is the scatter over independent draws.

Each estimate below is drawn anew again and again; the scatter of its values must be what its
standard errors say.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Generator, Tensor

from iclutils import stats
from iclutils.randomness import stream
from iclutils.window import covariates, function_classes, prompts
from iclutils.window.theory import (
    best_window,
    linear_attention,
    low_rank,
    population_loss,
    theorem_4_4,
    value_weight,
)
from iclutils.window.theory.low_rank_problem import Case, Contexts

DRAWS = 80
# of the ratio of scatter and standard error: 4.5 times its own, 1/√(2·80), about 1e-5 a case; the
# second number is what jackknives over 20 batches and small samples add
ROOM = 4.5 / math.sqrt(2 * DRAWS) + 0.05
F64 = torch.float64
RELU = function_classes.ReLU(3)
UNIT = linear_attention.LinearUnit.of(function_classes.Affine(3))
CASE = Case(link="linear", d=3, k=2, n=4, sigma=0.5)
LONG = Case(
    link="linear", d=3, k=2, n=4, sigma=0.5, c_v=3.0
)  # the spurious part of a token is the longer one
E1, E2, E3 = torch.eye(3, dtype=F64)
GRID = best_window.grid(40.0, 20)
X = torch.arange(1, 13, dtype=F64)

Pair = tuple[float, float]


class Estimate(NamedTuple):
    """What is drawn, and how a number with its standard error is read off it."""

    draw: Callable[[Generator], Any]
    read: Callable[[Any], Any]


@functools.cache
def drawn(draw: Callable[[Generator], Any], i: int) -> Any:
    """Make the i-th draw, for all that is read off it."""
    return draw(stream(0, "scatter", draw.__name__, i))


def skewed(draws: Generator) -> Tensor:
    return torch.rand(3, 40, generator=draws, dtype=F64).log().neg()


def scattered(draws: Generator) -> Tensor:
    return 2 * X + torch.randn(12, generator=draws, dtype=F64)


def squared_errors(draws: Generator) -> Tensor:
    prompt = prompts.draw(RELU, covariates.Sphere(3), 8, 0.3, 1, (200,), draws)
    return (prompt.y.mean(-1, keepdim=True) - prompt.target).square().squeeze(-1)


def population(draws: Generator) -> population_loss.PopulationLoss:
    degrees = population_loss.even_degrees(8)
    return population_loss.sampled(3, 20, draws, contexts=160, w=GRID, degrees=degrees)


def moments(draws: Generator) -> value_weight.Windows:
    w = best_window.log_grid(0.3, 100, 24)
    one = [function_classes.Affine(3)]
    return value_weight.windows(one, 30, w, contexts=96, generator=draws, degree=4)[0]


def contexts(draws: Generator, case: Case = CASE) -> Contexts:
    return case.contexts(2000, int(torch.randint(2**31, (), generator=draws)))


def full(draws: Generator) -> low_rank.Minimum:
    return theorem_4_4.full_minimum(CASE, contexts(draws)).minimum


def long(draws: Generator) -> low_rank.Minimum:
    return theorem_4_4.full_minimum(LONG, contexts(draws, LONG)).minimum


def slopes(draws: Generator) -> stats.Means:
    alpha = torch.tensor([2.0, 1.0, 0.5], dtype=F64)
    seed = int(torch.randint(2**31, (), generator=draws))
    return theorem_4_4.term_slopes(1.5, alpha, 2, 300, seed)


def window(loss: population_loss.PopulationLoss) -> Pair:
    best = loss.best_window(RELU, 0.5)
    return best.w, best.w_se


def log_least(best: best_window.Window) -> Pair:
    return math.log(best.loss), best.log_loss_se


def mass(found: low_rank.Minimum) -> Pair:
    return float(found.theta[0]), float(found.se[0])


ESTIMATES = {
    "mean": Estimate(skewed, lambda drawn: stats.estimate(drawn[0])),
    "one of several means": Estimate(skewed, lambda drawn: stats.mean_se(drawn, 1).at(1)),
    "difference": Estimate(
        skewed,
        lambda drawn: stats.difference(stats.estimate(drawn[0]), stats.estimate(2 * drawn[1, :20])),
    ),
    "jackknife": Estimate(
        skewed, lambda drawn: stats.jackknife(lambda one: float(one.mean().log()), drawn[0])
    ),
    "ratio": Estimate(skewed, lambda drawn: stats.ratio(drawn[0], drawn[1])),
    "log ratio": Estimate(skewed, lambda drawn: stats.ratio(drawn[0], drawn[1], log=True)),
    "proportion": Estimate(skewed, lambda drawn: stats.proportion(drawn[:2], drawn[1:])),
    "intercept": Estimate(skewed, lambda drawn: stats.intercept([1.0, 2.0, 4.0], drawn)),
    "cost of a value weight": Estimate(moments, lambda found: found.cost(1.0)),
    "line": Estimate(scattered, lambda y: stats.line(X, y).estimate),
    "line with errors": Estimate(
        scattered, lambda y: stats.line(X, y, torch.ones(12, dtype=F64), dof=9).estimate
    ),
    "sampled loss": Estimate(squared_errors, stats.estimate),
    "loss at a window": Estimate(population, lambda loss: loss.at(RELU, 0.5, 3.0)),
    "best window": Estimate(population, window),
    "move of the window": Estimate(
        population,
        lambda loss: best_window.compare(loss.best_window(RELU, 1.0), loss.best_window(RELU, 0.4)),
    ),
    "log of the least loss, free weight": Estimate(
        moments, lambda found: log_least(found.best(0.5, free=True))
    ),
    "advantage": Estimate(moments, lambda found: value_weight.advantage(UNIT, found, 30, 0.5)),
    "boundary": Estimate(moments, lambda found: value_weight.boundary(UNIT, found, 30)),
    "mass of the linear minimum": Estimate(
        contexts, lambda sample: mass(low_rank.linear_minimum(sample, CASE.family))
    ),
    "relevant minimum": Estimate(
        contexts, lambda sample: mass(theorem_4_4.relevant_minimum(CASE, sample, e=0.5))
    ),
    "cost of spurious mass": Estimate(
        contexts, lambda sample: theorem_4_4.spurious_cost(CASE, sample, [1.0]).at(0)
    ),
    "blocks: c": Estimate(full, lambda found: theorem_4_4.read_blocks(found, 3, 2).c),
    "an entry": Estimate(full, lambda found: theorem_4_4.entry(found, E1, E2)),
    "a spurious entry": Estimate(long, lambda found: theorem_4_4.entry(found, E3, E3)),
    "slope of the lemma": Estimate(slopes, lambda found: found.at(1)),
}


@pytest.mark.parametrize("name", ESTIMATES)
def test_a_standard_error_is_the_scatter(name: str) -> None:
    one = ESTIMATES[name]
    found = [[float(part) for part in one.read(drawn(one.draw, i))][:2] for i in range(DRAWS)]
    values, errors = torch.tensor(found, dtype=F64).T
    said = float(errors.square().mean().sqrt())
    assert abs(float(values.std()) / said - 1) < ROOM
