"""Pretraining as one tensor program and windows without sampled tasks, against the plain ways."""

import torch
from bench import seconds

from iclutils.randomness import stream
from iclutils.window import attention, covariates, evaluation, function_classes, prompts
from iclutils.window.function_classes import FunctionClass
from iclutils.window.pretraining import Setting, pretrain
from iclutils.window.theory import best_window, low_rank, population_loss
from iclutils.window.theory.low_rank_problem import Case

LEVELS = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
STEPS = 2000


def plain_loop(setting: Setting, trial: int) -> torch.Tensor:
    """One unit as one would write it first: autograd and torch.optim.Adam in every step."""
    d = setting.covariates.d
    A = (1e-3 * torch.eye(d, dtype=torch.float64)).requires_grad_()
    optimiser = torch.optim.Adam([A], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.999)
    generator = stream(0, "plain loop", trial)
    queries = prompts.default_queries(setting.n)
    law = setting.covariates
    for _ in range(STEPS):
        prompt = prompts.draw(
            setting.function, law, setting.n, setting.sigma, queries, (1,), generator
        )
        loss = (attention.predict(A.mT @ A, prompt) - prompt.target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return (A.mT @ A).detach()


def bench_fleet() -> list[tuple[str, float, float]]:
    """Figure 3 of Collins et al.: 4 panels x 7 values of L x 10 trials x 2000 steps.

    The plain way is timed on 2 of its 280 units.
    """
    root = torch.diag(torch.arange(1.0, 6, dtype=torch.float64))
    settings = [
        Setting(function=function_classes.by_name(name, 5, L), covariates=law, n=20, sigma=0.01)
        for name in ("relu", "cosine")
        for law in (covariates.Sphere(5), covariates.Stretched(root))
        for L in LEVELS
    ]
    ours = seconds(lambda: pretrain(settings, trials=10, steps=STEPS))
    two = seconds(lambda: [plain_loop(settings[0], trial) for trial in range(2)])
    return [("Figure 3: 280 units x 2000 steps (plain timed on 2)", 140 * two, ours)]


def bench_window() -> list[tuple[str, float, float]]:
    """w* of three classes at nine (L, σ): contexts alone sampled, against sampled prompts."""
    cases = [
        (function_classes.by_name(name, 5, L), sigma)
        for name in function_classes.CLASSES
        for L in (0.3, 1.0, 3.0)
        for sigma in (0.03, 0.1, 0.3)
    ]

    def exact() -> list[float]:
        loss = population_loss.sampled(5, 20, stream(0, "bench"))
        return [loss.best_window(function, sigma).w for function, sigma in cases]

    # Sampled tasks need about 500 times the contexts for the same standard error of w*; here the
    # work per context alone counts: 3 of 27 cases, 2000 of 5000 contexts.
    plain = 9 * seconds(lambda: [by_prompts(*case, 2000) for case in cases[:3]]) * 5000 / 2000
    what = "w* of 27 settings, d = 5, n = 20, 5000 contexts (plain timed on 1/22)"
    return [(what, plain, seconds(exact))]


def by_prompts(function: FunctionClass, sigma: float, contexts: int) -> float:
    """Search a grid for the best window, from sampled tasks, contexts, queries and noise."""
    grid = best_window.grid(1000.0, 61)
    generator = stream(0, "bench")
    prompt = prompts.draw(function, covariates.Sphere(5), 20, sigma, 1, (contexts,), generator)
    eye = torch.eye(5, dtype=torch.float64)
    losses = [(attention.predict(w * eye, prompt) - prompt.target).square().mean() for w in grid]
    return float(grid[int(torch.stack(losses).argmin())])


def bench_errors() -> list[tuple[str, float, float]]:
    """Compute the errors of 11 recorded units in each of 8 trials, against one unit at a time."""
    law = covariates.Sphere(10)
    batch = prompts.draw(function_classes.Affine(10), law, 50, 0.1, 1, (8, 500), stream(0, "bench"))
    M = torch.randn(8, 11, 10, 10, generator=stream(0, "units"), dtype=torch.float64)

    def one_by_one() -> list[torch.Tensor]:
        answers = [attention.predict(one.unsqueeze(1), batch) for one in M.unbind(1)]
        return [(answer - batch.target).square().mean((1, 2)) for answer in answers]

    ours = seconds(lambda: evaluation.mean_errors(M, batch), repeat=3)
    return [("errors of 88 units on 500 prompts each", seconds(one_by_one, repeat=3), ours)]


def bench_newton() -> list[tuple[str, float, float]]:
    """Gradient and Hessian of a sample over all symmetric matrices: moments, or all slopes."""
    case = Case(link="linear", d=6, k=3, n=20, sigma=1.0)
    sample = case.contexts(200_000, 0)
    basis = low_rank.symmetric_basis(torch.eye(6, dtype=torch.float64))
    begin = torch.zeros(len(basis), dtype=torch.float64)

    def derive(design: low_rank.Design) -> low_rank.Minimum:
        return low_rank.descend(sample, design, begin + 0.1, tolerance=1.0)

    plain = seconds(lambda: derive(low_rank.Design(low_rank.logit_design(sample, basis))), repeat=3)
    ours = seconds(lambda: derive(low_rank.Design.of(sample, basis)), repeat=3)
    return [("a Newton step over 21 entries, 200 000 tokens", plain, ours)]
