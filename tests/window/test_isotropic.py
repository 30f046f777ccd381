"""The exact loss: closed forms against quadrature and Monte Carlo, and the minimiser against second routes."""

import math

import numpy as np
import pytest
import torch

from iclutils import covariates, functions, population, population_matrix, prompts, sphere
from iclutils.randomness import stream
from iclutils.statistics import equal, mean_se

DEGREES = torch.arange(10)


def zonal_quadrature(d: int, points: int = 400) -> tuple[torch.Tensor, torch.Tensor]:
    """Nodes t and weights of the law of t = x·y: Gauss–Legendre in the angle."""
    u, weight = (torch.as_tensor(a) for a in np.polynomial.legendre.leggauss(points))
    theta = math.pi * (u + 1) / 2
    weight = weight * theta.sin() ** (d - 2)
    return theta.cos(), weight / weight.sum()


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_gegenbauer_is_one_at_one_and_orthogonal(d: int) -> None:
    t, weight = zonal_quadrature(d)
    P = sphere.gegenbauer(t, d, DEGREES)
    gram = (P * weight.unsqueeze(-1)).mT @ P
    torch.testing.assert_close(gram, torch.diag(1 / functions._multiplicity(DEGREES.double(), d)), atol=1e-12, rtol=1e-10)
    assert sphere.gegenbauer(torch.ones(1).double(), d, DEGREES).tolist() == [pytest.approx([1.0] * 10)]
    mixed = sphere.gegenbauer(t, d, torch.tensor([4, 1, 4]))
    torch.testing.assert_close(mixed, P[:, [4, 1, 4]])


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_tilted_averages_equal_quadrature(d: int) -> None:
    t, weight = zonal_quadrature(d)
    w = torch.tensor([0.0, 1e-5, 0.3, 4.0, 60.0], dtype=torch.float64)
    tilt = torch.exp(w.unsqueeze(-1) * (t - 1)) * weight
    torch.testing.assert_close(sphere.log_partition(w, d), tilt.sum(-1).log() + w, atol=1e-10, rtol=1e-9)
    direct = tilt @ sphere.gegenbauer(t, d, DEGREES) / tilt.sum(-1, keepdim=True)
    torch.testing.assert_close(sphere.tilted_average(w, d, DEGREES), direct, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("d", [2, 3, 5, 10])
@pytest.mark.parametrize("function", [functions.Affine, functions.ReLU, functions.Cosine])
def test_spectrum_is_the_gegenbauer_expansion_of_the_covariance(d: int, function: type) -> None:
    one = function(d, 2.3)
    t, weight = zonal_quadrature(d)
    projected = functions._multiplicity(DEGREES.double(), d) * ((one.covariance(t) * weight) @ sphere.gegenbauer(t, d, DEGREES))
    # rounding 1e-15 is multiplied by N_k, at most 5·10⁴ here
    torch.testing.assert_close(one.spectrum(DEGREES), projected, atol=1e-9, rtol=1e-8)
    total = one.spectrum(torch.arange(300)).sum()
    # the tail of the ReLU's c_k ~ k^-4 beyond 300 is below 1e-6
    assert float(total) == pytest.approx(float(one.covariance(torch.ones(()).double())), abs=2e-6)


def test_cap_area() -> None:
    # on the circle the cap t >= 1 − ε is an arc of angle 2·arccos(1 − ε); on S² its area is linear in ε
    epsilon = torch.tensor([0.0, 0.1, 0.7, 1.0], dtype=torch.float64)
    torch.testing.assert_close(sphere.cap_area(epsilon, 2), (1 - epsilon).arccos() / math.pi)
    torch.testing.assert_close(sphere.cap_area(epsilon, 3), epsilon / 2)


@pytest.mark.parametrize("function", [functions.Affine(4, 1.5), functions.ReLU(4, 1.5), functions.Cosine(4, 3.0)])
@pytest.mark.parametrize("w", [0.0, 2.0, 25.0])
def test_three_routes_to_the_loss(function: functions.Affine, w: float) -> None:
    """Rotations integrated out, tasks integrated out (given contexts), and plain prompts with sampled tasks and noise."""
    d, n, sigma = 4, 12, 0.3
    exact = population.sampled(d, n, stream(0, "exact"), contexts=4000)
    value, se = exact.at(function, sigma, w)
    prompt = prompts.draw(function, covariates.Sphere(d), n, sigma, 1, (8000,), stream(1, "prompts", int(w)))
    gamma = torch.softmax(w * prompt.x @ prompt.query.mT, dim=-2)
    signal, spread = population_matrix.context_loss(population_matrix.zonal(function), prompt.x, prompt.query, gamma)
    given, given_se = mean_se((signal + sigma**2 * spread).squeeze(-1))
    answer = (prompt.y.unsqueeze(-2) @ gamma).squeeze(-2)
    plain, plain_se = mean_se(((answer - prompt.target) ** 2).squeeze(-1))
    for other, other_se in ((given, given_se), (plain, plain_se)):
        # 18 comparisons at 4.5 standard errors: 1e-4 false alarms
        assert equal(float(other), float(value), se=math.hypot(float(se), float(other_se)), z=4.5)


def test_tail_beyond_the_last_degree_is_accounted_for() -> None:
    function = functions.ReLU(3)
    w = population.grid(50.0, 24)
    short, long = (population.sampled(3, 10, stream(0, "tail"), contexts=400, w=w, degrees=population.even_degrees(last))
                   for last in (48, 192))
    # the same contexts; with 6·√50 ≈ 42 the tail's P_k average out
    torch.testing.assert_close(short.signal(function), long.signal(function), rtol=2e-3, atol=0)


def test_large_n_reaches_the_closed_form() -> None:
    d, w = 3, population.grid(20.0, 24)
    exact = population.limit(d, 20_000, w=w)
    drawn = population.sampled(d, 20_000, stream(0, "large"), contexts=40, w=w, degrees=population.even_degrees(32))
    for function in (functions.Affine(d), functions.ReLU(d), functions.Cosine(d, 2.0)):
        # the closed form drops the signal's sampling variance, at most 2·K(1)·E Σγ²
        slack = 2 * float(function.covariance(torch.ones(()).double())) * exact.concentration[0] + 1e-4
        assert bool(((drawn.signal(function) - exact.signal(function)).abs() < slack).all())
    # E Σγ² fluctuates over 40 contexts of 20 000 tokens and has a relative bias of about E Σγ² itself
    torch.testing.assert_close(drawn.concentration.mean(0), exact.concentration[0], rtol=0.05, atol=0)


def test_best_window_is_a_minimum_of_the_loss_and_does_not_depend_on_the_grid() -> None:
    function = functions.ReLU(5)
    coarse = population.sampled(5, 20, stream(0, "grid"), contexts=2000)
    fine = population.sampled(5, 20, stream(0, "grid"), contexts=2000, w=population.grid(200.0, 181))
    for sigma in (0.01, 0.3, 1.0):
        best, other = coarse.best_window(function, sigma), fine.best_window(function, sigma)
        # the same contexts (chunks of another size regroup sums only); spline error h⁴ of the coarse grid
        assert best.w == pytest.approx(other.w, rel=3e-3)
        around = fine.at(function, sigma, torch.tensor([0.8 * other.w, other.w, 1.25 * other.w]))[0]
        assert float(around[1]) < min(float(around[0]), float(around[2]))


def test_loss_of_an_affine_class_by_hand() -> None:
    # n = 1: the weight is 1 whatever w, so the loss is E(f(x₁) − f(x))² + σ² = 2L²/(3d) + σ²
    one = population.sampled(6, 1, stream(0, "hand"), contexts=40_000)
    loss, se = one.at(functions.Affine(6, 2.0), 0.5, 3.0)
    assert equal(float(loss), 2 * 4 / 18 + 0.25, se=float(se), tol=1e-12)
    assert float(one.noise(0.5)[7]) == pytest.approx(0.25)


def test_even_classes_switch_off() -> None:
    """The cosine loss is even in w, so that w = 0 is stationary, and the minimum for small L or large σ."""
    exact = population.sampled(5, 20, stream(0, "even"), contexts=2000)
    assert exact.best_window(functions.Cosine(5, 1.0), 1.0).w == 0.0
    assert exact.best_window(functions.Cosine(5, 0.1), 0.1).w == 0.0
    assert exact.best_window(functions.Cosine(5, 1.0), 0.01).w > 5


def test_gradient_flows_through_the_weights() -> None:
    function = functions.Affine(3)
    x = covariates.sample(covariates.Sphere(3), (50, 6), stream(0, "x"))
    M = torch.eye(3, dtype=torch.float64, requires_grad=True)
    gamma = torch.softmax(x[:, :5] @ M @ x[:, 5:].mT, dim=-2)
    signal, _ = population_matrix.context_loss(population_matrix.zonal(function), x[:, :5], x[:, 5:], gamma)
    gradient, = torch.autograd.grad(signal.mean(), M)
    assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: population.sampled(1, 5, stream(0, "x")), ValueError, ["d", "1"]),
    (lambda: population.sampled(3, 0, stream(0, "x")), ValueError, ["n", "0"]),
    (lambda: population.limit(3, 5, w=torch.tensor([1.0, 0.5, 2.0, 3.0])), ValueError, ["w", "rising"]),
    (lambda: population.limit(3, 5).loss(functions.Affine(4), 0.1), ValueError, ["d = 3", "d = 4"]),
    (lambda: population.limit(3, 5).loss(functions.Affine(3), -0.1), ValueError, ["sigma", "-0.1"]),
    (lambda: population.limit(3, 5, w=population.grid(2.0)).best_window(functions.Affine(3), 0.01), ValueError, ["beyond", "2"]),
    (lambda: population.limit(3, 5).at(functions.Affine(3), 0.1, 1e4), ValueError, ["w", "1000"]),
    (lambda: sphere.log_partition(torch.tensor([-1.0]), 3), ValueError, ["w", "-1"]),
    (lambda: sphere.tilted_average(torch.tensor([float("nan")]), 3, DEGREES), ValueError, ["w", "NaN"]),
])
def test_bad_input_is_refused(call, error, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_sampling_term_of_the_closed_form() -> None:
    """The order 1/n of the signal by the delta method, against drawn contexts; the next order is (E Σγ²)²."""
    d, n, w = 4, 200, population.grid(8.0, 16)
    exact, bare = population.limit(d, n, w=w, sampling=True), population.limit(d, n, w=w)
    drawn = population.sampled(d, n, stream(0, "delta"), w=w, contexts=2000)
    for function in (functions.Affine(d), functions.ReLU(d), functions.Cosine(d, 2.0)):
        value, se = drawn.at(function, 0.0, w)
        power = float(function.covariance(torch.ones(()).double()))
        assert bool(((value - exact.signal(function)).abs() < 5 * se + 4 * power * exact.concentration[0] ** 2).all())
        assert float(((value - bare.signal(function)) / se).max()) > 20


def test_comparison_on_common_contexts_is_sharper_than_the_two_errors() -> None:
    exact = population.sampled(5, 20, stream(0, "pairs"), contexts=2000)
    first, second = (exact.best_window(functions.ReLU(5, L), 0.01) for L in (3.0, 10.0))
    gap, se = population.compare(first, second)
    assert gap == pytest.approx(math.log(second.w / first.w))
    assert 0 < 4 * se < gap
    assert se < 0.1 * math.hypot(first.w_se / first.w, second.w_se / second.w)


def test_power_extrapolates_square_root_corrections() -> None:
    w = torch.logspace(0, 5, 120, dtype=torch.float64)
    value, error = population.power(w, w**-1.5 * (1 + 3 / w.sqrt()))
    assert value == pytest.approx(-1.5, abs=2e-3)
    assert abs(value + 1.5) < 3 * error + 1e-4


@pytest.mark.parametrize("d", [2, 3, 6])
def test_best_window_exponents_of_the_closed_form(d: int) -> None:
    # classical: smooth tasks w^{-2} against noise w^{(d-1)/2}, tasks with a kink w^{-3/2}
    w = torch.logspace(-0.5, 5, 110, dtype=torch.float64)
    exact = population.limit(d, 1, w=w)
    for function, expected in ((functions.Affine(d), (d + 3) / 2), (functions.ReLU(d), (d + 2) / 2)):
        value, error = population.power(w, exact.optimal_for(function))
        assert abs(value - expected) < 3 * error + 5e-3
        at = float(exact.optimal_for(function)[50])
        assert exact.best_window(function, at**-0.5).w == pytest.approx(float(w[50]), rel=1e-3)


def test_best_matrix_finds_the_whitening() -> None:
    """Affine tasks in whitened coordinates: the minimiser is the one of isotropic tokens, pulled back exactly."""
    root = torch.diag(torch.tensor([1.0, 2.0], dtype=torch.float64))
    u = covariates.sample(covariates.Sphere(2), (3, 60, 7), stream(0, "u"))
    x, eye = u @ root, torch.eye(2, dtype=torch.float64).expand(3, 2, 2)
    inverse = torch.linalg.inv(root @ root)
    plain = population_matrix.best_matrix(population_matrix.zonal(functions.Affine(2)), u[..., :6, :], u[..., 6:, :], 0.3, eye)
    white = population_matrix.best_matrix(lambda a, b: (1 + a @ inverse @ b.mT / 2) / 3, x[..., :6, :], x[..., 6:, :], 0.3, eye)
    torch.testing.assert_close(root @ white @ root, plain, rtol=1e-4, atol=1e-4)
