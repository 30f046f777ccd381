"""The fleet against a plain loop, and what a run records and refuses."""

from typing import Any

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import attention, covariates, function_classes, prompts
from iclutils.window.pretraining import BLOCK, Schedule, Setting, pretrain
from iclutils.window.prompts import Prompt

STEPS = 120
SEED = 5


def plain_adam(setting: Setting, trial: int, rate: float, unit: str, tied: bool) -> torch.Tensor:
    """One unit by torch.optim.Adam and autograd, on the same draws; returns its final M."""
    d = setting.covariates.d
    start = 1e-3 * torch.eye(d, dtype=torch.float64)
    factors = [start.clone().requires_grad_() for _ in range(1 if tied else 2)]
    optimiser = torch.optim.Adam(factors, lr=rate)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.99)
    for t in range(STEPS):
        one = prompt_of_step(setting, trial, t)
        M = factors[0].mT @ factors[-1]
        loss = (attention.predict(M, one, unit) - one.target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return (factors[0].mT @ factors[-1]).detach()


def prompt_of_step(setting: Setting, trial: int, t: int) -> Prompt:
    """Draw, as the module's text says, the prompt that a unit of the fleet sees in step t."""
    n = setting.n
    q = prompts.default_queries(n)
    block, row = divmod(t, BLOCK)

    def generator(what: str) -> torch.Generator:
        return stream(SEED, "pretraining", what, n, q, trial, block)

    size = (BLOCK, n + q, setting.covariates.d)
    z = torch.randn(*size, generator=generator("covariates"), dtype=torch.float64)
    noise = torch.randn(BLOCK, n, generator=generator("noise"), dtype=torch.float64)
    task = setting.function.sample((BLOCK,), generator("tasks"))
    tokens = setting.covariates.from_gaussian(z)
    whole = prompts.assemble(setting.function, task, tokens, noise, n, setting.sigma)
    return Prompt(whole.x[row], whole.y[row], whole.query[row], whole.target[row])


@pytest.mark.parametrize("unit", attention.UNITS)
@pytest.mark.parametrize("tied", [True, False])
def test_fleet_equals_a_plain_adam_loop(unit: str, tied: bool) -> None:
    """Two groups of tokens, whose settings lie mixed, and one class at two Lipschitz constants."""
    sphere = covariates.Sphere(3)
    settings = [
        Setting(function=function_classes.ReLU(3, 1.0), covariates=sphere, n=9, sigma=0.1),
        Setting(function=function_classes.ReLU(3, 4.0), covariates=sphere, n=16, sigma=0.1),
        Setting(function=function_classes.Cosine(3, 2.0), covariates=sphere, n=9, sigma=0.3),
    ]
    schedule = Schedule([0.1, 0.02, 0.1], decay=0.99)
    fleet = pretrain(
        settings, trials=2, steps=STEPS, schedule=schedule, unit=unit, tied=tied, seed=SEED
    )
    for row, trial, rate in ((0, 1, 0.1), (2, 0, 0.1), (1, 1, 0.02)):
        alone = plain_adam(settings[row], trial, rate, unit, tied)
        # the same operations in another order: float64 rounding, grown by 120 Adam steps
        torch.testing.assert_close(fleet.M[row, trial, -1], alone, rtol=1e-7, atol=1e-9)


def test_a_units_history_does_not_depend_on_its_fleet() -> None:
    laws = [covariates.Sphere(3), covariates.Stretched(torch.diag(torch.arange(1.0, 4).double()))]
    settings = [
        Setting(function=function_classes.Affine(3, L), covariates=law, n=9, sigma=0.1)
        for law in laws
        for L in (0.1, 1.0)
    ]
    all_of_them = pretrain(settings, trials=3, steps=60)
    for row in (1, 2):
        one = pretrain([settings[row]], trials=1, steps=60)
        # the same products in larger batches: rounding, grown by 60 Adam steps
        torch.testing.assert_close(all_of_them.M[row, 0], one.M[0, 0], rtol=1e-7, atol=1e-7)
        other = pretrain([settings[row]], trials=1, steps=60, seed=1)
        assert float((other.M - one.M).abs().max()) > 1e-3  # far above rounding: other draws


def test_recorded_steps_start_at_zero_and_end_at_the_last() -> None:
    run = pretrain(
        [
            Setting(
                function=function_classes.Affine(3), covariates=covariates.Sphere(3), n=4, sigma=0.1
            )
        ],
        trials=1,
        steps=25,
        record_every=10,
    )
    assert run.steps.tolist() == [0, 10, 20, 25]
    assert run.M.shape == (1, 1, 4, 3, 3)
    assert run.norm.shape == run.scale.shape == (1, 1, 4)


def test_plain_gradient_descends_the_loss() -> None:
    setting = Setting(
        function=function_classes.Affine(3, 1.0), covariates=covariates.Sphere(3), n=16, sigma=0.01
    )
    schedule = Schedule(1.0, decay=1.0, optimiser="sgd")
    run = pretrain([setting], trials=2, steps=2000, schedule=schedule)
    assert float(run.scale[0, :, -1].mean()) > float(run.scale[0, :, 0].mean())


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"settings": []}, ValueError, "settings"),
        ({"schedule": Schedule([0.1, 0.2])}, ValueError, "learning_rate must be one number or 1"),
        ({"unit": "relu"}, KeyError, "unit"),
        ({"steps": 0}, ValueError, "steps"),
        ({"trials": 2.0}, TypeError, "trials"),
        ({"queries": 0}, ValueError, "queries"),
    ],
)
def test_bad_settings_are_refused(
    change: dict[str, Any], error: type[Exception], word: str
) -> None:
    settings = [
        Setting(
            function=function_classes.Affine(3), covariates=covariates.Sphere(3), n=4, sigma=0.1
        )
    ]
    arguments = {"settings": settings, "trials": 1, "steps": 2} | change
    with pytest.raises(error, match=word):
        pretrain(**arguments)


def test_settings_of_two_dimensions_are_refused() -> None:
    settings = [
        Setting(
            function=function_classes.Affine(d), covariates=covariates.Sphere(d), n=4, sigma=0.1
        )
        for d in (3, 4)
    ]
    with pytest.raises(ValueError, match=r"settings must share one d; got \[3, 4\]"):
        pretrain(settings)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"learning_rate": -1.0}, ValueError),
        ({"learning_rate": [0.1, 0.0]}, ValueError),
        ({"optimiser": "lion"}, KeyError),
        ({"decay": 1.5}, ValueError),
    ],
)
def test_bad_schedules_are_refused(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(change))):
        Schedule(**change)


def test_a_negative_context_length_is_refused() -> None:
    with pytest.raises(ValueError, match="n must be at least 1; got -2"):
        Setting(
            function=function_classes.Affine(3), covariates=covariates.Sphere(3), n=-2, sigma=0.1
        )


def test_both_units_and_settings_that_differ_in_rates_alone_train_as_if_alone() -> None:
    sphere = covariates.Sphere(3)
    wide = function_classes.Affine(3, 1.0)
    settings = [Setting(function=wide, covariates=sphere, n=9, sigma=0.1)] * 2 + [
        Setting(function=wide, covariates=sphere, n=9, sigma=0.2)
    ] * 2
    units = ["softmax", "softmax", "linear", "softmax"]
    rates = [0.1, 0.02, 0.1, 0.1]
    together = pretrain(settings, trials=2, steps=60, schedule=Schedule(rates), unit=units)
    assert [part.M.shape[0] for part in together.split(3)] == [3, 1]
    for row, (setting, unit, rate) in enumerate(zip(settings, units, rates, strict=True)):
        alone = pretrain([setting], trials=2, steps=60, schedule=Schedule(rate), unit=unit)
        # the same products in other batches: rounding, grown by 60 Adam steps
        torch.testing.assert_close(together.M[row], alone.M[0], rtol=1e-7, atol=1e-9)
        torch.testing.assert_close(together.split(1)[row].M, alone.M, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="unit must be one name or 4"):
        pretrain(settings, unit=["softmax"])
