"""Batches of small matrix products, by numpy and by torch."""

import torch
from bench import seconds

from iclutils.products import product
from iclutils.randomness import stream

SIZES = (
    ((576, 10, 10), (576, 10, 10)),
    ((64, 63, 10), (64, 10, 50)),
    ((20000, 4, 10), (20000, 10, 4)),
)


def bench_products() -> list[tuple[str, float, float]]:
    """Draw the batches of a training step and of a Newton step of the tower of Collins et al."""
    rows = []
    for first, second in SIZES:
        a, b = (
            torch.randn(*size, generator=stream(0, "bench"), dtype=torch.float64)
            for size in (first, second)
        )
        plain = seconds(lambda a=a, b=b: [a @ b for _ in range(20)], repeat=5)
        ours = seconds(lambda a=a, b=b: [product(a, b) for _ in range(20)], repeat=5)
        rows.append((f"20 products of {first} and {second}", plain, ours))
    return rows
