"""Chapter 6's speed: one stiff solve against gradient descent, counts against tokens, on the same work (`make bench`)."""

import time
from collections.abc import Callable

import torch

from iclutils import meanfield, stagewise
from iclutils.randomness import stream

Row = tuple[str, float, float]


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def bench_flow() -> list[Row]:
    """A rare column to ε = 0.1: plain descent on the same three entries, η = 1, against the flow."""
    rows = []
    for K in (50, 100, 200):
        ours = _seconds(lambda K=K: meanfield.flow("rare", K, 0.5, errors=(0.1,)))
        steps = int(meanfield.flow("rare", K, 0.5, errors=(0.1,)).times[0.1])
        plain = _seconds(lambda K=K, steps=steps: meanfield.descend("rare", K, 0.5, eta=1.0, steps=steps))
        rows.append((f"rare column to 0.1, K = {K}: {steps} descent steps against one stiff solve", plain, ours))
    return rows


def bench_flow_at_5000() -> list[Row]:
    """K = 5000, extrapolated: 1000 descent steps are timed and scaled to the 5·10⁷ that ε = 0.1 takes at η = 1."""
    ours = _seconds(lambda: meanfield.flow("rare", 5000, 0.5))
    steps = int(meanfield.flow("rare", 5000, 0.5).times[0.001])
    plain = _seconds(lambda: meanfield.descend("rare", 5000, 0.5, eta=1.0, steps=1000)) * steps / 1000
    return [(f"rare column to 0.001, K = 5000: {steps} steps (extrapolated) against one stiff solve", plain, ours)]


def bench_counts() -> list[Row]:
    """200 steps of K = 12 columns at N = 600: tokens, tasks and autograd against counts with tasks integrated out."""
    p, targets = stagewise.probabilities(12, 0.5), torch.arange(12)
    frame = stagewise.feature_frame(12, 14, stream(0, "frame"))
    plain = _seconds(lambda: stagewise.train_sampled(p, frame, 600, eta=0.5, steps=200, prompts=12 * 16, runs=1,
                                                     generator=stream(0, "sampled")))
    ours = _seconds(lambda: stagewise.train_reduced(p, 600, targets, eta=0.5, steps=200, prompts=16,
                                                    generator=stream(0, "reduced")))
    return [("200 steps on 192 prompts, K = 12, N = 600: tokens against counts", plain, ours)]
