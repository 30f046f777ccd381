"""Linear attention's closed form and the softmax unit's exact loss, each by a second, independent route."""

import math

import pytest
import torch

from iclutils import attention, functions, population, prompts
from iclutils import population_linear as linear
from iclutils import population_value as window
from iclutils.covariates import Sphere
from iclutils.randomness import stream

EYE = torch.eye


def sampled_errors(function, M, n, sigma, unit, size=20_000, seed=0):
    """Squared errors of ``size`` independent prompts with one query each: no formula of the theory wing."""
    prompt = prompts.draw(function, Sphere(function.d), n, sigma, 1, (size,), stream(seed, "test", unit, n))
    return (attention.predict(M, prompt, unit) - prompt.target).square().squeeze(-1)


def z_score(samples, expected):
    return float((samples.mean() - expected) / (samples.std() / len(samples) ** 0.5))


@pytest.mark.parametrize("d", [2, 5, 10])
def test_the_classes_coefficients(d):
    """By hand: c₁ = L²/(3d) for affine; for ReLU half of it (the odd part (l₁ − l₂)/2) and c₀ = L²/3 + L²μ²/6, μ = E|w·x|."""
    mu = math.gamma(d / 2) / (math.sqrt(math.pi) * math.gamma((d + 1) / 2))
    affine, relu = (linear.LinearUnit.of(f(d, 2.0)) for f in (functions.Affine, functions.ReLU))
    assert math.isclose(affine.linear, 4 / (3 * d), rel_tol=1e-9)
    assert math.isclose(relu.linear, 4 / (6 * d), rel_tol=1e-9)
    assert math.isclose(affine.floor, 4 / 3, rel_tol=1e-9)
    assert math.isclose(relu.floor, 4 / 3 + 4 / (6 * d), rel_tol=1e-9)
    assert math.isclose(affine.mean, 4 / 3, rel_tol=1e-9)
    assert math.isclose(relu.mean, 4 / 3 + 4 * mu**2 / 6, rel_tol=1e-7)


@pytest.mark.parametrize(("kind", "d", "n", "sigma"), [("affine", 2, 5, 0.3), ("affine", 5, 20, 1.0), ("relu", 5, 20, 0.1)])
def test_linear_loss_and_minimum_against_sampling(kind, d, n, sigma):
    """5 standard errors: 6e-7 false alarms a comparison."""
    function = functions.by_name(kind, d, 1.5)
    unit = linear.LinearUnit.of(function)
    best = unit.minimiser(n, sigma) * EYE(d, dtype=torch.float64)
    assert abs(z_score(sampled_errors(function, best, n, sigma, "linear"), unit.minimum(n, sigma))) < 5
    M = best + 0.3 * torch.randn(d, d, generator=stream(1, "M"), dtype=torch.float64) / n
    assert abs(z_score(sampled_errors(function, M, n, sigma, "linear"), unit.loss(M, n, sigma))) < 5


def test_linear_gradient_vanishes_at_the_minimiser():
    unit = linear.LinearUnit.of(functions.ReLU(4))
    M = (unit.minimiser(30, 0.2) * EYE(4, dtype=torch.float64)).requires_grad_()
    loss = unit.loss(M, 30, 0.2)
    slope, = torch.autograd.grad(loss, M)
    assert float(slope.abs().max()) < 1e-12
    assert math.isclose(float(loss.detach()), unit.minimum(30, 0.2), rel_tol=1e-12)


@pytest.mark.parametrize("kind", ["affine", "relu", "cosine"])
@pytest.mark.parametrize(("d", "n", "w"), [(2, 7, 3.0), (5, 20, 8.0)])
def test_softmax_loss_against_sampling(kind, d, n, w):
    function, sigma, c = functions.by_name(kind, d, 2.0), 0.3, 0.8
    exact, = window.windows([function], n, torch.tensor([0.0, w], dtype=torch.float64), contexts=2000,
                            generator=stream(2, kind, n))
    prompt = prompts.draw(function, Sphere(d), n, sigma, 1, (20_000,), stream(3, kind, n))
    answer = attention.predict(w * EYE(d, dtype=torch.float64), prompt)
    for weight in (1.0, c):
        errors = (weight * answer - prompt.target).square().squeeze(-1)
        loss = exact.loss(sigma, weight)[:, 1]
        se = math.hypot(float(errors.std()) / len(errors) ** 0.5, float(loss.std()) / len(loss) ** 0.5)
        assert abs(float(errors.mean() - loss.mean())) < 5 * se


def test_plain_average_in_closed_form():
    """w = 0: variance of a mean of n labels, plus the class's own: (F − c₀)(1 + 1/n) + σ²/n."""
    function = functions.ReLU(3)
    unit = linear.LinearUnit.of(function)
    exact, = window.windows([function], 11, torch.zeros(2, dtype=torch.float64), contexts=2000, generator=stream(4, "w0"))
    loss = exact.loss(0.5)[:, 0]
    assert abs(z_score(loss, (unit.power - unit.mean) * (1 + 1 / 11) + 0.25 / 11)) < 5


@pytest.mark.parametrize("kind", ["affine", "relu", "cosine"])
def test_value_weight_one_is_the_population_loss(kind):
    """Second route: the loss kept by degree, in :mod:`iclutils.population`, on other contexts."""
    function, n, w = functions.by_name(kind, 5), 30, torch.tensor([0.0, 0.5, 4.0, 20.0], dtype=torch.float64)
    exact, = window.windows([function], n, w, contexts=2000, generator=stream(5, kind))
    other, se = population.sampled(5, n, stream(6, kind), contexts=2000).at(function, 0.3, w)
    mine = exact.loss(0.3)
    width = 5 * (se**2 + mine.var(0) / len(mine)).sqrt()
    assert bool(((mine.mean(0) - other).abs() < width).all())


def test_boundary_is_the_variance_of_the_mean():
    """Where noise forces averaging, softmax pays F − c₀ + u and linear attention F less its small gain: u* = c₀ to a few %."""
    function, n = functions.Affine(5), 100
    unit = linear.LinearUnit.of(function)
    exact, = window.windows([function], n, window.grid(), contexts=64, generator=stream(10, "boundary"))
    root, se = window.boundary(unit, exact, n)
    assert abs(root / unit.mean - 1) < 0.05
    assert 0 < se < 0.01
    below, above = (window.advantage(unit, exact, n, (share * root * n) ** 0.5)[0] for share in (0.8, 1.2))
    assert below > 0 > above
    assert window.boundary(unit, exact, n, free=True) == (math.inf, 0.0)
    bare = functions.Affine(5, offset=False)
    exact, = window.windows([bare], n, window.grid(), contexts=64, generator=stream(10, "boundary"))
    assert window.boundary(linear.LinearUnit.of(bare), exact, n) == (0.0, 0.0)


def test_best_window_is_a_stationary_point_of_the_fine_curve():
    function, sigma = functions.Affine(5), 0.5
    coarse, = window.windows([function], 50, window.grid(), contexts=200, generator=stream(6, "best"))
    found = coarse.best(sigma)
    fine = torch.linspace(0.5 * found.w, 1.5 * found.w, 201, dtype=torch.float64)
    dense, = window.windows([function], 50, fine, contexts=200, generator=stream(6, "best"))
    loss = dense.loss(sigma).mean(0)
    assert abs(float(fine[loss.argmin()]) / found.w - 1) < 0.02
    assert abs(float(loss.min()) / found.loss - 1) < 1e-3
    assert coarse.best(sigma, free=True).loss <= found.loss


@pytest.mark.parametrize("nu", [0.0, 1.5, 6.0])
def test_hills_frequency_against_sampling(nu):
    function, n, sigma = functions.Hills(nu, "frequency"), 12, 0.2
    exact = window.hills_windows(nu, n, torch.tensor([0.0, 5.0], dtype=torch.float64), contexts=2000,
                                 generator=stream(7, "hills"))
    errors = sampled_errors(function, 5 * EYE(2, dtype=torch.float64), n, sigma, "softmax")
    loss = exact.loss(sigma)[:, 1]
    se = math.hypot(float(errors.std()) / len(errors) ** 0.5, float(loss.std()) / len(loss) ** 0.5)
    assert abs(float(errors.mean() - loss.mean())) < 5 * se


@pytest.mark.parametrize("nu", [1.0, 1.5])
def test_hills_linear_minimum_by_least_squares(nu):
    """Second route: fit diag(M) to sampled prompts by least squares; the fit's loss is the minimum up to O(1/size)."""
    function, n, sigma, size = functions.Hills(nu, "frequency"), 12, 0.2, 60_000
    prompt = prompts.draw(function, Sphere(2), n, sigma, 1, (size,), stream(8, "hills"))
    features = (prompt.y.unsqueeze(-2) @ prompt.x).squeeze(-2) * prompt.query.squeeze(-2)
    fit = torch.linalg.lstsq(features, prompt.target).solution
    errors = (features @ fit - prompt.target).square().squeeze(-1)
    assert abs(z_score(errors, linear.hills_minimum(nu, n, sigma))) < 5
    if nu == 1.0:
        unit = linear.LinearUnit.of(functions.Hills(1.0))
        assert math.isclose(unit.minimum(n, sigma), linear.hills_minimum(1.0, n, sigma), rel_tol=1e-9)


def test_new_classes_are_lipschitz_and_covary_as_stated():
    generator = stream(9, "classes")
    rough = functions.Distance(4, 2.0, 16)
    x = functions.directions((200, 2), 4, generator)
    value = rough.evaluate(rough.sample((200,), generator), x)
    assert bool(((value[:, 0] - value[:, 1]).abs() <= 2.0 * (x[:, 0] - x[:, 1]).norm(dim=-1) + 1e-12).all())
    for hills in (functions.Hills(6.0), functions.Hills(6.0, "frequency")):
        pair = functions.directions((2,), 2, generator).expand(40_000, 2, 2)
        value = hills.evaluate(hills.sample((40_000,), generator), pair)
        product = value[:, 0] * value[:, 1]
        assert abs(z_score(product, hills.covariance((pair[0, 0] * pair[0, 1]).sum()))) < 5
    with pytest.raises(ValueError, match="nu must be whole"):
        functions.Hills(1.5, "frequency").covariance(torch.tensor(0.5))


def test_refusals():
    with pytest.raises(ValueError, match="share one d"):
        window.windows([functions.Affine(2), functions.Affine(3)], 5, window.grid(), contexts=64, generator=stream(0, "r"))
    with pytest.raises(ValueError, match="contexts must be at least 32"):
        window.windows([functions.Affine(2)], 5, window.grid(), contexts=4, generator=stream(0, "r"))
    with pytest.raises(ValueError, match="sigma must be finite"):
        linear.LinearUnit.of(functions.Affine(2)).minimum(5, -1.0)
    with pytest.raises(KeyError, match="reading must be one of"):
        functions.Hills(1.0, "height")
