"""Training a fleet of transformers by AdamW in minibatches, as the authors of Lu et al. do."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import stream
from iclutils.regression.fleet import Fleet
from iclutils.regression.transformers import Architecture, Weights, forward, tokens_of


def train(
    architecture: Architecture,
    fleet: Fleet,
    seed: int,
    checkpoints: Sequence[int],
    *,
    learning_rate: float = 1e-3,
    cooldown: float = 0.2,
    batch: int | None = None,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> list[Weights]:
    """Train B models by AdamW, each on its set of n prompts; the weights after each checkpoint.

    Minibatches have ``batch`` prompts, or else ⌊n/10⌋ and at least one, drawn without replacement,
    afresh for every step and at the same places in all sets. The ``learning_rate`` falls linearly
    to zero over the last share ``cooldown`` of the steps (from 0 to 1); the weight decay is 10⁻⁴.
    ``checkpoints`` are rising numbers of steps, and the last is the length of the training.
    ``seed`` chooses initial weights and minibatches, the same ones on every ``device``; ``dtype``
    is the precision.

    >>> from iclutils.regression.fleet import draw_fleet
    >>> from iclutils.regression.transformers import losses
    >>> fleet = draw_fleet([20, 20], d=3, ell=3, rho=0.01, seed=0)
    >>> architecture = Architecture(3, blocks=1, dense=0)
    >>> early, late = train(architecture, fleet, seed=0, checkpoints=[1, 100])
    >>> fell = losses(architecture, late, fleet) < losses(architecture, early, fleet)
    >>> fell.tolist()
    [True, True]

    Raises ``ValueError`` where ``learning_rate`` is not positive, ``cooldown`` outside [0, 1],
    ``batch`` outside 1 to n, a checkpoint below 1, the checkpoints do not rise, the fleet's sets
    differ in size, or this machine has no such ``device``; ``RuntimeError`` where one diverges.
    """
    check_device(device)
    _check_checkpoints(checkpoints)
    tokens, y = (part.to(device) for part in tokens_of(fleet, dtype))
    count, n = y.shape
    size = max(1, n // 10) if batch is None else validation.whole("batch", batch, high=n)
    start = architecture.initial_weights(seed, range(count), dtype)
    weights = {name: w.to(device) for name, w in start.items()}
    generator = stream(seed, "minibatches", n)

    def loss(step: int) -> Tensor:
        chosen = torch.randperm(n, generator=generator)[:size].to(device)
        answers = forward(architecture, weights, tokens.index_select(1, chosen))
        error = answers - y.index_select(1, chosen)
        return error.square().mean(1).sum()

    return cooled_adamw(
        weights, loss, checkpoints[-1], checkpoints, learning_rate=learning_rate, cooldown=cooldown
    )


def cooled_adamw(
    weights: Weights,
    loss: Callable[[int], Tensor],
    steps: int,
    checkpoints: Sequence[int],
    *,
    learning_rate: float,
    cooldown: float,
) -> list[Weights]:
    """Train ``weights`` in place by AdamW; copies of them after each of the ``checkpoints``.

    ``loss`` is what step 1, 2, … to ``steps`` goes down; it is called once a step, in their order.
    The ``learning_rate`` falls linearly to zero over the last share ``cooldown`` of the steps; the
    weight decay is 10⁻⁴.

    Raises ``ValueError`` where ``learning_rate`` is not positive, ``cooldown`` outside [0, 1], a
    checkpoint outside 1 to ``steps`` or they do not rise; ``RuntimeError`` where one diverges.
    """
    validation.positive("learning_rate", learning_rate)
    validation.in_range("cooldown", cooldown, 0, 1)
    _check_checkpoints(checkpoints, steps)
    parameters = [w.requires_grad_() for w in weights.values()]
    optimiser = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=1e-4, fused=True)
    kept = []
    for step in range(1, steps + 1):
        if cooldown:
            share = min(1.0, (steps - step + 1) / (cooldown * steps))
            optimiser.param_groups[0]["lr"] = learning_rate * share
        going_down = loss(step)
        optimiser.zero_grad()
        going_down.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step in checkpoints:
            if not all(bool(torch.isfinite(w).all()) for w in parameters):
                raise RuntimeError(
                    f"learning_rate must be smaller; with {learning_rate:g} a model diverged within"
                    f" {step} steps"
                )
            kept.append({name: w.detach().clone() for name, w in weights.items()})
    return kept


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have, by a ``ValueError``."""
    try:
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device must be 'cpu' or one that this machine has; got {device!r} ({reason})"
        ) from None


def _check_checkpoints(checkpoints: Sequence[int], steps: int | None = None) -> None:
    for step in checkpoints:
        validation.whole("checkpoints", step, high=steps)
    if not checkpoints or list(checkpoints) != sorted(set(checkpoints)):
        raise ValueError(
            f"checkpoints must be at least one number and rise; got {list(checkpoints)}"
        )
