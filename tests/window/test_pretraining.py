"""The attention unit and the fleet, each against a plain second route."""

import math

import pytest
import torch

from iclutils import attention, covariates, functions, pretraining, prompts
from iclutils.pretraining import BLOCK, Setting, pretrain
from iclutils.randomness import stream


@pytest.fixture
def prompt() -> prompts.Prompt:
    return prompts.draw(functions.ReLU(5, 2.0), covariates.Sphere(5), 11, 0.2, 3, (7,), stream(0, "prompts"))


@pytest.mark.parametrize("unit", attention.UNITS)
def test_closed_form_gradient_equals_autograd(prompt: prompts.Prompt, unit: str) -> None:
    M = torch.randn(7, 5, 5, generator=stream(0, "M"), dtype=torch.float64, ).requires_grad_()
    reference = (attention.predict(M, prompt, unit) - prompt.target).square().mean(-1)
    by_autograd, = torch.autograd.grad(reference.sum(), M)
    loss, gradient = attention.loss_and_gradient(M.detach(), prompt, unit)
    torch.testing.assert_close(loss, reference.detach())
    torch.testing.assert_close(gradient, by_autograd)


def test_weights_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    gamma = attention.weights(math.log(3) * torch.eye(2, dtype=torch.float64), x, x[:1])
    torch.testing.assert_close(gamma.squeeze(-1), torch.tensor([0.75, 0.25], dtype=torch.float64))
    assert float(attention.effective_number(gamma)) == pytest.approx(1 / (0.75**2 + 0.25**2))
    assert float(attention.half_mass_cap(gamma, x, x[:1])) == pytest.approx(0.0)
    flipped = attention.weights(-math.log(3) * torch.eye(2, dtype=torch.float64), x, x[:1])
    assert float(attention.half_mass_cap(flipped, x, x[:1])) == pytest.approx(math.pi / 2)


def test_zero_M_averages_uniformly(prompt: prompts.Prompt) -> None:
    answer = attention.predict(torch.zeros(5, 5, dtype=torch.float64), prompt)
    torch.testing.assert_close(answer, prompt.y.mean(-1, keepdim=True).expand(7, 3))


def plain_adam(setting: Setting, trial: int, steps: int, lr: float, decay: float, unit: str, tied: bool,
               seed: int) -> torch.Tensor:
    """One unit by torch.optim.Adam and autograd, on the same draws; returns its final M."""
    d, n, q = setting.covariates.d, setting.n, prompts.default_queries(setting.n)
    factors = [(1e-3 * torch.eye(d, dtype=torch.float64)).requires_grad_() for _ in range(1 if tied else 2)]
    optimiser = torch.optim.Adam(factors, lr=lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, decay)
    for t in range(steps):
        block, row = divmod(t, BLOCK)
        draw = [stream(seed, "pretraining", what, n, q, trial, block) for what in ("covariates", "noise", "tasks")]
        z = torch.randn(BLOCK, n + q, d, generator=draw[0], dtype=torch.float64)
        noise = torch.randn(BLOCK, n, generator=draw[1], dtype=torch.float64)
        task = setting.function.sample((BLOCK,), draw[2])
        whole = prompts.assemble(setting.function, task, setting.covariates.from_gaussian(z), noise, n, setting.sigma)
        one = prompts.Prompt(whole.x[row], whole.y[row], whole.query[row], whole.target[row])
        M = factors[0].mT @ factors[-1]
        loss = (attention.predict(M, one, unit) - one.target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return (factors[0].mT @ factors[-1]).detach()


@pytest.mark.parametrize("unit", attention.UNITS)
@pytest.mark.parametrize("tied", [True, False])
def test_fleet_equals_a_plain_adam_loop(unit: str, tied: bool) -> None:
    sphere = covariates.Sphere(3)
    settings = [Setting(functions.ReLU(3, 1.0), sphere, 9, 0.1), Setting(functions.Cosine(3, 2.0), sphere, 9, 0.3),
                Setting(functions.ReLU(3, 4.0), sphere, 16, 0.1)]
    fleet = pretrain(settings, trials=2, steps=120, learning_rate=[0.1, 0.1, 0.02], decay=0.99, unit=unit, tied=tied, seed=5)
    for row, trial in ((0, 1), (1, 0), (2, 1)):
        alone = plain_adam(settings[row], trial, 120, [0.1, 0.1, 0.02][row], 0.99, unit, tied, seed=5)
        # the same operations in another order: float64 rounding, grown by 120 Adam steps
        torch.testing.assert_close(fleet.M[row, trial, -1], alone, rtol=1e-7, atol=1e-9)


def test_a_units_history_does_not_depend_on_its_fleet() -> None:
    sphere = covariates.Sphere(3)
    settings = [Setting(functions.Affine(3, L), sphere, 9, 0.1) for L in (0.1, 1.0)]
    both = pretrain(settings, trials=3, steps=60)
    one = pretrain(settings[1:], trials=1, steps=60)
    torch.testing.assert_close(both.M[1, 0], one.M[0, 0])
    other = pretrain(settings[1:], trials=1, steps=60, seed=1)
    assert float((other.M - one.M).abs().max()) > 1e-3


def test_recorded_steps_start_at_zero_and_end_at_the_last() -> None:
    run = pretrain([Setting(functions.Affine(3), covariates.Sphere(3), 4, 0.1)], trials=1, steps=25, record_every=10)
    assert run.steps.tolist() == [0, 10, 20, 25]
    assert run.M.shape == (1, 1, 4, 3, 3)
    assert run.norm.shape == run.scale.shape == (1, 1, 4)


def test_plain_gradient_descends_the_loss() -> None:
    setting = Setting(functions.Affine(3, 1.0), covariates.Sphere(3), 16, 0.01)
    run = pretrain([setting], trials=2, steps=2000, learning_rate=1.0, optimiser="sgd", decay=1.0)
    assert float(run.scale[0, :, -1].mean()) > float(run.scale[0, :, 0].mean())


@pytest.mark.parametrize(("change", "error", "word"), [
    ({"settings": []}, ValueError, "settings"),
    ({"learning_rate": -1.0}, ValueError, "learning_rate"),
    ({"learning_rate": [0.1, 0.2]}, ValueError, "learning_rate"),
    ({"optimiser": "lion"}, KeyError, "optimiser"),
    ({"unit": "relu"}, KeyError, "unit"),
    ({"steps": 0}, ValueError, "steps"),
    ({"decay": 1.5}, ValueError, "decay"),
    ({"trials": 2.0}, TypeError, "trials"),
])
def test_bad_settings_are_refused(change: dict, error: type[Exception], word: str) -> None:
    arguments = {"settings": [Setting(functions.Affine(3), covariates.Sphere(3), 4, 0.1)], "trials": 1, "steps": 2} | change
    with pytest.raises(error, match=word):
        pretrain(arguments.pop("settings"), **arguments)


def test_non_finite_M_is_refused(prompt: prompts.Prompt) -> None:
    M = torch.full((5, 5), float("nan"), dtype=torch.float64)
    with pytest.raises(ValueError, match="M must be finite"):
        attention.predict(M, prompt)
    with pytest.raises(ValueError, match="M must have shape"):
        attention.weights(torch.zeros(5, 4, dtype=torch.float64), prompt.x, prompt.query)
    with pytest.raises(ValueError, match="n"):
        pretraining.Setting(functions.Affine(3), covariates.Sphere(3), -2, 0.1)
