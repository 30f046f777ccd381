"""Trained units on other tasks: by hand, one unit at a time, and against drawn tasks."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import mean_se
from iclutils.window import attention, evaluation, low_rank_tasks, transfer
from iclutils.window.covariates import Sphere, sample
from iclutils.window.function_classes import Affine, Cosine, Distance, ReLU
from iclutils.window.low_rank_tasks import LowRankLink
from iclutils.window.prompts import draw
from iclutils.window.theory import population_loss
from iclutils.window.transfer import Transfer

F64 = torch.float64
EYE = torch.eye(3, dtype=F64)
POINTS = sample(Sphere(3), (40, 13), stream(0, "transfer"))


def losses(M, function, sigma):
    signal, concentration = transfer.parts(M, function, POINTS)
    return (signal + sigma**2 * concentration).mean(0)


def units(*role, trials=4):
    noise = torch.randn(trials, 3, 3, generator=stream(0, "units", *role), dtype=F64)
    return 3 * EYE + 0.5 * noise


def test_weights_are_those_of_the_units_one_by_one():
    M = units("weights")
    found = transfer.weights(M, POINTS)
    for i, one in enumerate(M):
        alone = attention.weights(one, POINTS[:, :-1], POINTS[:, -1:])
        torch.testing.assert_close(found[..., i : i + 1], alone)


def test_losses_are_those_of_drawn_tasks():
    M = units("losses", trials=2)
    function = ReLU(3, 2.0)
    draws = stream(0, "tasks")
    task = function.sample((4000, len(POINTS)), draws)
    value = function.evaluate(task, POINTS)
    y = value[..., :-1] + 0.3 * torch.randn(4000, len(POINTS), 12, generator=draws, dtype=F64)
    answer = torch.einsum("tcn,cnq->tcq", y, transfer.weights(M, POINTS))
    errors = (answer - value[..., -1:]).square().mean(1)
    drawn = mean_se(errors)
    exact = losses(M, function, 0.3)
    assert bool(((drawn.value - exact).abs() < 4 * drawn.se).all())


def test_a_plain_average_uses_every_token():
    M = torch.stack([0 * EYE, 1000 * EYE])
    used = transfer.tokens_used(M, POINTS)
    torch.testing.assert_close(used[:, 0], torch.ones(40, dtype=F64))
    assert float(used[:, 1].mean()) < 0.15  # a very narrow window holds about one token of twelve


def test_a_window_on_drawn_tasks_has_the_exact_loss():
    found = transfer.losses_on_sampled_tasks(4.0, Affine(3), 0.5, 10, 6000, 8, stream(0, "drawn"))
    exact = population_loss.sampled(3, 10, stream(0, "exact"), contexts=6000)
    value, se = exact.at(Affine(3), 0.5, 4.0)
    drawn = mean_se(found).at()
    assert abs(drawn.value - float(value)) < 4 * (drawn.se**2 + float(se) ** 2) ** 0.5


def test_a_class_without_a_covariance_can_be_drawn():
    found = transfer.losses_on_sampled_tasks(4.0, Distance(3), 0.0, 10, 20, 2, stream(0, "rough"))
    assert found.shape == (20,)
    assert bool((found > 0).all())


CLASSES = (Affine(3), ReLU(3, 2.0), Cosine(3, 2.0))


def crossed():
    M = {function: units(function.name) for function in CLASSES}
    return Transfer(M, {function: 5.0 + i for i, function in enumerate(CLASSES)}, 0.1, POINTS)


@pytest.mark.parametrize("tested", CLASSES)
@pytest.mark.parametrize("learned", CLASSES)
def test_each_loss_is_that_of_its_own_unit(learned, tested):
    found = crossed()
    M = found.units[learned]
    alone = losses(M, tested, 0.1)
    torch.testing.assert_close(found.trained(learned, tested).mean(0), alone)
    scale = M.diagonal(dim1=1, dim2=2).mean(1)
    torch.testing.assert_close(found.scale(learned), scale)
    as_window = losses(scale.view(-1, 1, 1) * EYE, tested, 0.1)
    torch.testing.assert_close(found.as_window(learned, tested).mean(0), as_window)
    best = found.windows[learned] * EYE[None]
    exact = float(losses(best, tested, 0.1))
    assert float(found.exact(learned, tested).mean()) == pytest.approx(exact)


def test_ratios_name_their_bases():
    found = crossed()
    affine, relu, cosine = CLASSES
    base = found.trained(affine, relu).mean(0)
    assert found.over_own(relu, relu).value == 1.0
    own = (base / found.trained(relu, relu).mean(0)).mean()
    assert found.over_own(affine, relu).value == pytest.approx(float(own))
    least = base.mean() / found.exact(relu, relu).mean()
    assert found.over_least(affine, relu).value == pytest.approx(float(least))
    exact = base.mean() / found.exact(affine, relu).mean()
    assert found.over_exact(affine, relu).value == pytest.approx(float(exact))
    window = (base / found.as_window(affine, relu).mean(0)).mean()
    assert found.over_window(affine, relu).value == pytest.approx(float(window))
    other = (base / found.as_window(cosine, relu).mean(0)).mean()
    assert found.over_window(affine, relu, cosine).value == pytest.approx(float(other))


def test_units_without_a_window_are_refused():
    M = {Affine(3): units("a"), ReLU(3): units("b")}
    with pytest.raises(ValueError, match="of the same classes"):
        Transfer(M, {Affine(3): 5.0}, 0.1, POINTS)
    unequal = {Affine(3): units("a"), ReLU(3): units("b", trials=5)}
    with pytest.raises(ValueError, match="one number of trials"):
        Transfer(unequal, {Affine(3): 5.0, ReLU(3): 5.0}, 0.1, POINTS)
    with pytest.raises(ValueError, match="sigma"):
        Transfer({Affine(3): units("a")}, {Affine(3): 5.0}, -0.1, POINTS)


def test_errors_are_those_of_one_class_at_a_time() -> None:
    B = low_rank_tasks.random_subspaces(2, 4, 2, stream(0, "B"))
    classes = [LowRankLink(B, link) for link in ("affine", "cosine")]
    units = {
        unit: torch.randn(2, 2, 3, 4, 4, generator=stream(0, unit), dtype=F64)
        for unit in attention.UNITS
    }
    found = transfer.errors(units, classes, Sphere(4), 5, 0.1, 7, stream(0, "tested"))
    for unit, row in ((unit, row) for unit in units for row in (0, 1)):
        prompt = draw(classes[row], Sphere(4), 5, 0.1, 1, (2, 7), stream(0, "tested"))
        alone = evaluation.mean_errors(units[unit][row], prompt, unit)
        assert torch.equal(found[unit][row], alone)


def test_a_fleet_that_is_not_at_all_rates_is_refused() -> None:
    with pytest.raises(ValueError, match="rates must divide the 3 runs"):
        transfer.start_and_ends(torch.zeros(3, 1, 2, 3, 3), 2)
    of_two = transfer.start_and_ends(torch.arange(8.0).view(4, 1, 2, 1, 1), 2)  # of two classes
    assert of_two.squeeze().tolist() == [[0, 1, 3], [4, 5, 7]]


def test_units_with_different_trials_are_refused() -> None:
    eye = torch.eye(3, dtype=F64)
    units = {"softmax": eye.expand(1, 2, 1, 3, 3), "linear": eye.expand(1, 3, 1, 3, 3)}
    law = LowRankLink(eye[:, :1], "linear")
    with pytest.raises(ValueError, match="one number of trials"):
        transfer.errors(units, [law], Sphere(3), 5, 0.1, 7, stream(0, "x"))


def test_errors_are_smoothed_over_records():
    M = torch.stack([units("first"), units("second")])  # two classes, four trials
    records = torch.stack([M, 2 * M, 3 * M], 2)
    found, plain = (
        transfer.smoothed_errors(records, Affine(3), 12, 0.1, stream(0, "smoothed"), keep=keep)
        for keep in (0.5, 0.0)
    )
    first, second, third = plain.unbind(2)
    torch.testing.assert_close(found[..., 0], first)
    torch.testing.assert_close(found[..., 2], first / 4 + second / 4 + third / 2)
    prompt = draw(Affine(3), Sphere(3), 12, 0.1, 4, (5, 4), stream(0, "smoothed"))
    missed = attention.predict(M[1], prompt) - prompt.target
    torch.testing.assert_close(first[1], missed.square().mean((0, 2)))
