"""Linear attention's closed form by second, independent routes: sampling, gradients, fits."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import attention, function_classes, prompts
from iclutils.window.covariates import Sphere
from iclutils.window.theory import linear_attention

F64 = torch.float64


def sampled_errors(function, M, n, sigma, size=20_000):
    """Squared errors of ``size`` prompts with one query each: no formula of the theory."""
    draws = stream(0, "test", "linear", n)
    prompt = prompts.draw(function, Sphere(function.d), n, sigma, 1, (size,), draws)
    return (attention.predict(M, prompt, "linear") - prompt.target).square().squeeze(-1)


def z_score(samples, expected):
    return float((samples.mean() - expected) / (samples.std() / len(samples) ** 0.5))


@pytest.mark.parametrize("d", [2, 5, 10])
def test_the_classes_coefficients(d):
    """By hand, with L = 2 and μ = E|w·x|.

    Affine: c₁ = L²/(3d), c₀ = L²/3. ReLU: half that c₁, for the odd part is (l₁ − l₂)/2, and
    c₀ = L²/3 + L²μ²/6.
    """
    mu = math.gamma(d / 2) / (math.sqrt(math.pi) * math.gamma((d + 1) / 2))
    affine, relu = (
        linear_attention.LinearUnit.of(f(d, 2.0))
        for f in (function_classes.Affine, function_classes.ReLU)
    )
    # closed forms on both sides; the ReLU's c₀ goes through a recursion, hence 1e-7
    assert math.isclose(affine.linear, 4 / (3 * d), rel_tol=1e-9)
    assert math.isclose(relu.linear, 4 / (6 * d), rel_tol=1e-9)
    assert math.isclose(affine.floor, 4 / 3, rel_tol=1e-9)
    assert math.isclose(relu.floor, 4 / 3 + 4 / (6 * d), rel_tol=1e-9)
    assert math.isclose(affine.mean, 4 / 3, rel_tol=1e-9)
    assert math.isclose(relu.mean, 4 / 3 + 4 * mu**2 / 6, rel_tol=1e-7)


@pytest.mark.parametrize(
    ("kind", "d", "n", "sigma"),
    [
        ("affine", 2, 5, 0.3),
        ("affine", 5, 20, 1.0),
        ("relu", 5, 20, 0.1),
    ],
)
def test_linear_loss_and_minimum_against_sampling(kind, d, n, sigma):
    """5 standard errors: 6e-7 false alarms a comparison."""
    function = function_classes.by_name(kind, d, 1.5)
    unit = linear_attention.LinearUnit.of(function)
    best = unit.minimiser(n, sigma) * torch.eye(d, dtype=F64)
    assert abs(z_score(sampled_errors(function, best, n, sigma), unit.minimum(n, sigma))) < 5
    M = best + 0.3 * torch.randn(d, d, generator=stream(1, "M"), dtype=F64) / n
    assert abs(z_score(sampled_errors(function, M, n, sigma), unit.loss(M, n, sigma))) < 5


@pytest.mark.parametrize("kind", ["affine", "relu"])
def test_a_constant_coordinate_against_sampling(kind):
    """5 standard errors: 6e-7 false alarms a comparison."""
    function = function_classes.by_name(kind, 5, 1.5)
    unit = linear_attention.LinearUnit.of(function)
    n, sigma = 20, 0.3
    masses = [unit.minimiser(n, sigma)] * 5 + [unit.constant_weight(n, sigma)]
    draws = stream(0, "test", "constant", kind)
    plain = prompts.draw(function, Sphere(5), n, sigma, 1, (20_000,), draws)
    x, query = (torch.nn.functional.pad(z, (0, 1), value=1.0) for z in (plain.x, plain.query))
    prompt = prompts.Prompt(x, plain.y, query, plain.target)
    answer = attention.predict(torch.diag(torch.tensor(masses, dtype=F64)), prompt, "linear")
    errors = (answer - prompt.target).square().squeeze(-1)
    assert abs(z_score(errors, unit.minimum_with_constant(n, sigma))) < 5
    assert unit.minimum_with_constant(n, sigma) < unit.minimum(n, sigma)


def test_linear_gradient_vanishes_at_the_minimiser():
    unit = linear_attention.LinearUnit.of(function_classes.ReLU(4))
    M = (unit.minimiser(30, 0.2) * torch.eye(4, dtype=F64)).requires_grad_()
    loss = unit.loss(M, 30, 0.2)
    (slope,) = torch.autograd.grad(loss, M)
    assert float(slope.abs().max()) < 1e-12  # rounding of a difference of terms of order 1
    # one value by two formulas, rounding apart
    assert math.isclose(float(loss.detach()), unit.minimum(30, 0.2), rel_tol=1e-12)


def test_lengths_and_noises_may_be_tensors():
    unit = linear_attention.LinearUnit.of(function_classes.ReLU(4))
    n = torch.tensor([5.0, 50.0], dtype=F64)
    found = unit.minimum(n, 0.2)
    assert found.tolist() == pytest.approx([unit.minimum(5, 0.2), unit.minimum(50, 0.2)])
    assert unit.excess(n, 0.2).tolist() == pytest.approx((found - unit.floor).tolist())


@pytest.mark.parametrize("nu", [1.0, 1.5])
def test_hills_linear_minimum_by_least_squares(nu):
    """Second route: fit diag(M) to sampled prompts; the fit's loss is the minimum + O(1/size)."""
    function = function_classes.Hills(nu, "frequency")
    n, sigma, size = 12, 0.2, 60_000
    prompt = prompts.draw(function, Sphere(2), n, sigma, 1, (size,), stream(8, "hills"))
    pooled = (prompt.y.unsqueeze(-2) @ prompt.x).squeeze(-2) * prompt.query.squeeze(-2)
    fit = torch.linalg.lstsq(pooled, prompt.target).solution
    errors = (pooled @ fit - prompt.target).square().squeeze(-1)
    # 5 standard errors: 6e-7 false alarms
    assert abs(z_score(errors, linear_attention.hills_minimum(nu, n, sigma))) < 5
    if nu == 1.0:
        unit = linear_attention.LinearUnit.of(function_classes.Hills(1.0))
        # sin π = 1e-16 in the formula for any ν
        assert math.isclose(
            unit.minimum(n, sigma), linear_attention.hills_minimum(1.0, n, sigma), rel_tol=1e-9
        )


def test_the_matrix_of_isotropic_tokens_is_the_units():
    d, n, sigma = 5, 13, 0.4
    function = function_classes.Affine(d, 1.7)
    eye = torch.eye(d, dtype=F64)
    tasks = 1.7**2 / 3 * eye / d
    label = linear_attention.sphere_label(tasks, sigma, offset=1.7**2 / 3)
    found = linear_attention.best_matrix(eye / d, tasks, label, n)
    mass = linear_attention.LinearUnit.of(function).minimiser(n, sigma)
    # one formula in two ways, rounding apart
    torch.testing.assert_close(found, mass * eye, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("law", ["gaussian", "sphere"])
def test_labels_are_the_moments_of_sampled_pairs(law):
    """The mean of y² x xᵀ, at six standard errors an entry: 2e-8 false alarms in nine."""
    d, sigma, count = 3, 0.4, 400_000
    draws = stream(0, "labels", law)
    root = torch.diag(torch.tensor([1.0, 0.7, 0.4], dtype=F64))
    z = torch.randn(count, d, generator=draws, dtype=F64)
    x = z @ root if law == "gaussian" else z / z.norm(dim=-1, keepdim=True)
    slope = torch.tensor([0.5, 1.0, 0.0], dtype=F64)
    w = torch.randn(count, d, generator=draws, dtype=F64) * slope.sqrt()
    noise = torch.randn(count, generator=draws, dtype=F64)
    y = (w * x).sum(-1) + sigma * noise
    sampled = y.square()[:, None, None] * x[:, :, None] * x[:, None, :]
    tasks = torch.diag(slope)
    if law == "gaussian":
        found = linear_attention.gaussian_label(root @ root, tasks, sigma)
    else:
        found = linear_attention.sphere_label(tasks, sigma)
    se = sampled.std(0) / count**0.5
    assert bool(((sampled.mean(0) - found).abs() < 6 * se).all())


def test_refusals():
    unit = linear_attention.LinearUnit.of(function_classes.Affine(2))
    eye = torch.eye(2, dtype=F64)
    with pytest.raises(ValueError, match="sigma must be in"):
        unit.minimum(5, -1.0)
    with pytest.raises(ValueError, match="n must be"):
        unit.minimum(0, 1.0)
    with pytest.raises(ValueError, match="M must have shape"):
        unit.loss(torch.eye(3, dtype=F64), 5, 1.0)
    with pytest.raises(ValueError, match="nu must be"):
        linear_attention.hills_minimum(-1.0, 5, 0.1)
    with pytest.raises(ValueError, match="label must have shape"):
        linear_attention.best_matrix(eye, eye, torch.eye(3, dtype=F64), 5)
    with pytest.raises(ValueError, match="offset must be"):
        linear_attention.sphere_label(eye, 0.1, -1.0)


def test_the_plain_average_by_sampling():
    function, n, sigma = function_classes.ReLU(3), 7, 0.4
    draws = stream(0, "test", "average")
    prompt = prompts.draw(function, Sphere(3), n, sigma, 1, (40_000,), draws)
    errors = (prompt.y.mean(-1) - prompt.target[:, 0]).square()
    # 5 standard errors: 6e-7 false alarms
    assert abs(z_score(errors, linear_attention.LinearUnit.of(function).average(n, sigma))) < 5


def test_the_share_that_training_misses():
    """All of the gain at M = 0, none at the minimiser, a quarter half way between the two."""
    unit = linear_attention.LinearUnit.of(function_classes.Affine(4))
    best = unit.minimiser(30, 0.2) * torch.eye(4, dtype=F64)
    for share, M in ((1.0, 0 * best), (0.0, best), (0.25, best / 2)):
        found = unit.missed(unit.loss(torch.stack([M, M]), 30, 0.2), 30, 0.2)
        assert found.value == pytest.approx(share, abs=1e-12)
        assert found.se == pytest.approx(0, abs=1e-12)


def test_the_minimum_approaches_its_floor_and_no_other_limit():
    unit = linear_attention.LinearUnit.of(function_classes.ReLU(5))
    for n in (1e5, 1e6):
        left = linear_attention.next_term(5, unit.power, unit.linear, 0.1, n)
        assert abs(unit.approach(unit.floor, n, 0.1) - 1) < left
        assert abs(unit.approach(unit.floor - 0.01, n, 0.1) - 1) > 100


def test_what_the_constant_gains_grows_to_the_offsets_share_and_not_beyond():
    unit = linear_attention.LinearUnit.of(function_classes.ReLU(4))
    n, sigma = 200.0, 0.3
    apart = math.log(unit.minimum(n, sigma)) - math.log(unit.minimum_with_constant(n, sigma))
    assert unit.constant_gain(n, sigma) == pytest.approx(apart)
    limit = unit.floor / (unit.floor - unit.mean)
    # the last n is 1e7: what is left of the lower minimum, relative, at first order in 1/n
    left = (unit.d + 1) * (unit.power + sigma**2) / ((unit.floor - unit.mean) * 1e7)
    assert unit.largest_constant_gain(sigma) == pytest.approx(limit, rel=left)
    assert unit.largest_constant_gain(sigma) < limit
    assert math.exp(unit.constant_gain(5.0, sigma)) < unit.largest_constant_gain(sigma)


def test_with_the_constant_the_minimum_of_affine_tasks_falls_as_one_over_n():
    unit = linear_attention.LinearUnit.of(function_classes.Affine(3))
    for n in (1e5, 1e6):
        left = linear_attention.next_term(3, unit.power, min(unit.linear, unit.mean), 0.2, n)
        assert abs(unit.constant_approach(n, 0.2) - 1) < left
    kinks = linear_attention.LinearUnit.of(function_classes.ReLU(3))  # with an even part
    assert kinks.constant_approach(1e6, 0.2) > 100
