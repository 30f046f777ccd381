"""Sweeps name what a pretraining of all their settings gives."""

import pytest
import torch

from iclutils.window import sweeps
from iclutils.window.covariates import Sphere, Stretched
from iclutils.window.function_classes import by_name
from iclutils.window.pretraining import Schedule, Setting, pretrain

SHORT = {"trials": 2, "steps": 3, "seed": 1}


def alone(name, covariates, n, sigma, L, **how):
    """Pretrain one setting alone: its sizes and scales."""
    setting = Setting(function=by_name(name, 3, L), covariates=covariates, n=n, sigma=sigma)
    run = pretrain([setting], **SHORT, **how)
    return run.norm[0], run.scale[0]


@pytest.mark.parametrize(("law", "power"), [("isotropic", 0.0), ("R = Σ", 1.0), ("R = Σ^½", 0.5)])
def test_steepnesses_are_named_by_class_and_law(law, power):
    sweep = sweeps.by_steepness(3, 4, 0.1, **SHORT)
    assert list(sweep.norm) == [(name, law) for name in sweeps.CLASSES for law in sweeps.LAWS]
    stretch = torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64) ** power)
    norm, scale = alone("cosine", Stretched(stretch) if power else Sphere(3), 4, 0.1, 3.0)
    assert torch.allclose(sweep.of(("cosine", law), 3.0), norm, rtol=1e-9)
    assert torch.allclose(sweep.end(("cosine", law), 3.0), norm[:, -1], rtol=1e-9)
    assert torch.allclose(sweep.scale["cosine", law][5], scale, rtol=1e-9)
    assert torch.equal(sweep.end_scale(("cosine", law), 3.0), sweep.scale["cosine", law][5, :, -1])
    change = sweep.change(("cosine", law), 1.0, 3.0)
    flatter = sweep.end(("cosine", law), 1.0)
    assert change.value == pytest.approx(float((norm[:, -1] - flatter).mean()))


def test_another_schedule_is_that_of_all_settings():
    fast = sweeps.by_noise(3, 4, 2.0, **SHORT, schedule=Schedule())
    norm, _ = alone("relu", Sphere(3), 4, 0.3, 2.0)
    assert torch.allclose(fast.of("relu", 0.3), norm, rtol=1e-9)


def test_noises_and_lengths_are_named_by_class():
    slow = Schedule(0.01)
    noise = sweeps.by_noise(3, 4, 2.0, **SHORT)
    norm, _ = alone("relu", Sphere(3), 4, 0.3, 2.0, schedule=slow)
    assert torch.allclose(noise.of("relu", 0.3), norm, rtol=1e-9)
    length = sweeps.by_length(3, 0.1, 2.0, **SHORT)
    norm, _ = alone("cosine", Sphere(3), 20, 0.1, 2.0, schedule=slow, queries=1)
    assert torch.allclose(length.of("cosine", 20), norm, rtol=1e-9)
    assert (noise.values, length.values) == (sweeps.NOISES, sweeps.LENGTHS)
