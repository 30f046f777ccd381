"""Trained attention layers: no padding, no tokens and no work on what is done, and no autograd."""

from collections.abc import Iterator

import torch
from bench import seconds

from iclutils.regression import levenberg_marquardt
from iclutils.regression.layers import jacobian, layer_output
from iclutils.regression.training_sets import Fleet, draw_fleet

Row = tuple[str, float, float]

SIZES = [n for n in (10, 14, 16, 24, 38, 72) for _ in range(16)]  # d = 4: the count is 24


def plain_fit(fleet: Fleet, iterations: int) -> torch.Tensor:
    """Levenberg–Marquardt on all layers and all their padding, to the last step."""
    u, m = torch.randn(len(SIZES), 5).double(), torch.randn(len(SIZES), 5, 4).double()
    theta = torch.cat([u, m.flatten(1)], 1)
    damping = torch.ones(len(theta), 1, dtype=torch.float64)

    def residual(theta: torch.Tensor) -> torch.Tensor:
        answers = layer_output(fleet.z, theta[:, :5], theta[:, 5:].reshape(-1, 5, 4))
        return (answers - fleet.y) * fleet.mask

    r = residual(theta)
    for _ in range(iterations):
        j = jacobian(fleet.z, theta[:, :5], theta[:, 5:].reshape(-1, 5, 4)) * fleet.mask[..., None]
        normal = j.mT @ j + damping[..., None] * torch.eye(25, dtype=torch.float64)
        tried = theta - torch.linalg.solve(normal, j.mT @ r[..., None])[..., 0]
        there = residual(tried)
        better = there.square().sum(1, keepdim=True) < r.square().sum(1, keepdim=True)
        theta, r = torch.where(better, tried, theta), torch.where(better, there, r)
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-12, 1e8)
    return theta


def plain_training(fleet: Fleet, steps: int) -> torch.Tensor:
    """AdamW by autograd on the padded prompts."""
    k, q, u = (torch.randn(len(SIZES), *size).double() for size in ((4, 5), (4, 5), (5,)))
    optimiser = torch.optim.AdamW([w.requires_grad_() for w in (k, q, u)], lr=0.01, fused=True)
    for _ in range(steps):
        optimiser.zero_grad()
        error = layer_output(fleet.z, u, k.mT @ q[..., :-1]) - fleet.y
        ((error.square() * fleet.mask).sum(1) / fleet.mask.sum(1)).sum().backward()
        optimiser.step()
    return u.detach()


def bench_layers() -> Iterator[Row]:
    """96 linear layers of d = 4 by Levenberg–Marquardt, 200 steps, and by AdamW, 300 steps."""
    fleet = draw_fleet(SIZES, 4, 4, 0.01, 0)
    plain = seconds(lambda: plain_fit(fleet, 200))
    ours = seconds(lambda: levenberg_marquardt.fit(fleet, 0, unconverged=1.0))
    yield "96 layers by Levenberg–Marquardt", plain, ours
    plain = seconds(lambda: plain_training(fleet, 300))
    yield "96 layers by AdamW", plain, seconds(lambda: levenberg_marquardt.train(fleet, 0, [300]))
