"""Chapter 6's speed, on the same work: a stiff solve against descent, counts against tokens."""

import torch
from bench import seconds

from iclutils.randomness import stream
from iclutils.stages.prompts import feature_frame, probabilities
from iclutils.stages.theory import meanfield
from iclutils.stages.training import train_reduced, train_sampled

Row = tuple[str, float, float]


def bench_flow() -> list[Row]:
    """Train a rare column to ε = 0.1, on the same three entries: descent at η = 1, and the flow."""
    rows = []
    for K in (50, 100, 200):
        ours = seconds(lambda K=K: meanfield.flow("rare", K, 0.5, errors=(0.1,)))
        steps = int(meanfield.flow("rare", K, 0.5, errors=(0.1,)).times[0.1])
        plain = seconds(lambda K=K, steps=steps: _descend(K, steps))
        name = f"rare column to 0.1, K = {K}: {steps} descent steps against one stiff solve"
        rows.append((name, plain, ours))
    return rows


def _descend(K: int, steps: int) -> meanfield.Descent:
    return meanfield.descend("rare", K, 0.5, learning_rate=1.0, steps=steps)


def bench_flow_at_5000() -> list[Row]:
    """K = 5000: 1000 steps of descent are timed and scaled to all that ε = 0.001 takes at η = 1."""
    ours = seconds(lambda: meanfield.flow("rare", 5000, 0.5))
    steps = int(meanfield.flow("rare", 5000, 0.5).times[0.001])
    plain = seconds(lambda: _descend(5000, 1000)) * steps / 1000
    work = f"rare column to 0.001, K = 5000: {steps} steps (extrapolated)"
    return [(f"{work} against one stiff solve", plain, ours)]


def bench_counts() -> list[Row]:
    """200 steps of K = 12 columns at N = 600: tokens and autograd against counts without tasks."""
    p, targets = probabilities(12, 0.5), torch.arange(12)
    frame = feature_frame(12, 14, stream(0, "frame"))
    plain = seconds(
        lambda: train_sampled(
            p,
            frame,
            600,
            learning_rate=0.5,
            steps=200,
            prompts=12 * 16,
            runs=1,
            generator=stream(0, "sampled"),
        )
    )
    ours = seconds(
        lambda: train_reduced(
            p,
            600,
            targets,
            learning_rate=0.5,
            steps=200,
            prompts=16,
            generator=stream(0, "reduced"),
        )
    )
    return [("200 steps on 192 prompts, K = 12, N = 600: tokens against counts", plain, ours)]
