"""The ends of the ranges, as numbers: the last one is allowed, and the next one is refused."""

import math

import pytest
import torch

from iclutils import sphere, stats, validation
from iclutils.regression.experiment import Setting
from iclutils.regression.samplers import Context
from iclutils.regression.theory.asymptotics import Phase
from iclutils.stages import prompts, training
from iclutils.stages.theory import equal_features, finite_prompts
from iclutils.window.function_classes import Affine, Cosine
from iclutils.window.theory import best_window
from iclutils.window.theory.low_rank_problem import Case


def phase(**change: float) -> Phase:
    return Phase(**({"alpha": 1.0, "kappa": 1.0, "tau": 1.0, "rho": 0.1} | change))


def case(**change: float) -> Case:
    return Case(link="linear", d=3, k=1, n=2, sigma=0.0, **change)


@pytest.mark.parametrize(
    ("name", "last", "call"),
    [
        ("sigma", 1e100, lambda x: validation.noise("sigma", x)),
        ("L", 1e100, lambda x: Affine(3, x)),
        ("c_u", 1e100, lambda x: case(c_u=x)),
        ("c_v", 1e100, lambda x: case(c_v=x)),
        ("rho", 1e50, lambda x: Context(d=3, ell=3, rho=x)),
        ("alpha", 1e50, lambda x: phase(alpha=x)),
        ("tau", 1e50, lambda x: phase(tau=x)),
        ("rho", 1e50, lambda x: phase(rho=x)),
        ("value", 1e100, lambda x: finite_prompts.value_gain(8, 0.5, 40, value=x)),
        ("end", 300.0, lambda x: equal_features.closing(8, math.inf, end=x)),
        ("w", 1e9, lambda x: sphere.log_partition(torch.tensor([x], dtype=torch.float64), 3)),
    ],
)
def test_the_largest_number_is_allowed_and_the_next_is_not(name, last, call):
    call(last)
    with pytest.raises(ValueError, match=f"{name} must"):
        call(math.nextafter(last, math.inf))


@pytest.mark.parametrize("name", ["alpha", "kappa", "tau"])
def test_the_smallest_ratio_is_allowed_and_the_next_is_not(name):
    phase(**{name: 1e-50})
    with pytest.raises(ValueError, match=f"{name} must"):
        phase(**{name: math.nextafter(1e-50, 0.0)})


def test_whole_numbers_end_where_they_are_said_to():
    finite_prompts.log_floor(8, 0.5, 10**100)
    with pytest.raises(ValueError, match="N must"):
        finite_prompts.log_floor(8, 0.5, 10**100 + 10**85)
    degrees = torch.tensor([0, 2])
    Cosine(343).spectrum(degrees)
    with pytest.raises(ValueError, match="d of a cosine's spectrum must"):
        Cosine(344).spectrum(degrees)


def test_a_training_stops_where_its_exponential_would_be_no_number():
    largest = torch.tensor([[-700.0, 700.0]], dtype=torch.float64)
    training._require_small(largest, 1.0)
    assert bool(torch.isfinite(largest.exp()).all())
    beyond = torch.tensor([math.nextafter(-700.0, -701.0)], dtype=torch.float64)
    with pytest.raises(RuntimeError, match="learning_rate must be smaller"):
        training._require_small(beyond, 1.0)


@pytest.mark.parametrize(
    ("fewest", "call"),
    [
        (2, lambda n: stats.mean_se(torch.arange(float(n)))),
        (2, lambda n: stats.mean_se(torch.rand(3, n), 1)),
        (2, lambda n: stats.estimate(torch.arange(float(n)))),
        (2, lambda n: stats.jackknife(lambda s: float(s.mean()), torch.arange(float(n)))),
        (2, lambda n: stats.crossed(lambda s: s.mean(), torch.rand(n, 3))),
        (2, lambda n: stats.crossed(lambda s: s.mean(), torch.rand(3, n))),
        (2, lambda n: stats.crossed_mean(torch.rand(n, 3))),
        (3, lambda n: stats.line(torch.arange(float(n)), torch.arange(float(n)) ** 2)),
        (2, lambda n: stats.intercept(torch.arange(float(n)), torch.rand(n, 4))),
        (2, lambda n: best_window.leave_one_out(torch.rand(n, 5))),
        (2, lambda n: prompts.probabilities(n, 0.5)),
        (3, lambda n: equal_features.Lookup(n, 10)),
        (1, lambda n: equal_features.Lookup(3, n)),
        (2, lambda n: Setting(d=n, alpha=1.0, kappa=1.0, tau=1.0, rho=0.1)),
    ],
)
def test_the_fewest_are_enough_and_one_less_is_refused(fewest, call):
    call(fewest)
    with pytest.raises(ValueError, match=r"must|holds|at least"):
        call(fewest - 1)
