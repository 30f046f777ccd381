"""Every standard error that the package gives is the scatter over independent draws.

Each estimate below is drawn anew again and again; the scatter of its values must be what its
standard errors say.
"""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Generator

from iclutils.ground import statistics
from iclutils.ground.randomness import stream
from iclutils.window import covariates, functions, prompts
from iclutils.window.theory import blocks, curves, isotropic, linear, lowrank, value
from iclutils.window.theory.contexts import Case, Contexts

DRAWS = 80
# of the ratio of scatter and standard error: 4.5 times its own, 1/√(2·80), about 1e-5 a case; the
# second number is what jackknives over 20 batches and small samples add
ROOM = 4.5 / math.sqrt(2 * DRAWS) + 0.05
F64 = torch.float64
RELU = functions.ReLU(3)
UNIT = linear.LinearUnit.of(functions.Affine(3))
CASE = Case("linear", 3, 2, 4, 0.5)
LONG = Case("linear", 3, 2, 4, 0.5, c_v=3.0)  # the spurious part of a token is the longer one
E1, E2, E3 = torch.eye(3, dtype=F64)
GRID = curves.grid(40.0, 20)

Pair = tuple[float, float]


def skewed(draws: Generator, *size: int) -> torch.Tensor:
    return torch.rand(*size, generator=draws, dtype=F64).log().neg()


def pair(found: object) -> Pair:
    """The number and the standard error of what came back."""
    first, second, *_ = (float(part) for part in found)  # type: ignore[attr-defined]
    return first, second


def fitted(draws: Generator, se: torch.Tensor | None) -> Pair:
    x = torch.arange(1, 13, dtype=F64)
    y = 2 * x + torch.randn(12, generator=draws, dtype=F64)
    return pair(statistics.line(x, y, se, dof=None if se is None else 9).estimate)


def population(draws: Generator) -> isotropic.PopulationLoss:
    return isotropic.sampled(3, 20, draws, contexts=160, w=GRID)


def window(draws: Generator) -> Pair:
    best = population(draws).best_window(RELU, 0.5)
    return best.w, best.w_se


def log_least(draws: Generator) -> Pair:
    best = population(draws).best_window(RELU, 0.5)
    return math.log(best.loss), best.log_loss_se


def moved(draws: Generator) -> Pair:
    loss = population(draws)
    return pair(curves.compare(loss.best_window(RELU, 1.0), loss.best_window(RELU, 0.4)))


def moments(draws: Generator) -> value.Windows:
    w = curves.log_grid(0.3, 100, 24)
    return value.windows(
        [functions.Affine(3)], 30, w, contexts=96, generator=draws, degree=4
    )[0]


def least_of_free(draws: Generator) -> Pair:
    best = moments(draws).best(0.5, free=True)
    return math.log(best.loss), best.log_loss_se


def contexts(draws: Generator, case: Case = CASE) -> Contexts:
    seed = int(torch.randint(2**31, (), generator=draws))
    return case.contexts(2000, seed)


def full(draws: Generator, case: Case = CASE) -> lowrank.Minimum:
    return blocks.full_minimum(case, contexts(draws, case)).minimum


def of_linear(draws: Generator) -> Pair:
    found = lowrank.linear_minimum(contexts(draws), CASE.family)
    return float(found.theta[0]), float(found.se[0])


def of_relevant(draws: Generator) -> Pair:
    found = blocks.relevant_minimum(CASE, contexts(draws), e=0.5)
    return float(found.theta[0]), float(found.se[0])


def slope_of_lemma(draws: Generator) -> Pair:
    seed = int(torch.randint(2**31, (), generator=draws))
    alpha = torch.tensor([2.0, 1.0, 0.5], dtype=F64)
    return pair(blocks.lemma_slopes(1.5, alpha, 2, 300, seed)[1])


def sampled_loss(draws: Generator) -> Pair:
    prompt = prompts.draw(RELU, covariates.Sphere(3), 8, 0.3, 1, (200,), draws)
    error = (prompt.y.mean(-1, keepdim=True) - prompt.target).square().squeeze(-1)
    return pair(statistics.estimate(error))


ESTIMATES: dict[str, Callable[[Generator], Pair]] = {
    "mean": lambda draws: pair(statistics.estimate(skewed(draws, 40))),
    "means": lambda draws: pair(statistics.mean_se(skewed(draws, 3, 40), 1).at(1)),
    "difference": lambda draws: pair(
        statistics.difference(
            statistics.estimate(skewed(draws, 40)), statistics.estimate(2 * skewed(draws, 20))
        )
    ),
    "jackknife": lambda draws: pair(
        statistics.jackknife(lambda one: float(one.mean().log()), skewed(draws, 40))
    ),
    "line": lambda draws: fitted(draws, None),
    "line with errors": lambda draws: fitted(draws, torch.ones(12, dtype=F64)),
    "sampled loss": sampled_loss,
    "loss at a window": lambda draws: pair(population(draws).at(RELU, 0.5, 3.0)),
    "best window": window,
    "log of the least loss": log_least,
    "move of the window": moved,
    "log of the least loss, free weight": least_of_free,
    "advantage": lambda draws: pair(value.advantage(UNIT, moments(draws), 30, 0.5)),
    "boundary": lambda draws: pair(value.boundary(UNIT, moments(draws), 30)),
    "mass of the linear minimum": of_linear,
    "relevant minimum": of_relevant,
    "blocks: c": lambda draws: pair(blocks.read_blocks(full(draws), 3, 2).c),
    "an entry": lambda draws: pair(blocks.entry(full(draws), E1, E2)),
    "a spurious entry": lambda draws: pair(blocks.entry(full(draws, LONG), E3, E3)),
    "cost of spurious mass": lambda draws: pair(
        blocks.spurious_cost(CASE, contexts(draws), [1.0])[0]
    ),
    "slope of the lemma": slope_of_lemma,
}


@pytest.mark.parametrize("name", ESTIMATES)
def test_a_standard_error_is_the_scatter(name: str) -> None:
    drawn = [ESTIMATES[name](stream(0, "scatter", name, i)) for i in range(DRAWS)]
    values, errors = torch.tensor(drawn, dtype=F64).T
    said = float(errors.square().mean().sqrt())
    assert abs(float(values.std()) / said - 1) < ROOM
