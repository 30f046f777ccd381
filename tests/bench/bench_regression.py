"""The structured solver and the exact sampler of linear_icl against the plain ways: ``make bench NAME=linear_icl``."""

import math
import resource
from collections.abc import Iterator

from bench import seconds

from iclutils import features, linear_icl
from iclutils.linear_icl import Setting
from iclutils.randomness import stream

Row = tuple[str, float, float]


def bench_solve() -> Iterator[Row]:
    """Γ at τ = 0.8, α = 10, κ = ½, λ = 0.1: d(d+1)-square normal equations against conjugate gradients."""
    for d in (20, 50, 100, 200):
        prompts = Setting(d, 10, 0.5, 0.8, 0.01).prompts(0, 0)
        ours = seconds(lambda prompts=prompts: linear_icl.solve(prompts, 0.1, tol=1e-6))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        plain = seconds(lambda prompts=prompts: linear_icl.solve_dense(prompts, 0.1)) if d <= 50 else math.nan
        dense = 8 * (d * (d + 1)) ** 2 / 1e9
        yield f"solve for Γ, d = {d} (dense matrix {dense:.3g} GB; process so far {peak:.2f} GB)", plain, ours


def bench_tokens() -> Iterator[Row]:
    """2000 prompts of d = 20: token by token against the 2 × 2 Wishart matrix."""
    for ell in (20, 200, 1000):
        tasks = features.draw_tasks(2000, 20, stream(0, "tasks"))
        plain = seconds(lambda tasks=tasks, ell=ell: features.sample_naive(tasks, ell, 0.01, stream(0, "a")))
        ours = seconds(lambda tasks=tasks, ell=ell: features.sample(tasks, ell, 0.01, stream(0, "b")))
        yield f"sample 2000 prompts, d = 20, ℓ = {ell}", plain, ours
