"""The softmax unit with a free value weight, each moment by a second, independent route."""

import dataclasses
import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import attention, function_classes, prompts
from iclutils.window.covariates import Sphere
from iclutils.window.theory import linear_attention, population_loss, value_weight
from iclutils.window.theory.best_window import log_grid

F64 = torch.float64


def z_score(samples, expected):
    return float((samples.mean() - expected) / (samples.std() / len(samples) ** 0.5))


def joint_se(first, second):
    return math.hypot(*(float(s.std()) / len(s) ** 0.5 for s in (first, second)))


@pytest.mark.parametrize("kind", ["affine", "relu", "cosine"])
@pytest.mark.parametrize(("d", "n", "w"), [(2, 7, 3.0), (5, 20, 8.0)])
def test_softmax_loss_against_sampling(kind, d, n, w):
    function = function_classes.by_name(kind, d, 2.0)
    sigma = 0.3
    both = torch.tensor([0.0, w], dtype=F64)
    draws = stream(2, kind, n)
    (exact,) = value_weight.windows([function], n, both, contexts=2000, generator=draws)
    prompt = prompts.draw(function, Sphere(d), n, sigma, 1, (20_000,), stream(3, kind, n))
    answer = attention.predict(w * torch.eye(d, dtype=F64), prompt)
    for weight in (1.0, 0.8):
        errors = (weight * answer - prompt.target).square().squeeze(-1)
        loss = exact.loss(sigma, weight)[:, 1]
        # 12 comparisons at 5 standard errors: 7e-6 false alarms
        assert abs(float(errors.mean() - loss.mean())) < 5 * joint_se(errors, loss)


def test_plain_average_in_closed_form():
    """w = 0: variance of a mean of n labels, plus the class's own: (F − c₀)(1 + 1/n) + σ²/n."""
    function = function_classes.ReLU(3)
    unit = linear_attention.LinearUnit.of(function)
    zero = torch.zeros(2, dtype=F64)
    (exact,) = value_weight.windows([function], 11, zero, contexts=2000, generator=stream(4, "w0"))
    loss = exact.loss(0.5)[:, 0]
    # 5 standard errors: 6e-7 false alarms
    assert abs(z_score(loss, (unit.power - unit.mean) * (1 + 1 / 11) + 0.25 / 11)) < 5


@pytest.mark.parametrize("kind", ["affine", "relu", "cosine"])
def test_value_weight_one_is_the_population_loss(kind):
    """Second route: the loss kept by degree, on other contexts."""
    function = function_classes.by_name(kind, 5)
    n = 30
    w = torch.tensor([0.0, 0.5, 4.0, 20.0], dtype=F64)
    (exact,) = value_weight.windows([function], n, w, contexts=2000, generator=stream(5, kind))
    kept = population_loss.sampled(5, n, stream(6, kind), contexts=2000)
    other, se = kept.at(function, 0.3, w)
    mine = exact.loss(0.3)
    # 12 comparisons at 5 standard errors: 7e-6 false alarms
    width = 5 * (se**2 + mine.var(0) / len(mine)).sqrt()
    assert bool(((mine.mean(0) - other).abs() < width).all())


def test_the_best_value_weight_is_stationary():
    (found,) = value_weight.windows(
        [function_classes.ReLU(4)],
        20,
        log_grid(0.1, 100, 10),
        contexts=64,
        generator=stream(0, "c"),
    )
    c = found.value_weight(0.4).requires_grad_()
    (slope,) = torch.autograd.grad(found.loss(0.4, c).mean(0).sum(), c)
    assert float(slope.abs().max()) < 1e-12  # rounding of a difference of terms of order 1


def test_scaled_labels_scale_the_loss():
    (found,) = value_weight.windows(
        [function_classes.Affine(3)],
        10,
        log_grid(0.1, 100, 10),
        contexts=64,
        generator=stream(0, "L"),
    )
    torch.testing.assert_close(found.scaled(3.0).loss(0.6), 9 * found.loss(0.2))


def test_best_window_is_a_stationary_point_of_the_fine_curve():
    function = function_classes.Affine(5)
    sigma = 0.5

    def on(grid):
        draws = stream(6, "best")
        (found,) = value_weight.windows([function], 50, grid, contexts=200, generator=draws)
        return found

    coarse = on(log_grid())
    found = coarse.best(sigma)
    fine = torch.linspace(0.5 * found.w, 1.5 * found.w, 201, dtype=F64)
    loss = on(fine).loss(sigma).mean(0)
    # steps of 0.16 in log w: a parabola is right to their cube in the place, 0.4 %, and to their
    # fourth power in the loss, 7e-4; the fine grid has steps of 0.5 %
    assert abs(float(fine[loss.argmin()]) / found.w - 1) < 0.02
    assert abs(float(loss.min()) / found.loss - 1) < 1e-3
    free = coarse.best(sigma, free=True)
    assert free.loss <= found.loss
    assert found.value_weight == 1
    at_best = int((coarse.w - free.w).abs().argmin())
    assert free.value_weight == pytest.approx(float(coarse.value_weight(sigma)[at_best]))


def test_boundary_is_the_variance_of_the_mean():
    """Where noise forces averaging, softmax pays F − c₀ + u and linear attention nearly F."""
    n = 100

    def moments(function):
        draws = stream(10, "boundary")
        (found,) = value_weight.windows([function], n, log_grid(), contexts=64, generator=draws)
        return linear_attention.LinearUnit.of(function), found

    unit, exact = moments(function_classes.Affine(5))
    root = value_weight.boundary(unit, exact, n)
    assert abs(root.value / unit.mean - 1) < 0.05  # what linear attention and windows still gain
    assert 0 < root.se < 0.01
    below, above = (
        value_weight.advantage(unit, exact, n, (share * root.value * n) ** 0.5).value
        for share in (0.8, 1.2)
    )
    assert below > 0 > above
    assert value_weight.boundary(unit, exact, n, free=True) == (math.inf, 0.0, 63)
    unit, exact = moments(function_classes.Affine(5, offset=False))
    assert value_weight.boundary(unit, exact, n) == (0.0, 0.0, 63)


@pytest.mark.parametrize("nu", [0.0, 1.5, 6.0])
def test_hills_frequency_against_sampling(nu):
    function = function_classes.Hills(nu, "frequency")
    n, sigma = 12, 0.2
    both = torch.tensor([0.0, 5.0], dtype=F64)
    exact = value_weight.hills_windows(nu, n, both, contexts=2000, generator=stream(7, "hills"))
    draws = stream(0, "test", "softmax", n)
    prompt = prompts.draw(function, Sphere(2), n, sigma, 1, (20_000,), draws)
    answer = attention.predict(5 * torch.eye(2, dtype=F64), prompt)
    errors = (answer - prompt.target).square().squeeze(-1)
    loss = exact.loss(sigma)[:, 1]
    # 3 comparisons at 5 standard errors: 2e-6 false alarms
    assert abs(float(errors.mean() - loss.mean())) < 5 * joint_se(errors, loss)


def test_refusals():
    def draw(classes, contexts):
        generator = stream(0, "r")
        return value_weight.windows(classes, 5, log_grid(), contexts=contexts, generator=generator)

    with pytest.raises(ValueError, match=r"share one d; got \[2, 3\]"):
        draw([function_classes.Affine(2), function_classes.Affine(3)], 64)
    with pytest.raises(ValueError, match="contexts must be at least 32"):
        draw([function_classes.Affine(2)], 4)
    with pytest.raises(ValueError, match="sigma must be"):
        draw([function_classes.Affine(2)], 32)[0].best(-0.1)
    with pytest.raises(ValueError, match="nu must be"):
        value_weight.hills_windows(-1.0, 5, log_grid(), contexts=32, generator=stream(0, "r"))


def test_an_expansion_goes_up_to_its_degree():
    """Affine tasks are all of degree 1."""
    w = log_grid(0.3, 30, 10)
    one, many = (
        value_weight.windows(
            [function_classes.Affine(3)],
            10,
            w,
            contexts=64,
            generator=stream(0, "degree"),
            degree=degree,
        )[0]
        for degree in (1, 20)
    )
    for name in ("A", "B", "N"):
        torch.testing.assert_close(getattr(one, name), getattr(many, name))


def test_a_noticeable_slope_gains_a_thousandth_of_the_loss():
    loss, square = 0.4, 2.5
    slope = value_weight.noticeable_slope(loss, square)
    v = torch.linspace(-1, 1, 20_001, dtype=torch.float64)
    least = float((loss - 2 * slope * v + square * v**2).min())
    assert least == pytest.approx(0.999 * loss, rel=1e-6)  # v to 1e-4
    with pytest.raises(ValueError, match="square"):
        value_weight.noticeable_slope(0.4, -1.0)


def test_what_a_fixed_value_weight_costs():
    """At least nothing, with an error that falls as the contexts are more."""
    tasks, w = [function_classes.Affine(3)], log_grid(0.1, 1000, 30)
    few, many = (
        value_weight.windows(tasks, 20, w, contexts=count, generator=stream(9, "cost", count))[0]
        for count in (64, 1024)
    )
    costs = [found.cost(1.0) for found in (few, many)]
    assert costs[0].dof == costs[1].dof == value_weight.GROUPS - 1
    assert costs[1].se < costs[0].se
    by_weight = (many.loss(1.0, many.value_weight(1.0)), many.loss(1.0))
    free, fixed = (float(loss.mean(0).min()) for loss in by_weight)
    assert costs[1].value == pytest.approx(fixed / free)
    assert costs[1].value > 1
    assert many.cost(1.0, c=0.2).value > costs[1].value


def test_the_advantage_is_over_linear_attention_with_a_constant_where_it_has_one():
    function = function_classes.Affine(4)
    (exact,) = value_weight.windows(
        [function], 50, log_grid(), contexts=64, generator=stream(0, "test", "constant")
    )
    unit = linear_attention.LinearUnit.of(function)
    without, with_constant = (
        value_weight.advantage(unit, exact, 50, 0.3, constant=constant)
        for constant in (False, True)
    )
    gain = unit.constant_gain(50, 0.3)
    assert without.value - with_constant.value == pytest.approx(gain)
    plain = math.log(unit.minimum_with_constant(50, 0.3)) - exact.log_minimum(0.3)
    assert with_constant == (pytest.approx(plain.value), plain.se, plain.dof)
    nothing = dataclasses.replace(unit, power=0.0, linear=0.0, mean=0.0)  # tasks f = 0
    assert value_weight.advantage(nothing, exact, 50, 0.3).value == pytest.approx(math.log(1e-9))
