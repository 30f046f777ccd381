"""Training a fleet of whole transformers by AdamW, each network on fresh prompts of its own."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.transformer.models import Architecture, answers
from iclutils.transformer.samplers import BLOCK, Kinks, training_prompts


class Schedule(NamedTuple):
    """How a network is trained: what its result depends on beside architecture and prompts.

    The rate rises linearly to ``rate`` over the first share ``warmup`` of the ``steps`` and then
    falls to zero as a half cosine. A step has ``prompts`` prompts of ``queries`` queries; a
    gradient longer than ``longest`` is cut to that length, for each network by itself.
    """

    steps: int
    rate: float = 6e-3
    warmup: float = 0.1
    prompts: int = 32
    queries: int = 8
    longest: float = 1.0
    decay: float = 1e-4

    def rate_at(self, step: int) -> float:
        """Compute the learning rate at ``step``, which counts from 0.

        >>> [round(Schedule(100, rate=1.0).rate_at(step), 3) for step in (0, 9, 55, 99)]
        [0.1, 1.0, 0.5, 0.0]
        """
        rising = max(1, round(self.warmup * self.steps))
        if step < rising:
            return self.rate * (step + 1) / rising
        along = (step - rising) / max(1, self.steps - rising)
        return self.rate * 0.5 * (1 + math.cos(math.pi * along))


class Trained(NamedTuple):
    """The weights of a fleet, and the mean loss of each network over each block of 50 steps."""

    weights: Float[Tensor, "networks P"]
    losses: Float[Tensor, "blocks networks"]


def train(
    architecture: Architecture,
    kinks: Kinks,
    schedule: Schedule,
    seed: int,
    networks: Sequence[int],
    *,
    until: int | None = None,
) -> Trained:
    r"""Train networks on fresh prompts; what they minimise is the squared error in their unit.

    .. math:: E\,(\hat y - f(x))^2 / L^2

    ``networks`` are numbers that name the streams of first weights and prompts. ``until`` ends the
    training early, with the rates of the whole one. Raises ``ValueError`` where a number of the
    schedule is out of its range, ``RuntimeError`` where a network diverges.

    >>> kinks = Kinks(2, 6, 1.0, (4.0,))
    >>> history = train(Architecture(2, width=8), kinks, Schedule(100, prompts=8), 0, [0, 1])
    >>> bool((history.losses[-1] < history.losses[0]).all())
    True
    """
    _check(schedule)
    steps = schedule.steps
    steps = steps if until is None else validation.whole("until", until, high=steps)
    weights = architecture.initial_weights(seed, networks).requires_grad_()
    optimiser = adamw(weights, schedule.rate, schedule.decay)
    minibatches = training_prompts(kinks, schedule.queries, schedule.prompts, steps, seed, networks)
    history: list[Tensor] = []
    for step, prompt in enumerate(minibatches):
        optimiser.param_groups[0]["lr"] = schedule.rate_at(step)
        answer = answers(architecture, weights, prompt.x, prompt.y / kinks.unit, prompt.query)
        loss = (answer - prompt.target / kinks.unit).square().mean((1, 2))
        optimiser.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        _shorten(weights, schedule.longest)
        optimiser.step()
        history.append(loss.detach())
    losses = torch.stack(
        [torch.stack(history[i : i + BLOCK]).mean(0) for i in range(0, steps, BLOCK)]
    )
    if not bool(torch.isfinite(losses).all()):
        raise RuntimeError(f"rate must be smaller; with {schedule.rate:g} a network diverged")
    return Trained(weights.detach(), losses.double())


def adamw(weights: Tensor, rate: float, decay: float = 1e-4) -> torch.optim.Optimizer:
    """Make the AdamW of all whole transformers, with momenta 0.9 and 0.98."""
    return torch.optim.AdamW([weights], lr=rate, betas=(0.9, 0.98), weight_decay=decay, fused=True)


def _shorten(weights: Float[Tensor, "networks P"], longest: float) -> None:
    """Cut each network's gradient to the length ``longest``."""
    gradient = weights.grad
    assert gradient is not None  # backward has been called
    length = gradient.norm(dim=1, keepdim=True)
    gradient.mul_((longest / length.clamp(min=1e-12)).clamp(max=1))


def _check(schedule: Schedule) -> None:
    for name in ("steps", "prompts", "queries"):
        validation.whole(name, getattr(schedule, name))
    for name in ("rate", "longest"):
        validation.positive(name, getattr(schedule, name))
    validation.in_range("warmup", schedule.warmup, 0, 1)
    validation.nonnegative("decay", schedule.decay)
