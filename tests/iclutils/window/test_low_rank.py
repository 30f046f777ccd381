"""The low-rank population loss, its derivatives and its minimiser, each by a second route."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window.covariates import Sphere, TwoSubspaces
from iclutils.window.low_rank_tasks import LINKS, LowRankLink
from iclutils.window.prompts import draw
from iclutils.window.theory import linear_attention, low_rank
from iclutils.window.theory.low_rank_problem import contexts

F64 = torch.float64


def frame(d, k):
    Q = torch.linalg.qr(torch.randn(d, d, generator=stream(0, "test frame"), dtype=F64)).Q
    return Q, Q[:, :k], Q[:, k:]


def blocks_of(B, B_perp):
    return torch.stack([B @ B.mT, B_perp @ B_perp.mT])


@pytest.mark.parametrize("link", LINKS)
def test_loss_equals_a_direct_simulation(link):
    Q, B, B_perp = frame(4, 2)
    x = TwoSubspaces(B, B_perp, 1.2, 0.8)
    M = Q @ torch.diag(torch.tensor([2.0, 1.0, 0.5, -0.3], dtype=F64)) @ Q.mT
    sample = contexts(LowRankLink(B, link), x, 6, 0.3, 20000, 0)
    exact = low_rank.loss_at(sample, M)
    p = draw(LowRankLink(B, link), x, 6, 0.3, 1, (40000,), stream(1, "simulation"))
    gamma = torch.softmax(torch.einsum("bnd,de,be->bn", p.x, M, p.query[:, 0]), -1)
    direct = ((gamma * p.y).sum(-1) - p.target[:, 0]).square()
    se = math.hypot(float(exact.std()) / math.sqrt(20000), float(direct.std()) / math.sqrt(40000))
    # 4 comparisons at 5 standard errors: 2e-6 false alarms
    assert abs(float(exact.mean() - direct.mean())) < 5 * se


def test_derivatives_agree_with_automatic_differentiation():
    Q, B, B_perp = frame(4, 2)
    sample = contexts(LowRankLink(B, "cosine"), TwoSubspaces(B, B_perp), 5, 0.4, 20, 0)
    phi = low_rank.logit_design(sample, low_rank.symmetric_basis(Q))
    theta = torch.randn(10, generator=stream(0, "theta"), dtype=F64)

    def loss(t):
        gamma = torch.softmax(phi @ t, -1).unsqueeze(-1)
        residual = (sample.value @ gamma).squeeze(-1) - sample.target
        return (residual.square().mean(-1) + 0.4**2 * gamma.square().sum((1, 2))).mean()

    gradient, hessian = low_rank.derivatives(sample, phi, phi @ theta)
    jacobian = torch.autograd.functional.jacobian(loss, theta)
    torch.testing.assert_close(gradient.mean(0), jacobian)
    torch.testing.assert_close(hessian, torch.autograd.functional.hessian(loss, theta))


def test_slopes_are_the_sum_of_their_parts():
    _, B, B_perp = frame(4, 2)
    sample = contexts(LowRankLink(B, "affine"), TwoSubspaces(B, B_perp), 5, 0.4, 20, 0)
    logits = torch.randn(20, 5, generator=stream(0, "logits"), dtype=F64)
    signal = low_rank.logit_slopes(sample, logits, noise=False)
    noise = low_rank.logit_slopes(sample, logits, signal=False)
    torch.testing.assert_close(low_rank.logit_slopes(sample, logits), signal + noise)


def test_basis_coefficients_are_entries_in_the_frame():
    Q, *_ = frame(4, 2)
    basis = low_rank.symmetric_basis(Q)
    theta = torch.arange(10, dtype=F64)
    M = torch.einsum("p,pde->de", theta, basis)
    i, j = torch.triu_indices(4, 4)
    torch.testing.assert_close((Q.mT @ M @ Q)[i, j], theta)
    torch.testing.assert_close(M, M.mT)


def test_minimum_is_stationary_and_the_same_from_two_starts():
    Q, B, B_perp = frame(3, 2)
    sample = contexts(LowRankLink(B, "linear"), TwoSubspaces(B, B_perp), 5, 0.3, 2000, 0)
    basis = low_rank.symmetric_basis(Q)
    starts = (
        torch.full((6,), 0.1, dtype=F64),
        torch.tensor([2.0, -0.5, 0.3, 1.0, 0.4, -1.0], dtype=F64),
    )
    first, second = (low_rank.minimise(sample, basis, start) for start in starts)
    # a decrement of 1e-10 of the loss leaves θ right to about its root, 1e-5
    torch.testing.assert_close(first.theta, second.theta, rtol=1e-4, atol=1e-4)
    assert [first.coefficient(p).value for p in range(6)] == first.theta.tolist()
    with pytest.raises(ValueError, match="p must be"):
        first.coefficient(6)
    phi = low_rank.logit_design(sample, basis)
    each, _ = low_rank.derivatives(sample, phi, phi @ first.theta)
    assert float(each.mean(0).norm()) < 1e-5  # as above, times a curvature below 1


def test_a_held_part_moves_the_minimum_by_itself():
    _, B, B_perp = frame(3, 2)
    sample = contexts(LowRankLink(B, "linear"), TwoSubspaces(B, B_perp), 5, 0.3, 2000, 0)
    basis = blocks_of(B, B_perp)
    start = torch.tensor([1.0, 0.0], dtype=F64)
    free = low_rank.minimise(sample, basis, start)
    shifted = low_rank.minimise(sample, basis, start, fixed=0.5 * basis[0])
    expected = free.theta - torch.tensor([0.5, 0.0], dtype=F64)
    # both are right to about 1e-5, the root of the decrement
    torch.testing.assert_close(shifted.theta, expected, rtol=1e-4, atol=1e-4)


def test_a_minimisation_that_does_not_converge_says_so():
    _, B, B_perp = frame(3, 2)
    sample = contexts(LowRankLink(B, "linear"), TwoSubspaces(B, B_perp), 5, 0.3, 200, 0)
    start = torch.tensor([1.0, 0.0], dtype=F64)
    with pytest.raises(RuntimeError, match="did not converge in 1 steps: the Newton decrement"):
        low_rank.minimise(sample, blocks_of(B, B_perp), start, limit=1)


def test_sandwich_error_is_the_scatter_between_samples():
    _, B, B_perp = frame(3, 2)
    link = LowRankLink(B, "linear")
    start = torch.tensor([1.0, 0.0], dtype=F64)
    minima = []
    for seed in range(60):
        sample = contexts(link, TwoSubspaces(B, B_perp), 4, 0.3, 500, seed)
        minima.append(low_rank.minimise(sample, blocks_of(B, B_perp), start))
    scatter = torch.stack([m.theta for m in minima]).std(0)
    claimed = torch.stack([m.se for m in minima]).mean(0)
    # the standard deviation of 60 numbers is known to about 1/sqrt(118) = 9 %; five of those, and
    # a little for the mean
    assert ((scatter / claimed - 1).abs() < 0.5).all()


def test_linear_minimum_has_its_closed_form_mass():
    """5 standard errors each: 6e-7 false alarms a comparison."""
    _, B, B_perp = frame(6, 2)
    link = LowRankLink(B, "affine")
    family = blocks_of(B, B_perp)
    sample = contexts(link, Sphere(6), 10, 0.3, 20000, 0)
    found = low_rank.linear_minimum(sample, family)
    mass = low_rank.linear_mass(10, 6, 2, 0.3)
    assert abs(float(found.theta[0]) - mass) < 5 * float(found.se[0])
    assert abs(float(found.theta[1])) < 5 * float(found.se[1])
    M = torch.einsum("p,pde->de", found.theta, family)
    p = draw(link, Sphere(6), 10, 0.3, 1, (20000,), stream(1, "linear"))
    answer = torch.einsum("bn,bnd,de,be->b", p.y, p.x, M, p.query[:, 0])
    error = (answer - p.target[:, 0]).square()
    # the standard error of θ stands for that of the loss on the sample, which is smaller
    width = 5 * float(error.std()) / math.sqrt(20000) + 5 * float(found.se[0])
    assert abs(float(error.mean()) - found.loss) < width


@pytest.mark.parametrize(("n", "d", "k"), [(1, 4, 1), (7, 4, 2), (50, 10, 2), (30, 6, 6)])
def test_linear_mass_is_the_best_matrix_of_any_covariance(n, d, k):
    """Tasks of covariance BBᵀ/k and the affine link's offset 2, whose square is 4."""
    relevant = torch.diag((torch.arange(d) < k).double())
    label = linear_attention.sphere_label(relevant / k, 0.3, 4.0)
    M = linear_attention.best_matrix(torch.eye(d, dtype=F64) / d, relevant / k, label, n)
    # two ways to solve the same linear equations
    torch.testing.assert_close(M, low_rank.linear_mass(n, d, k, 0.3) * relevant)


def test_bad_shapes_and_numbers_are_refused():
    _, B, B_perp = frame(3, 2)
    sample = contexts(LowRankLink(B, "linear"), TwoSubspaces(B, B_perp), 5, 0.3, 20, 0)
    with pytest.raises(ValueError, match="M must have shape"):
        low_rank.loss_at(sample, torch.eye(4, dtype=F64))
    with pytest.raises(ValueError, match="start must have shape"):
        low_rank.minimise(sample, blocks_of(B, B_perp), torch.ones(3, dtype=F64))
    with pytest.raises(ValueError, match="k must be in"):
        low_rank.linear_mass(10, 4, 5, 0.1)


def test_derivatives_by_moments_of_the_tokens_are_those_by_all_logit_slopes():
    Q, B, B_perp = frame(4, 2)
    sample = contexts(LowRankLink(B, "affine"), TwoSubspaces(B, B_perp), 7, 0.4, 50, 0)
    basis = low_rank.symmetric_basis(Q)
    theta = torch.randn(10, generator=stream(0, "theta"), dtype=F64)
    design = low_rank.Design.of(sample, basis)
    assert design.lift is not None
    phi = low_rank.logit_design(sample, basis)
    logits = phi @ theta
    torch.testing.assert_close(design.logits(theta), logits)
    lifted = low_rank._derivatives(sample, design, low_rank._attend(sample, logits))
    plain = low_rank.derivatives(sample, phi, logits)
    torch.testing.assert_close(lifted.gradient, plain.gradient)
    torch.testing.assert_close(lifted.hessian, plain.hessian)
