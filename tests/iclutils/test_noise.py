"""The noise of every sampler's labels is normal, with the variance that it is told."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from scipy.stats import kstest
from torch import Tensor

from iclutils.randomness import stream
from iclutils.regression import samplers as reduced
from iclutils.regression import training_sets
from iclutils.stages import prompts as features
from iclutils.window import covariates, function_classes
from iclutils.window import prompts as window

VARIANCE = 0.3
F64 = torch.float64
TASKS = torch.ones(3, 4, dtype=F64)
EVEN = torch.full((4,), 0.25, dtype=F64)


def reduced_labels(sampler: Callable[..., Any], *tasks: Tensor) -> Callable[..., Tensor]:
    """Draw the labels of 2400 prompts by a sampler of the reduced model."""
    return lambda variance, draws: (
        sampler(*tasks, reduced.Context(d=4, ell=6, rho=variance), draws, n=2400).y
    )


SAMPLERS: dict[str, Callable[..., Tensor]] = {  # 2400 noisy labels of a variance
    "window": lambda variance, draws: (
        window.draw(
            function_classes.ReLU(4), covariates.Sphere(4), 6, variance**0.5, 1, (400,), draws
        ).y
    ),
    "reduced": reduced_labels(reduced.sample, TASKS),
    "token by token": reduced_labels(reduced.sample_naive, TASKS),
    "orthonormal": reduced_labels(reduced.sample_orthonormal),
    "fleet: shown": lambda variance, _: training_sets.draw_fleet([400], 4, 6, variance, 0).z[
        0, :, -1, :-1
    ],
    "fleet: hidden": lambda variance, _: training_sets.draw_fleet([2400], 4, 6, variance, 0).y,
    "features": lambda variance, draws: (
        features.draw_prompts(
            EVEN, torch.eye(4, dtype=F64), 6, 1, 400, draws, sigma=variance**0.5
        ).labels
    ),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_noise_is_normal_with_its_variance(name: str) -> None:
    """The tokens and tasks are the same at every variance."""
    noisy, plain = (SAMPLERS[name](one, stream(0, "noise", name)) for one in (VARIANCE, 0.0))
    noise = (noisy - plain).flatten()
    assert len(noise) == 2400
    # a false alarm in 1e5 for each of seven
    assert kstest(noise.numpy() / VARIANCE**0.5, "norm").pvalue > 1e-5
