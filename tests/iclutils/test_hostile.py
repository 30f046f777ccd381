"""Nothing wrong comes back in silence: hostile values of every argument of what chapters call.

Each call below is right as it stands. One argument at a time is made hostile; then the call must
raise an error that names the argument (or another of the call's, with what it must be), or return
numbers, none of which is NaN.
"""

import dataclasses
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from iclutils import sphere, stats
from iclutils.regression import moments, ridge, samplers
from iclutils.regression.theory import asymptotics
from iclutils.regression.theory.asymptotics import Phase
from iclutils.stages import prompts as stage_prompts
from iclutils.stages import training
from iclutils.stages.theory import equal_features, finite_prompts, meanfield
from iclutils.window import (
    alignment,
    attention,
    covariates,
    evaluation,
    function_classes,
    low_rank_tasks,
    pretraining,
)
from iclutils.window.theory import (
    best_window,
    full_matrix,
    linear_attention,
    low_rank_problem,
    population_loss,
    value_weight,
)

HUGE = 1e200
NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, 0, -1, HUGE, -HUGE, 2.5]
OURS = re.compile(r"must .*; |did not converge", re.DOTALL)


def draw() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def normal(*size: int) -> Tensor:
    return torch.randn(*size, dtype=torch.float64, generator=draw())


def points(*size: int) -> Tensor:
    return covariates.normalised(normal(*size))


class Call(NamedTuple):
    """A function and arguments with which it is right."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


EYE = torch.eye(3, dtype=torch.float64)
GRID = torch.tensor([0.0, 1.0, 2.0, 4.0, 8.0], dtype=torch.float64)
PROMPTS = samplers.sample(normal(30, 2), samplers.Context(d=2, ell=6, rho=0.1), draw())
UNIT = linear_attention.LinearUnit.of(function_classes.Affine(3))
LOSS = population_loss.limit(3, 50, w=best_window.grid(50, 12))
LOOKUP = equal_features.Lookup(5, 8)
HEAD = attention.Prompt(points(6, 3), normal(6), points(2, 3), normal(2))
CALLS = {
    "gegenbauer": Call(sphere.gegenbauer, {"t": GRID / 8, "d": 3, "degrees": torch.tensor([0, 2])}),
    "log_partition": Call(sphere.log_partition, {"w": GRID, "d": 3}),
    "tilted_average": Call(
        sphere.tilted_average, {"w": GRID, "d": 3, "degrees": torch.tensor([1])}
    ),
    "cap_area": Call(sphere.cap_area, {"epsilon": 0.3, "d": 3}),
    "mean_se": Call(stats.mean_se, {"samples": normal(4)}),
    "line": Call(stats.line, {"x": GRID, "y": normal(5)}),
    "exponent": Call(stats.exponent, {"x": GRID + 1, "y": GRID + 2}),
    "crossing": Call(stats.crossing, {"x": GRID, "y": GRID - 2, "level": 1.0}),
    "Affine": Call(
        lambda d, L: function_classes.Affine(d, L).covariance(GRID / 8), {"d": 3, "L": 1.0}
    ),
    "Affine.covariance": Call(function_classes.Affine(3).covariance, {"t": GRID / 8}),
    "ReLU.covariance": Call(function_classes.ReLU(3).covariance, {"t": GRID / 8}),
    "Cosine.covariance": Call(function_classes.Cosine(3).covariance, {"t": GRID / 8}),
    "Stretched": Call(
        lambda root: covariates.Stretched(root).from_gaussian(normal(4, 3)), {"root": EYE}
    ),
    "TwoSubspaces": Call(
        lambda c_u, c_v: covariates.TwoSubspaces(EYE[:, :2], EYE[:, 2:], c_u, c_v).from_gaussian(
            normal(4, 3)
        ),
        {"c_u": 1.0, "c_v": 1.0},
    ),
    "LowRankLink": Call(
        lambda B: low_rank_tasks.LowRankLink(B, "cosine").kernel(points(4, 2), points(4, 2)),
        {"B": EYE[:, :2]},
    ),
    "weights": Call(attention.weights, {"M": EYE, "x": points(6, 3), "query": points(2, 3)}),
    "predict": Call(lambda M: attention.predict(M, HEAD), {"M": EYE}),
    "half_mass_cap": Call(
        evaluation.half_mass_cap,
        {"gamma": torch.full((6, 2), 1 / 6).double(), "x": points(6, 3), "query": points(2, 3)},
    ),
    "rho": Call(alignment.rho, {"M": EYE, "B": EYE[:, :2]}),
    "masses": Call(alignment.masses, {"M": EYE, "B": EYE[:, :2]}),
    "pretrain": Call(
        lambda n, sigma, trials, steps: (
            pretraining.pretrain(
                [
                    pretraining.Setting(
                        function=function_classes.Affine(3),
                        covariates=covariates.Sphere(3),
                        n=n,
                        sigma=sigma,
                    )
                ],
                trials=trials,
                steps=steps,
            ).M
        ),
        {"n": 6, "sigma": 0.1, "trials": 2, "steps": 3},
    ),
    "grid": Call(best_window.grid, {"largest": 10.0, "points": 9}),
    "log_grid": Call(best_window.log_grid, {"low": 0.1, "high": 10.0, "points": 9}),
    "power": Call(
        best_window.power,
        {"w": torch.logspace(0, 5, 60).double(), "y": torch.logspace(0, -5, 60).double()},
    ),
    "limit": Call(
        lambda d, n: population_loss.limit(d, n, w=GRID).loss(function_classes.Affine(d), 0.1),
        {"d": 3, "n": 50},
    ),
    "best_window": Call(
        lambda sigma: LOSS.best_window(function_classes.Affine(3), sigma), {"sigma": 0.5}
    ),
    "loss at": Call(
        lambda sigma, w: LOSS.at(function_classes.Affine(3), sigma, w), {"sigma": 0.5, "w": 3.0}
    ),
    "linear loss": Call(UNIT.loss, {"M": EYE, "n": 20, "sigma": 0.1}),
    "linear minimum": Call(UNIT.minimum, {"n": 20, "sigma": 0.1}),
    "linear constant": Call(UNIT.minimum_with_constant, {"n": 20, "sigma": 0.1}),
    "hills_minimum": Call(linear_attention.hills_minimum, {"nu": 1.5, "n": 20, "sigma": 0.1}),
    "matrix": Call(
        lambda x, query, sigma, start: full_matrix.best_matrix(
            full_matrix.zonal(function_classes.Affine(3)), x, query, sigma, start
        ),
        {
            "x": points(1, 20, 6, 3),
            "query": points(1, 20, 2, 3),
            "sigma": 0.5,
            "start": EYE.unsqueeze(0),
        },
    ),
    "windows": Call(
        lambda n, w, contexts: value_weight.windows(
            [function_classes.Affine(3)], n, w, contexts=contexts, generator=draw()
        )[0],
        {"n": 5, "w": GRID, "contexts": 40},
    ),
    "Case": Call(
        lambda d, k, n, sigma, c_u, c_v: low_rank_problem.Case(
            link="linear", d=d, k=k, n=n, sigma=sigma, c_u=c_u, c_v=c_v
        ).contexts(50, 0),
        {"d": 4, "k": 2, "n": 5, "sigma": 0.1, "c_u": 1.0, "c_v": 1.0},
    ),
    "errors": Call(
        lambda alpha, kappa, tau, rho, lam: asymptotics.errors(
            Phase(alpha=alpha, kappa=kappa, tau=tau, rho=rho), lam
        ),
        {"alpha": 10.0, "kappa": 0.5, "tau": 2.0, "rho": 0.01, "lam": 0.1},
    ),
    "marchenko_pastur": Call(asymptotics.marchenko_pastur, {"x": 1.0, "kappa": 0.5}),
    "long_context_limit": Call(
        asymptotics.long_context_limit, {"kappa": 0.5, "rho": 0.01, "ratio": 1.0}
    ),
    "sample": Call(
        lambda tasks: samplers.sample(tasks, samplers.Context(d=2, ell=6, rho=0.1), draw()),
        {"tasks": normal(5, 2)},
    ),
    "Context": Call(
        lambda ell, rho: moments.fresh_moments(samplers.Context(d=2, ell=ell, rho=rho)),
        {"ell": 6, "rho": 0.1},
    ),
    "moments": Call(
        lambda tasks, weights: moments.moments(
            tasks, samplers.Context(d=2, ell=6, rho=0.1), weights
        ),
        {"tasks": normal(5, 2), "weights": torch.ones(5).double()},
    ),
    "solve": Call(lambda lam: ridge.solve(PROMPTS, lam), {"lam": 0.1}),
    "solve_dense": Call(lambda lam: ridge.solve_dense(PROMPTS, lam), {"lam": 0.1}),
    "flow": Call(
        lambda K, p1, errors: meanfield.flow("rare", K, p1, errors=errors, points=5).times,
        {"K": 5, "p1": 0.5, "errors": 0.1},
    ),
    "exact_time": Call(
        lambda K, p1, error: meanfield.exact_time("dominant", K, p1, error),
        {"K": 5, "p1": 0.5, "error": 0.1},
    ),
    "linear_time": Call(meanfield.linear_time, {"p": 0.5, "error": 0.1}),
    "first_phase_threshold": Call(meanfield.first_phase_threshold, {"K": 9}),
    "saturated_error": Call(finite_prompts.saturated_error, {"K": 5, "p1": 0.5, "N": 9}),
    "log_floor": Call(finite_prompts.log_floor, {"K": 5, "p1": 0.5, "N": 9}),
    "value_gain": Call(finite_prompts.value_gain, {"K": 5, "p1": 0.5, "N": 9, "value": 0.5}),
    "probabilities": Call(stage_prompts.probabilities, {"K": 5, "p1": 0.5}),
    "draw_counts": Call(
        lambda p, N: stage_prompts.draw_counts(p, N, (2,), draw()),
        {"p": torch.full((4,), 0.25).double(), "N": 9},
    ),
    "train_reduced": Call(
        lambda targets, learning_rate: training.train_reduced(
            torch.full((4,), 0.25).double(),
            9,
            targets,
            learning_rate=learning_rate,
            steps=3,
            prompts=2,
            generator=draw(),
        ),
        {"targets": torch.tensor([0, 1]), "learning_rate": 0.5},
    ),
    "Lookup": Call(lambda K, N: equal_features.Lookup(K, N).loss(1.0, 0.5), {"K": 5, "N": 8}),
    "Lookup.loss": Call(LOOKUP.loss, {"w": 1.0, "sigma": 0.5}),
    "Lookup.best_window": Call(LOOKUP.best_window, {"sigma": 0.5}),
    "limit_loss": Call(equal_features.limit_loss, {"w": 1.0, "K": 5, "Lambda": 10.0}),
    "closing": Call(
        lambda K, Lambda: equal_features.closing(K, Lambda, points=50), {"K": 5, "Lambda": 10.0}
    ),
}


def hostile(given: Any) -> Iterator[Any]:
    """List what may come instead of a right value."""
    if not isinstance(given, Tensor):
        yield from (one for one in NUMBERS if one != given)
        return
    whole = not given.is_floating_point()
    if not whole:
        for bad in (math.nan, math.inf, HUGE):
            spoilt = given.clone()
            spoilt.view(-1)[-1] = bad
            yield spoilt
    else:
        yield given - 5
        yield given + 100
    yield given[..., :0]
    yield given.unsqueeze(0).unsqueeze(0).unsqueeze(0)[..., 0]
    yield given.long()


def numbers(found: Any) -> Iterator[float]:
    """Every number in what came back."""
    if isinstance(found, Tensor):
        yield from found.double().flatten().tolist()
    elif isinstance(found, np.ndarray):
        yield from found.astype(float).ravel().tolist()
    elif isinstance(found, dict):
        yield from (number for one in found.values() for number in numbers(one))
    elif isinstance(found, tuple | list):
        yield from (number for one in found for number in numbers(one))
    elif dataclasses.is_dataclass(found):
        fields = dataclasses.fields(found)
        yield from (number for one in fields for number in numbers(getattr(found, one.name)))
    elif isinstance(found, int | float):
        yield float(found)


CASES = [(name, argument) for name, call in CALLS.items() for argument in call.arguments]


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_are_right_as_they_stand(name):
    function, arguments = CALLS[name]
    assert all(math.isfinite(number) for number in numbers(function(**arguments)))


@pytest.mark.parametrize(("name", "argument"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_a_hostile_argument_is_refused_by_name_or_answered(name, argument):
    function, arguments = CALLS[name]
    wrong = []
    for bad in hostile(arguments[argument]):
        shown = tuple(bad.shape) if isinstance(bad, Tensor) else bad
        try:
            found = function(**(arguments | {argument: bad}))
        except (ValueError, TypeError, KeyError, RuntimeError) as error:
            said = str(error)
            if argument.lower() not in said.lower() and not OURS.search(said):
                wrong.append(f"{shown}: {type(error).__name__}: {said[:90]}")
        except Exception as error:
            wrong.append(f"{shown}: {type(error).__name__}: {str(error)[:90]}")
        else:
            bad_numbers = [one for one in numbers(found) if math.isnan(one)]
            if bad_numbers:
                wrong.append(f"{shown}: came back with NaN")
    assert not wrong, "\n" + "\n".join(wrong)
