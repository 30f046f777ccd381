"""A fleet of transformers as one program against one model after another in plain torch.

``make bench NAME=transformers``.
"""

from collections.abc import Iterator

import torch
from bench import seconds
from torch import nn

from iclutils.randomness import stream
from iclutils.regression.training_sets import draw_fleet
from iclutils.regression.transformer_training import train
from iclutils.regression.transformers import Architecture, tokens_of

Row = tuple[str, float, float]
STEPS = 20


class Block(nn.Module):
    """Attention over all tokens, one dense layer, two norms: what a reader would write."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.first, self.dense, self.last = nn.LayerNorm(d), nn.Linear(d, d), nn.LayerNorm(d)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        q, k, v = self.q(h), self.k(h), self.v(h)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        g = self.first(h + attended)
        return self.last(g + self.dense(g))


def _plain(d: int, blocks: int, tokens: torch.Tensor, y: torch.Tensor) -> None:
    model = nn.Sequential(nn.Linear(d + 1, d), *(Block(d) for _ in range(blocks)), nn.Linear(d, 1))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    draw = stream(0, "bench")
    for _ in range(STEPS):
        chosen = torch.randperm(len(y), generator=draw)[: len(y) // 10]
        optimiser.zero_grad()
        (model(tokens[chosen])[:, -1, 0] - y[chosen]).square().mean().backward()
        optimiser.step()


def bench_training() -> Iterator[Row]:
    """20 000 steps of AdamW, extrapolated from 20; the plain way from two models."""
    sizes = ((5, 1, 50, 32), (5, 2, 100, 16), (10, 1, 200, 16), (7, 2, 150, 16))
    for d, blocks, n, models in sizes:
        yield _race(Architecture(d, blocks), n, models)


def _race(architecture: Architecture, n: int, models: int) -> Row:
    d, blocks = architecture.d, architecture.blocks
    fleet = draw_fleet([n] * models, d, d, 0.01, 0)
    tokens, y = tokens_of(fleet)

    def one_after_another() -> None:
        for i in range(2):
            _plain(d, blocks, tokens[i], y[i])

    ours = seconds(lambda: train(architecture, fleet, 0, [STEPS]), repeat=3)
    plain = seconds(one_after_another, repeat=3) * models / 2
    what = f"20 000 steps, {models} transformers, {blocks} blocks, d = {d}, n = {n}"
    return what, plain * 20_000 / STEPS, ours * 20_000 / STEPS
