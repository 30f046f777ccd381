"""Pretraining a fleet as one tensor program, against one torch.optim.Adam loop with autograd after the other."""

import torch
from bench import seconds

from iclutils import attention, covariates, functions, population, prompts
from iclutils.pretraining import Setting, pretrain
from iclutils.randomness import stream

LEVELS = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]


def plain_loop(setting: Setting, steps: int, trial: int) -> torch.Tensor:
    """One unit as one would write it first: a fresh prompt, autograd and torch.optim.Adam in every step."""
    d = setting.covariates.d
    A = (1e-3 * torch.eye(d, dtype=torch.float64)).requires_grad_()
    optimiser = torch.optim.Adam([A], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.999)
    draws = stream(0, "plain loop", trial)
    for _ in range(steps):
        prompt = prompts.draw(setting.function, setting.covariates, setting.n, setting.sigma,
                              prompts.default_queries(setting.n), (1,), draws)
        loss = (attention.predict(A.mT @ A, prompt) - prompt.target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return (A.mT @ A).detach()


def bench_fleet() -> list[tuple[str, float, float]]:
    """Figure 3 of Collins et al.: 4 panels x 7 values of L x 10 trials x 2000 steps (the plain way timed on 1/140 of it)."""
    root = torch.diag(torch.arange(1.0, 6, dtype=torch.float64))
    laws = [covariates.Sphere(5), covariates.Stretched(root)]
    settings = [Setting(functions.by_name(name, 5, L), law, 20, 0.01)
                for name in ("relu", "cosine") for law in laws for L in LEVELS]
    ours = seconds(lambda: pretrain(settings, trials=10, steps=2000))
    one = seconds(lambda: [plain_loop(settings[0], 2000, trial) for trial in range(2)]) / 2
    return [("Figure 3: 280 units x 2000 steps (plain timed on 2)", 280 * one, ours)]


def bench_window() -> list[tuple[str, float, float]]:
    """w* of three classes at nine (L, σ): tasks, noise and rotations integrated out, against sampled prompts on a grid of w."""
    cases = [(functions.by_name(name, 5, L), sigma) for name in functions.CLASSES
             for L in (0.3, 1.0, 3.0) for sigma in (0.03, 0.1, 0.3)]

    def exact() -> list[float]:
        loss = population.sampled(5, 20, stream(0, "bench"))
        return [loss.best_window(function, sigma).w for function, sigma in cases]

    def by_prompts(contexts: int = 2000) -> list[float]:
        found, grid = [], population.grid(1000.0, 61)
        for function, sigma in cases[:3]:
            prompt = prompts.draw(function, covariates.Sphere(5), 20, sigma, 1, (contexts,), stream(0, "bench"))
            losses = [(attention.predict(w * torch.eye(5, dtype=torch.float64), prompt) - prompt.target).square().mean()
                      for w in grid]
            found.append(float(grid[int(torch.stack(losses).argmin())]))
        return found

    # sampled tasks need about 500 times the contexts for the same standard error of w*; here only the work per context counts
    plain = 9 * seconds(by_prompts) * 5000 / 2000
    return [("w* of 27 settings, d = 5, n = 20, 5000 contexts (plain timed on 1/22)", plain, seconds(exact))]
