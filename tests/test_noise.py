"""The noise of every sampler's labels is normal, with the variance that it is told."""

from collections.abc import Callable

import pytest
import torch
from scipy.stats import kstest
from torch import Tensor

from iclutils.ground.randomness import stream
from iclutils.regression import fleet
from iclutils.regression import prompts as reduced
from iclutils.stages import prompts as features
from iclutils.window import covariates, functions
from iclutils.window import prompts as window

VARIANCE = 0.3
F64 = torch.float64
TASKS = torch.ones(3, 4, dtype=F64)
EVEN = torch.full((4,), 0.25, dtype=F64)


def labels(name: str, variance: float) -> Tensor:
    """The noisy labels of one sampler; the tokens and tasks are the same at every variance."""
    draws = stream(0, "noise", name)
    context = reduced.Context(4, 6, variance)
    sampled: dict[str, Callable[[], Tensor]] = {
        "window": lambda: (
            window.draw(
                functions.ReLU(4), covariates.Sphere(4), 6, variance**0.5, 1, (400,), draws
            ).y
        ),
        "reduced": lambda: reduced.sample(TASKS, context, draws, n=2400).y,
        "token by token": lambda: reduced.sample_naive(TASKS, context, draws, n=2400).y,
        "orthonormal": lambda: reduced.sample_orthonormal(context, draws, n=2400).y,
        "fleet: shown": lambda: fleet.draw_fleet([400], 4, 6, variance, 0).z[0, :, -1, :-1],
        "fleet: hidden": lambda: fleet.draw_fleet([2400], 4, 6, variance, 0).y,
        "features": lambda: (
            features.draw_prompts(
                EVEN, torch.eye(4, dtype=F64), 6, 1, 400, draws, sigma=variance**0.5
            ).labels
        ),
    }
    return sampled[name]()


@pytest.mark.parametrize(
    "name",
    [
        "window",
        "reduced",
        "token by token",
        "orthonormal",
        "fleet: shown",
        "fleet: hidden",
        "features",
    ],
)
def test_noise_is_normal_with_its_variance(name: str) -> None:
    noise = (labels(name, VARIANCE) - labels(name, 0.0)).flatten()
    assert len(noise) == 2400
    # a false alarm in 1e5 for each of seven
    assert kstest(noise.numpy() / VARIANCE**0.5, "norm").pvalue > 1e-5
