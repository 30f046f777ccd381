"""The matrix-free solver against the dense one, optimality and the pseudoinverse."""

import math

import pytest
import torch

from iclutils.regression import ridge
from iclutils.regression.experiment import Setting
from iclutils.regression.ridge import solve, solve_dense, solve_each, solve_ridgeless
from iclutils.regression.samplers import Prompts


@pytest.fixture
def iterating(monkeypatch):
    """No problem is small enough to be factorised."""
    monkeypatch.setattr(ridge, "DIRECT", 0)


@pytest.fixture(params=["by factors", "by iterations"])
def each_way(request):
    """Solve what is small twice: as the solver does it, and as it does what is large."""
    if request.param == "by iterations":
        request.getfixturevalue("iterating")


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize("tau", [0.3, 0.9, 1.3, 3.0])
@pytest.mark.parametrize(("kappa", "lam"), [(0.5, 1e-5), (0.5, 0.3), (math.inf, 1e-5)])
def test_solver_agrees_with_the_normal_equations(tau, kappa, lam):
    setting = Setting(d=10, alpha=5, kappa=kappa, tau=tau, rho=0.05)
    prompts = setting.prompts(0, 0)
    found = solve(prompts, lam, tol=1e-9)
    dense = solve_dense(prompts, lam)
    assert found.residual <= 1e-9  # as asked
    # error ≤ condition number × residual; at λ = 1e-5 the condition number is below 1e6, seen
    # errors are 1e-8
    assert float((found.gamma - dense).norm() / dense.norm()) < 1e-5
    # optimality itself, a second route: the gradient of the objective vanishes, to the residual
    # 1e-9 times at most the norm of the design (dual), below 1e3
    r = prompts.y - ((prompts.x @ found.gamma) * prompts.v).sum(1)
    gradient = prompts.x.T @ (r[:, None] * prompts.v) - setting.n / setting.d * lam * found.gamma
    start = prompts.x.T @ (prompts.y[:, None] * prompts.v)
    assert float(gradient.norm()) < 1e-6 * float(start.norm())


@pytest.mark.usefixtures("each_way")
def test_ridgeless_dual_solution_interpolates_with_least_norm():
    prompts = Setting(d=8, alpha=4, kappa=2.0, tau=0.4, rho=0.1).prompts(0, 0)
    gamma = solve(prompts, 0.0, tol=1e-10).gamma
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(len(prompts.y), -1)
    # the answers miss the labels by the residual, 1e-10 of ‖y‖ ≈ 10
    assert torch.allclose(design @ gamma.flatten(), prompts.y, atol=1e-7)
    # Γ itself by at most the residual over the least singular value of the design, above 1e-2
    assert torch.allclose(gamma.flatten(), torch.linalg.pinv(design) @ prompts.y, atol=1e-5)


@pytest.mark.usefixtures("iterating")
def test_a_strong_ridge_below_the_peak_is_solved_in_the_primal():
    prompts = Setting(d=12, alpha=10, kappa=0.5, tau=0.9, rho=0.05).prompts(0, 0)
    n = len(prompts.y)
    covariance = prompts.v.T @ prompts.v / n
    assert ridge._preconditioner(covariance, n, 1e-5) is None
    assert ridge._preconditioner(covariance, n, 0.3) is not None
    dense = solve_dense(prompts, 0.3)
    found = solve(prompts, 0.3, tol=1e-9).gamma
    # error ≤ condition number × residual; (s_max + λ)/λ is below 100
    assert float((found - dense).norm() / dense.norm()) < 1e-7


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize(("kappa", "tau"), [(math.inf, 0.5), (math.inf, 1.6), (0.5, 1.6)])
def test_several_ridges_at_once_have_the_minimisers_of_each(kappa, tau):
    """In the dual, in the primal as it is (v is next to isotropic) and preconditioned."""
    prompts = Setting(d=12, alpha=20, kappa=kappa, tau=tau, rho=0.05).prompts(0, 0)
    ridges = [0.03, 0.3, 1.0]
    found = solve_each(prompts, ridges, tol=1e-9)
    for lam, one in zip(ridges, found, strict=True):
        assert one.residual <= 1e-9
        dense = solve_dense(prompts, lam)
        # error ≤ condition number × residual; (s_max + λ)/λ is below 200
        assert float((one.gamma - dense).norm() / dense.norm()) < 2e-7


@pytest.mark.usefixtures("iterating")
def test_a_stronger_ridge_starts_from_what_a_weaker_one_searched():
    """Without a preconditioner of its own it searches a part of the same space."""
    for tau in (0.5, 1.6):
        prompts = Setting(d=30, alpha=20, kappa=math.inf, tau=tau, rho=0.05).prompts(0, 0)
        covariance = prompts.v.T @ prompts.v / len(prompts.y)
        inverse = ridge._preconditioner(covariance, len(prompts.y), 0.1)
        assert inverse is None or torch.equal(inverse, torch.eye(31, dtype=torch.float64))
        assert solve(prompts, 1.0, tol=1e-5).iterations > 5
        weak, strong = solve_each(prompts, [0.1, 1.0], tol=1e-5)
        assert weak.iterations == solve(prompts, 0.1, tol=1e-5).iterations
        assert strong.iterations <= 1


def test_few_prompts_take_no_iteration_and_prompts_that_say_the_same_take_some():
    """A kernel without an inverse has no factors; the iterations find the least solution."""
    prompts = Setting(d=8, alpha=4, kappa=2.0, tau=0.4, rho=0.1).prompts(0, 0)
    assert solve(prompts, 0.0).iterations == 0
    twice = Prompts(*(torch.cat([of, of[:3]]) for of in (prompts.x, prompts.v, prompts.y)))
    found = solve(twice, 0.0, tol=1e-10)
    assert found.iterations > 0
    # error ≤ residual over the least singular value that is not 0, above 1e-2
    assert torch.allclose(found.gamma, solve(prompts, 0.0, tol=1e-10).gamma, rtol=0, atol=1e-5)


def test_conjugate_gradients_end_after_as_many_steps_as_eigenvalues():
    """Five eigenvalues: five steps, but for rounding, far below 1e-10 at a condition of 5."""
    scale = torch.arange(1, 6, dtype=torch.float64).repeat(4)
    b = torch.ones(20, dtype=torch.float64)
    plain = ridge._System(lambda a: (scale - 0.5) * a, 0.5, lambda a: a)
    found, steps = ridge._conjugate_gradients(plain, b, 1e-10, 50, None)
    assert steps == 5
    assert torch.allclose(found, b / scale, rtol=0, atol=1e-10)


@pytest.mark.usefixtures("iterating")
def test_solver_refuses_bad_input():
    prompts = Setting(d=5, alpha=3, kappa=1.0, tau=1.2, rho=0.1).prompts(0, 0)
    with pytest.raises(ValueError, match="lam must be finite"):
        solve(prompts, -1.0)
    with pytest.raises(ValueError, match="lam must be positive where n = d"):
        solve(prompts, 0.0)
    with pytest.raises(RuntimeError, match=r"residual .* after 2 iterations, wanted 1.0e-07"):
        solve(prompts, 1e-3, max_iterations=2)


@pytest.mark.parametrize("tau", [0.6, 1.0, 1.125, 2.0])
def test_the_solution_without_a_ridge_is_the_pseudoinverse_on_either_side_of_the_peak(tau):
    prompts = Setting(d=8, alpha=4, kappa=math.inf, tau=tau, rho=0.1).prompts(0, 0)
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(len(prompts.y), -1)
    plain = (torch.linalg.pinv(design) @ prompts.y).view(8, 9)
    # rounding times the condition number, at the peak (72 prompts) below 1e5
    torch.testing.assert_close(solve_ridgeless(prompts), plain, rtol=1e-9, atol=1e-10)
