"""The exact loss with a whole matrix M, and its minimiser."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import covariates, function_classes
from iclutils.window.theory import full_matrix

F64 = torch.float64


def tokens(sets, contexts, n, d, *role):
    return covariates.sample(covariates.Sphere(d), (sets, contexts, n), stream(0, *role))


def eyes(sets, d):
    return torch.eye(d, dtype=F64).expand(sets, d, d)


def test_several_queries_of_several_contexts_are_each_as_alone():
    x = tokens(1, 3, 9, 4, "several")[0]
    context, query = x[..., :4, :], x[..., 4:, :]
    gamma = torch.softmax(context @ query.mT, -2)
    covariance = full_matrix.zonal(function_classes.ReLU(4))
    found = full_matrix.context_loss(covariance, context, query, gamma)
    for q in range(5):
        one = slice(q, q + 1)
        alone = full_matrix.context_loss(covariance, context, query[..., one, :], gamma[..., one])
        torch.testing.assert_close(found.signal[..., one], alone.signal)


def test_one_token_by_hand():
    # n = 1: the weight is 1, so the signal is 2(K(1) − K(t)) and the concentration 1
    x = tokens(1, 50, 2, 4, "one")
    function = function_classes.ReLU(4, 1.5)
    gamma = torch.ones(1, 50, 1, 1, dtype=F64)
    found = full_matrix.context_loss(
        full_matrix.zonal(function), x[..., :1, :], x[..., 1:, :], gamma
    )
    t = (x[..., 0, :] * x[..., 1, :]).sum(-1, keepdim=True)
    expected = 2 * (function.covariance(torch.ones_like(t)) - function.covariance(t))
    torch.testing.assert_close(found.signal, expected)
    assert bool((found.concentration == 1).all())


def test_gradient_flows_through_the_weights():
    x = tokens(1, 50, 6, 3, "x")
    M = torch.eye(3, dtype=F64, requires_grad=True)
    gamma = torch.softmax(x[..., :5, :] @ M @ x[..., 5:, :].mT, dim=-2)
    covariance = full_matrix.zonal(function_classes.Affine(3))
    found = full_matrix.context_loss(covariance, x[..., :5, :], x[..., 5:, :], gamma)
    (gradient,) = torch.autograd.grad(found.signal.mean(), M)
    assert bool(torch.isfinite(gradient).all())
    assert float(gradient.norm()) > 0


def test_best_matrix_finds_the_whitening():
    """Affine tasks in whitened coordinates: the minimiser of isotropic tokens, pulled back."""
    root = torch.diag(torch.tensor([1.0, 2.0], dtype=F64))
    u = tokens(3, 60, 7, 2, "u")
    x = u @ root
    inverse = torch.linalg.inv(root @ root)

    def pulled_back(a, b):
        return (1 + a @ inverse @ b.mT / 2) / 3

    isotropic = full_matrix.zonal(function_classes.Affine(2))
    plain = full_matrix.best_matrix(isotropic, u[..., :6, :], u[..., 6:, :], 0.3, eyes(3, 2))
    white = full_matrix.best_matrix(pulled_back, x[..., :6, :], x[..., 6:, :], 0.3, eyes(3, 2))
    # both searches stop where log loss slopes by at most 1e-4 in units of 1/M, in fact below 1e-5
    torch.testing.assert_close(root @ white @ root, plain, rtol=1e-4, atol=1e-4)


def test_the_gradient_is_that_of_the_plain_loss():
    """Of the loss at given contexts, differentiated by torch, for a M that is not symmetric."""
    u = tokens(2, 30, 9, 3, "gradient")
    x, query = u[..., :7, :], u[..., 7:, :]
    covariance = full_matrix.zonal(function_classes.ReLU(3))
    M = torch.randn(2, 3, 3, generator=stream(0, "M"), dtype=F64).requires_grad_()
    gamma = torch.softmax(x @ M.unsqueeze(1) @ query.mT, dim=-2)
    signal, concentration = full_matrix.context_loss(covariance, x, query, gamma)
    plain = (signal + 0.04 * concentration).mean((1, 2))
    (slope,) = torch.autograd.grad(plain.sum(), M)
    moments = full_matrix._moments(covariance, x, query)
    loss, gradient = full_matrix._loss_and_gradient(M.detach(), moments, x, query, 0.04)
    # the same sums in another order, in double precision
    torch.testing.assert_close(loss, plain.detach(), rtol=1e-12, atol=0)
    torch.testing.assert_close(gradient, slope, rtol=1e-11, atol=1e-14)


def test_the_best_matrix_is_a_minimum_in_every_direction():
    u = tokens(2, 200, 9, 3, "minimum")
    x, query = u[..., :8, :], u[..., 8:, :]
    covariance = full_matrix.zonal(function_classes.ReLU(3))
    best = full_matrix.best_matrix(covariance, x, query, 0.2, eyes(2, 3))

    def loss(M):
        gamma = torch.softmax(x @ M.unsqueeze(1) @ query.mT, dim=-2)
        found = full_matrix.context_loss(covariance, x, query, gamma)
        return (found.signal + 0.2**2 * found.concentration).mean((1, 2))

    for trial in range(10):
        step = torch.randn(2, 3, 3, generator=stream(0, "step", trial), dtype=F64)
        # a step of a few per cent of M raises the loss by 1e-4 of it, the slope left by 1e-6
        assert bool((loss(best + 0.1 * (step + step.mT)) > loss(best)).all())


def test_a_search_that_does_not_converge_says_so():
    u = tokens(3, 60, 7, 2, "u")
    covariance = full_matrix.zonal(function_classes.Affine(2))
    with pytest.raises(RuntimeError, match=r"did not converge in 2 steps: in set \d the gradient"):
        full_matrix.best_matrix(covariance, u[..., :6, :], u[..., 6:, :], 0.3, eyes(3, 2), steps=2)


def test_a_loss_that_is_not_a_number_is_no_minimum():
    u = tokens(1, 20, 7, 2, "u")

    def broken(a, b):
        return torch.full((*a.shape[:-1], b.shape[-2]), torch.nan, dtype=F64)

    with pytest.raises(RuntimeError, match="did not converge"):
        full_matrix.best_matrix(broken, u[..., :6, :], u[..., 6:, :], 0.3, eyes(1, 2))


def test_shapes_and_noise_are_checked():
    u = tokens(1, 20, 7, 2, "u")
    covariance = full_matrix.zonal(function_classes.Affine(2))
    with pytest.raises(ValueError, match="start must have shape"):
        full_matrix.best_matrix(covariance, u, u, 0.3, torch.eye(2, dtype=F64))
    with pytest.raises(ValueError, match="sigma must be"):
        full_matrix.best_matrix(covariance, u, u, -0.3, eyes(1, 2))
    with pytest.raises(ValueError, match="gamma must have shape"):
        full_matrix.context_loss(covariance, u, u, u)


def test_several_units_may_ask_one_query():
    x = covariates.sample(covariates.Sphere(3), (4, 6), stream(0, "one query"))
    gamma = torch.softmax(torch.randn(4, 5, 3, generator=stream(0, "units"), dtype=F64), 1)
    covariance = full_matrix.zonal(function_classes.ReLU(3))
    once = full_matrix.context_loss(covariance, x[:, :-1], x[:, -1:], gamma)
    thrice = full_matrix.context_loss(covariance, x[:, :-1], x[:, -1:].expand(-1, 3, -1), gamma)
    torch.testing.assert_close(once.signal, thrice.signal)


EYE = torch.eye(3, dtype=F64)


def accidents(sets, size, *role):
    """w·I with an independent symmetric accident of the given size in each set."""
    noise = torch.randn(sets, 3, 3, generator=stream(0, *role), dtype=F64)
    return 4 * EYE + size * (noise + noise.mT)


def test_what_is_beside_has_no_trace():
    M = accidents(5, 1.0, "trace")
    rest = full_matrix.beside(M)
    assert float(rest.diagonal(dim1=1, dim2=2).sum(1).abs().max()) < 1e-12  # rounding
    torch.testing.assert_close(rest + full_matrix.scale(M).view(-1, 1, 1) * EYE, M)


def test_an_accident_falls_with_the_root_and_a_direction_stays():
    few, many = accidents(200, 1.0, "few"), accidents(200, 0.25, "many")  # 16 times the contexts
    found = full_matrix.fall(few, many, 16)
    assert abs(found.value + 0.5) < 4 * found.se
    direction = torch.diag(torch.tensor([20.0, -10.0, -10.0], dtype=F64))
    assert abs(full_matrix.fall(few + direction, many + direction, 16).value) < 0.05
    # by hand: sizes 2 and 1 everywhere, a factor of 4 in the contexts
    bump = torch.diag(torch.tensor([1.0, -1.0, 0.0], dtype=F64)).expand(3, 3, 3)
    by_hand = full_matrix.fall(2 * bump, bump, 4)
    assert by_hand.value == pytest.approx(math.log(0.5) / math.log(4))
    assert by_hand.se == pytest.approx(0, abs=1e-12)


def test_a_turned_matrix_loses_against_the_multiple():
    x = covariates.sample(covariates.Sphere(3), (12, 200, 11), stream(0, "fresh"))
    task = function_classes.ReLU(3)
    bumped = 4 * EYE + torch.diag(torch.tensor([3.0, 0.0, -3.0], dtype=F64)).expand(12, 3, 3)
    worse = full_matrix.log_excess(task, bumped, x[:, :, :10], x[:, :, 10:], 0.1)
    assert worse.value > 4 * worse.se
    steep = function_classes.ReLU(3, L=2.0)  # twice as steep in twice the noise: the same ratio
    twice = full_matrix.log_excess(steep, bumped, x[:, :, :10], x[:, :, 10:], 0.2)
    assert twice.value == pytest.approx(worse.value)
    same = full_matrix.log_excess(task, 4 * EYE.expand(12, 3, 3), x[:, :, :10], x[:, :, 10:], 0.1)
    assert same.value == pytest.approx(0, abs=1e-12)


def test_bad_input_is_refused():
    M = accidents(4, 1.0, "bad")
    with pytest.raises(ValueError, match="factor"):
        full_matrix.fall(M, M, 1.0)
    with pytest.raises(ValueError, match="many"):
        full_matrix.fall(M, M[:3], 4)
    x = covariates.sample(covariates.Sphere(3), (4, 20, 6), stream(0, "bad x"))
    with pytest.raises(ValueError, match="sigma"):
        full_matrix.log_excess(function_classes.Affine(3), M, x[..., :5, :], x[..., 5:, :], -1.0)
