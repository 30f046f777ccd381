"""Low-rank links, subspace metrics and the population minimiser, each by a second route."""

import math

import pytest
import torch

from iclutils import lowrank_contexts, subspace
from iclutils import population_lowrank as population
from iclutils.covariates import Sphere, TwoSubspaces
from iclutils.links import LINKS, LowRankLink
from iclutils.prompts import draw
from iclutils.randomness import stream

F64 = torch.float64


def frame(d, k, *role):
    Q = torch.linalg.qr(torch.randn(d, d, generator=stream(0, "test frame", *role), dtype=F64)).Q
    return Q, Q[:, :k], Q[:, k:]


def blocks_of(B, B_perp):
    return torch.stack([B @ B.mT, B_perp @ B_perp.mT])


@pytest.mark.parametrize("link", LINKS)
def test_cubature_integrates_the_kernel_exactly(link):
    _, B, _ = frame(5, 2)
    f = LowRankLink(B, link)
    x = torch.randn(7, 5, generator=stream(0, "points"), dtype=F64)
    u = (x / x.norm(dim=-1, keepdim=True)) @ B
    value = f.of_latent(f.cubature() @ u.mT)
    torch.testing.assert_close(value.mT @ value / len(f.cubature()), f.kernel(u, u), rtol=0, atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_kernel_is_the_mean_over_sampled_tasks(link):
    B = torch.stack([frame(5, 2, t)[1] for t in range(3)])
    f = LowRankLink(B, link)
    x = torch.randn(3, 20000, 2, 5, generator=stream(0, "pairs"), dtype=F64)
    x = x[:, :1].expand(-1, 20000, -1, -1) / x[:, :1].norm(dim=-1, keepdim=True)
    value = f.evaluate(f.sample((3, 20000), stream(0, "sampled tasks")), x)
    product = value[..., 0] * value[..., 1]
    u = torch.einsum("tmd,tdk->tmk", x[:, 0], B)
    se = product.std(1) / math.sqrt(20000)
    assert ((product.mean(1) - f.kernel(u, u)[:, 0, 1]).abs() < 5 * se).all()


def test_low_rank_link_refuses_what_it_cannot_do():
    _, B, _ = frame(5, 3)
    with pytest.raises(KeyError, match="link must be one of"):
        LowRankLink(B, "sine")
    with pytest.raises(ValueError, match="orthonormal"):
        LowRankLink(2 * B, "linear")
    with pytest.raises(ValueError, match="k at most 2; got k = 3"):
        LowRankLink(B, "cosine").cubature()


def test_metrics_on_a_matrix_made_by_hand():
    Q, B, B_perp = frame(5, 2)
    M = Q @ torch.diag(torch.tensor([4.0, 5.0, 2.0, 1.0, -3.0], dtype=F64)) @ Q.mT
    assert float(subspace.rho(M, B)) == pytest.approx(3 / 4)
    assert [float(m) for m in subspace.masses(M, B)] == pytest.approx([4.5, 0.0])
    assert float(subspace.largest_angle(M, B)) == pytest.approx(0.0, abs=1e-5)
    assert float(subspace.overlap(M, B_perp[:, :2])) == pytest.approx(0.0, abs=1e-12)
    torch.testing.assert_close(subspace.within(M, B), B @ torch.diag(torch.tensor([4.0, 5.0], dtype=F64)) @ B.mT)
    assert float(subspace.rho(torch.eye(5, dtype=F64), B)) == pytest.approx(1.0)


def test_random_subspaces_have_overlap_k_over_d():
    B = subspace.random_subspaces(4000, 6, 2, stream(0, "subspaces"))
    M = torch.diag(torch.arange(6, dtype=F64))
    seen = subspace.overlap(M, B)
    assert float((seen.mean() - 2 / 6).abs()) < 5 * float(seen.std()) / math.sqrt(4000)
    J = subspace.gram_roots(3, 4, stream(0, "J"))
    torch.testing.assert_close(J, J.mT)
    assert (torch.linalg.eigvalsh(J) > 0).all()


@pytest.mark.parametrize("link", LINKS)
def test_loss_equals_a_direct_simulation(link):
    Q, B, B_perp = frame(4, 2)
    x = TwoSubspaces(B, B_perp, 1.2, 0.8)
    M = Q @ torch.diag(torch.tensor([2.0, 1.0, 0.5, -0.3], dtype=F64)) @ Q.mT
    sample = lowrank_contexts.contexts(LowRankLink(B, link), x, 6, 0.3, 20000, 0)
    exact = population.loss_at(sample, M)
    p = draw(LowRankLink(B, link), x, 6, 0.3, 1, (40000,), stream(1, "simulation"))
    gamma = torch.softmax(torch.einsum("bnd,de,be->bn", p.x, M, p.query[:, 0]), -1)
    direct = ((gamma * p.y).sum(-1) - p.target[:, 0]).square()
    se = math.hypot(float(exact.std()) / math.sqrt(20000), float(direct.std()) / math.sqrt(40000))
    assert abs(float(exact.mean() - direct.mean())) < 5 * se


def test_derivatives_agree_with_automatic_differentiation():
    Q, B, B_perp = frame(4, 2)
    sample = lowrank_contexts.contexts(LowRankLink(B, "cosine"), TwoSubspaces(B, B_perp), 5, 0.4, 20, 0)
    phi = population.features(sample, population.symmetric_basis(Q))
    theta = torch.randn(10, generator=stream(0, "theta"), dtype=F64)

    def loss(t):
        return population.losses(sample, phi @ t).mean()

    gradient, hessian = population.derivatives(sample, phi, phi @ theta)
    torch.testing.assert_close(gradient.mean(0), torch.autograd.functional.jacobian(loss, theta))
    torch.testing.assert_close(hessian, torch.autograd.functional.hessian(loss, theta))


def test_basis_coefficients_are_entries_in_the_frame():
    Q, *_ = frame(4, 2)
    basis, theta = population.symmetric_basis(Q), torch.arange(10, dtype=F64)
    M = torch.einsum("p,pde->de", theta, basis)
    i, j = torch.triu_indices(4, 4)
    torch.testing.assert_close((Q.mT @ M @ Q)[i, j], theta)
    torch.testing.assert_close(M, M.mT)


def test_minimum_is_stationary_and_the_same_from_two_starts():
    Q, B, B_perp = frame(3, 2)
    sample = lowrank_contexts.contexts(LowRankLink(B, "linear"), TwoSubspaces(B, B_perp), 5, 0.3, 2000, 0)
    basis = population.symmetric_basis(Q)
    found = [population.minimise(sample, basis, start) for start in
             (torch.full((6,), 0.1, dtype=F64), torch.tensor([2.0, -0.5, 0.3, 1.0, 0.4, -1.0], dtype=F64))]
    torch.testing.assert_close(found[0].theta, found[1].theta, rtol=1e-4, atol=1e-4)  # decrement 1e-10 of the loss
    phi = population.features(sample, basis)
    each, _ = population.derivatives(sample, phi, phi @ found[0].theta)
    assert float(each.mean(0).norm()) < 1e-5
    seen = population.read_blocks(found[0], 3, 2)
    assert seen.c[0] > 10 * seen.c[1]
    for value, se in (seen.anisotropy, seen.off_block, seen.spurious):
        assert abs(value) < 5 * se


def test_sandwich_error_is_the_scatter_between_samples():
    _, B, B_perp = frame(3, 2)
    family = blocks_of(B, B_perp)
    minima = [population.minimise(lowrank_contexts.contexts(LowRankLink(B, "linear"), TwoSubspaces(B, B_perp), 4, 0.3, 500, seed),
                                  family, torch.tensor([1.0, 0.0], dtype=F64)) for seed in range(60)]
    scatter = torch.stack([m.theta for m in minima]).std(0)
    claimed = torch.stack([m.se for m in minima]).mean(0)
    # the standard deviation of 60 numbers is known to about 1/sqrt(118) = 9 %; five of those, and a little for the mean
    assert ((scatter / claimed - 1).abs() < 0.5).all()


def test_linear_minimum_has_its_closed_form_mass():
    _, B, B_perp = frame(6, 2)
    sample = lowrank_contexts.contexts(LowRankLink(B, "affine"), Sphere(6), 10, 0.3, 20000, 0)
    found = population.linear_minimum(sample, blocks_of(B, B_perp))
    assert abs(float(found.theta[0]) - population.linear_mass(10, 6, 2, 0.3)) < 5 * float(found.se[0])
    assert abs(float(found.theta[1])) < 5 * float(found.se[1])
    M = torch.einsum("p,pde->de", found.theta, blocks_of(B, B_perp))
    p = draw(LowRankLink(B, "affine"), Sphere(6), 10, 0.3, 1, (20000,), stream(1, "linear"))
    error = (torch.einsum("bn,bnd,de,be->b", p.y, p.x, M, p.query[:, 0]) - p.target[:, 0]).square()
    assert abs(float(error.mean()) - found.loss) < 5 * float(error.std()) / math.sqrt(20000) + 5 * float(found.se[0])




def test_theorem_case_in_small_and_with_a_binding_bound():
    case = lowrank_contexts.Case("linear", 3, 2, 2, 0.0)
    sample = case.contexts(40000, 0)
    for bound in (None, 2.0):
        _, seen = population.full_minimum(case, sample, bound=bound)
        assert seen.c[0] > 2.5 if bound is None else seen.c[0] == pytest.approx(2.0)
        for value, se in (seen.anisotropy, seen.off_block, seen.spurious):
            assert abs(value) < 5 * se
    cost = population.spurious_cost(case, sample, [1.0])[0]
    assert cost[0] > 4 * cost[1]


def test_lemma_slopes_by_finite_differences():
    alpha, case = torch.tensor([2.0, 1.0, 0.5], dtype=F64), lowrank_contexts.Case("linear", 3, 2, 3, 1.0)
    sample = case.contexts(3 * 500, 0)
    logits = 1.5 * population.features(sample, case.family[:1]).squeeze(-1)
    step = torch.tensor([1e-6, 0, 0], dtype=F64)

    def total(shift):
        return float(population.losses(sample, logits + shift).mean())

    expected = (total(alpha.log() + step) - total(alpha.log() - step) - total(step) + total(-step)) / 2e-6
    found = population.lemma_slopes(1.5, alpha, 2, 500, 0)
    assert float(found[:, 0].sum()) == pytest.approx(expected, abs=1e-7)


def test_case_refuses_bad_numbers():
    with pytest.raises(ValueError, match="k must be in"):
        lowrank_contexts.Case("linear", 3, 4, 2, 0.0)
    with pytest.raises(ValueError, match="sigma must be"):
        lowrank_contexts.Case("linear", 3, 2, 2, -1.0)
