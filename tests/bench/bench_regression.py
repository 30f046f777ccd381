"""The structured solver, the exact sampler and the theory on arrays against the plain ways.

``make bench NAME=regression``.
"""

import resource
from collections.abc import Iterator

import torch
from bench import seconds
from scipy.optimize import brentq

from iclutils.randomness import stream
from iclutils.regression.experiment import Setting
from iclutils.regression.ridge import solve, solve_dense
from iclutils.regression.samplers import Context, draw_tasks, sample, sample_naive
from iclutils.regression.theory import asymptotics
from iclutils.regression.theory.asymptotics import Phase

Row = tuple[str, float, float]

MEASURED = 40  # the largest d at which the dense way is run; d = 100 takes it a minute and 2 GB


def bench_solve() -> Iterator[Row]:
    """Γ at τ = 0.8, α = 10, κ = ½, λ = 0.1: d(d+1)-square normal equations against ours.

    Above ``MEASURED`` the plain time is the measured one times its operations, n D² + D³/3 with
    D = d(d+1) parameters: a lower bound, because large matrices leave the processor's cache.
    """
    rate = 0.0
    for d in (20, MEASURED, 100, 200):
        prompts = Setting(d=d, alpha=10, kappa=0.5, tau=0.8, rho=0.01).prompts(0, 0)
        repeat = 3 if d <= 100 else 1
        ours = seconds(lambda prompts=prompts: solve(prompts, 0.1, tol=1e-6), repeat=repeat)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        size = d * (d + 1)
        operations = len(prompts.y) * size**2 + size**3 / 3
        if d <= MEASURED:
            plain = seconds(lambda prompts=prompts: solve_dense(prompts, 0.1), repeat=3)
            rate, how = plain / operations, "measured"
        else:
            plain, how = rate * operations, "extrapolated"
        matrix = f"dense {8 * size**2 / 1e9:.3g} GB, process {peak:.2f} GB"
        yield f"solve for Γ, d = {d}, plain {how} ({matrix})", plain, ours


def bench_tokens() -> Iterator[Row]:
    """2000 prompts of d = 20: token by token against the 2 × 2 Wishart matrix."""
    tasks = draw_tasks(2000, 20, stream(0, "tasks"))
    for ell in (20, 200, 1000):
        context = Context(d=20, ell=ell, rho=0.01)
        plain = seconds(lambda c=context: sample_naive(tasks, c, stream(0, "a")))
        ours = seconds(lambda c=context: sample(tasks, c, stream(0, "b")))
        yield f"sample 2000 prompts, d = 20, ℓ = {ell}", plain, ours


def bench_theory() -> Iterator[Row]:
    """Both errors at 100 000 values of τ: bisection point by point (1000 of them, times 100)."""

    def point(tau: float) -> None:
        phase = Phase(alpha=10, kappa=0.5, tau=tau, rho=0.01)

        def excess(nu: float) -> float:
            pull = nu * nu * asymptotics.marchenko_pastur(phase.q + nu, 0.5)
            return nu * (1 - tau) + tau * 0.1 - pull

        brentq(excess, 0.1, 0.1 + (1 + phase.q) / tau, xtol=1e-300, rtol=1e-14, maxiter=500)

    taus = torch.linspace(0.1, 3, 100_000).double()
    plain = 100 * seconds(lambda: [point(tau) for tau in taus[::100].tolist()])
    ours = seconds(
        lambda: asymptotics.errors(Phase(alpha=10, kappa=0.5, tau=taus, rho=0.01), 0.1), repeat=3
    )
    yield "errors at 100 000 values of τ, λ = 0.1", plain, ours
