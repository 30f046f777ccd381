"""The matrix-free solver against the dense one, the reduction against attention itself, dMMSE against enumeration."""

import math

import pytest
import torch

from iclutils import features, linear_icl
from iclutils.linear_icl import Setting
from iclutils.randomness import stream


@pytest.mark.parametrize("tau", [0.3, 0.9, 1.3, 3.0])
@pytest.mark.parametrize(("kappa", "lam"), [(0.5, 1e-5), (0.5, 0.3), (math.inf, 1e-5)])
def test_solver_agrees_with_the_normal_equations(tau, kappa, lam):
    setting = Setting(10, 5, kappa, tau, 0.05)
    prompts = setting.prompts(0, 0)
    found, dense = linear_icl.solve(prompts, lam, tol=1e-9), linear_icl.solve_dense(prompts, lam)
    # error ≤ condition number × residual; at λ = 1e-5 the condition number is below 1e6, seen errors are 1e-8
    assert found.residual <= 1e-9
    assert float((found.gamma - dense).norm() / dense.norm()) < 1e-5
    # optimality itself, a second route: the gradient of the objective vanishes
    r = prompts.y - ((prompts.x @ found.gamma) * prompts.v).sum(1)
    gradient = prompts.x.T @ (r[:, None] * prompts.v) - setting.n / setting.d * lam * found.gamma
    assert float(gradient.norm()) < 1e-6 * float((prompts.x.T @ (prompts.y[:, None] * prompts.v)).norm())


def test_ridgeless_dual_solution_interpolates_with_least_norm():
    prompts = Setting(8, 4, 2.0, 0.4, 0.1).prompts(0, 0)
    gamma = linear_icl.solve(prompts, 0.0, tol=1e-10).gamma
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(len(prompts.y), -1)
    assert torch.allclose(design @ gamma.flatten(), prompts.y, atol=1e-7)
    assert torch.allclose(gamma.flatten(), torch.linalg.pinv(design) @ prompts.y, atol=1e-5)


def test_reduction_is_exact_without_the_dropped_block():
    d, ell = 4, 6
    draw = stream(0, "weights")
    z = torch.randn(50, d + 1, ell + 1, dtype=torch.float64, generator=draw)
    z[:, d, ell] = 0
    value, key_query = torch.randn(2, d + 1, d + 1, dtype=torch.float64, generator=draw)
    reduced = linear_icl.reduced_prediction(z, linear_icl.reduced_weights(value, key_query))
    assert not torch.allclose(linear_icl.linear_attention(z, value, key_query)[:, d, ell], reduced, atol=0.1)
    value[d, :d] = 0
    assert torch.allclose(linear_icl.linear_attention(z, value, key_query)[:, d, ell], reduced, atol=1e-12)


def test_dmmse_is_the_posterior_mean():
    # by enumeration over tokens: k = 3 tasks, the squared residuals of each, averaged over many contexts
    d, ell, rho, count = 2, 4, 0.3, 20000
    tasks = features.draw_tasks(3, d, stream(0, "tasks"))
    w = features.draw_tasks(count, d, stream(0, "fresh"))
    x = torch.randn(count, ell, d, dtype=torch.float64, generator=stream(0, "x")) / math.sqrt(d)
    y = torch.einsum("nld,nd->nl", x, w) + math.sqrt(rho) * torch.randn(count, ell, dtype=torch.float64,
                                                                        generator=stream(0, "noise"))
    away = (y[:, None] - torch.einsum("nld,kd->nkl", x, tasks)).square().sum(2)
    plain = rho + (torch.softmax(-away / (2 * rho), 1) @ tasks - w).square().sum(1) / d
    fast = linear_icl.dmmse_errors(tasks, ell, rho, stream(0, "fast"), count, fresh=True)
    se = math.sqrt((float(plain.var()) + float(fast.var())) / count)
    assert abs(float(plain.mean() - fast.mean())) < 5 * se
    own = linear_icl.dmmse_errors(tasks, ell, rho, stream(0, "own"), count, fresh=False)
    assert float(own.mean()) < float(fast.mean())


def test_errors_are_a_function_of_seed_and_trial():
    setting = Setting(6, 3, 0.5, 0.5, 0.1)
    first = linear_icl.errors(setting, [0.1, 1.0], 0, 0)
    assert torch.equal(first, linear_icl.errors(setting, [0.1, 1.0], 0, 0))
    assert torch.equal(first[1:], linear_icl.errors(setting, [1.0], 0, 0))
    assert not torch.equal(first, linear_icl.errors(setting, [0.1, 1.0], 0, 1))
    assert linear_icl.curve([setting], 0.1, 0, 2).shape == (2, 1, 2)
    assert linear_icl.job(d=6, alpha=3, kappa=0.5, tau=0.5, rho=0.1, ridge=0.1, trial=0, seed=0)["icl"] == float(first[0, 0])


def test_the_diversity_job_adds_dmmse_on_the_same_tasks():
    point = {"d": 6, "alpha": 3, "kappa": 0.5, "tau": 0.5, "rho": 0.1, "ridge": 0.1, "trial": 1, "seed": 0}
    found = linear_icl.diversity_job(**point, contexts=4000)
    assert linear_icl.job(**point).items() <= found.items()
    # k = 1: the posterior is the task itself, so that only the noise is left on the list and ‖w − w₁‖²/d off it
    alone = linear_icl.diversity_job(**{**point, "kappa": 0.1}, contexts=4000)
    assert alone["dmmse_idg"] == pytest.approx(0.1)
    w = Setting(6, 3, 0.1, 0.5, 0.1).tasks(0, 1)
    se = math.sqrt((2 * 6 + 4 * float(w.square().sum())) / 4000) / 6  # of ‖w − w₁‖²/d, w normal
    assert abs(alone["dmmse_icl"] - (0.1 + 1 + float(w.square().sum()) / 6)) < 5 * se


@pytest.mark.parametrize(("change", "message"), [
    ({"alpha": 0.0}, "alpha must be finite"), ({"kappa": 0.0}, "kappa must be finite"), ({"tau": -1.0}, "tau must be finite"),
    ({"rho": -1.0}, "rho must be finite"), ({"d": 1}, "d must be at least 2")])
def test_settings_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Setting(**{"d": 5, "alpha": 1.0, "kappa": 1.0, "tau": 1.0, "rho": 0.1, **change})


def test_solver_refuses_bad_input():
    prompts = Setting(5, 3, 1.0, 1.2, 0.1).prompts(0, 0)
    with pytest.raises(ValueError, match="lam must be finite"):
        linear_icl.solve(prompts, -1.0)
    with pytest.raises(ValueError, match="lam must be positive where n = d"):
        linear_icl.solve(prompts, 0.0)
    with pytest.raises(RuntimeError, match="residual"):
        linear_icl.solve(prompts, 1e-3, max_iterations=2)
