r"""Training a fleet of transformers by AdamW in minibatches, as the authors of Lu et al. do.

And on few coordinates first, after Garg et al. (NeurIPS 2022, arXiv 2208.01066, appendix A), who
draw new prompts at every step where we mask a fixed set of them. A prompt with a of its d
coordinates active has zeros in the others, of its tokens and of its task, so that its labels are

.. math:: y_i = \sum_{j\le a} x_{ij}w_j + \varepsilon_i,

and it shows its first αa tokens. A stage has ``steps`` steps; each stage activates one coordinate
more, and when all d are active, the prompts are those of
:func:`iclutils.regression.training_sets.draw_fleet`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression.training_sets import Fleet
from iclutils.regression.transformers import (
    Architecture,
    Tokens,
    Weights,
    forward,
    tokens_of,
)


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

    >>> from iclutils.regression.training_sets import draw_fleet
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
    snapshots = []
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
            snapshots.append({name: w.detach().clone() for name, w in weights.items()})
    return snapshots


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


@dataclass(frozen=True)
class Curriculum:
    """How many coordinates are active at ``first``, ``steps`` of a stage, and of the ``last`` one.

    >>> plan = Curriculum(first=2, steps=10, last=100)
    >>> [plan.active(step, d=4) for step in (1, 10, 11, 20, 21, 120)], plan.length(d=4)
    ([2, 2, 3, 3, 4, 4], 120)

    Raises ``ValueError`` where one of them is below 1, or ``first`` below 2.
    """

    first: int
    steps: int
    last: int

    def __post_init__(self) -> None:
        validation.whole("first", self.first, low=2)
        validation.whole("steps", self.steps)
        validation.whole("last", self.last)

    def active(self, step: int, d: int) -> int:
        """How many of ``d`` coordinates are active at ``step``, which counts from 1."""
        return min(d, self.first + (step - 1) // self.steps)

    def length(self, d: int) -> int:
        """How many steps it has in all at ``d`` coordinates."""
        return self.steps * max(0, d - self.first) + self.last


def masked(prompts: Tokens, tasks: Float[Tensor, "prompts d"], active: int, ell: int) -> Tokens:
    """Prompts of one model with the first ``active`` coordinates, ``ell`` tokens and the query.

    The tokens have active + 1 entries: the zeros are left out. ``tasks`` are the prompts' own.
    Raises ``ValueError`` where ``active`` or ``ell`` is more than the prompts have, or below 1.
    """
    sizes = validation.shape("prompts", prompts.tokens, "1 n t e")
    t, e = sizes["t"], sizes["e"]
    validation.whole("active", active, high=e - 1)
    validation.whole("ell", ell, high=t - 1)
    tokens, y = prompts
    if ell < t - 1:
        tokens = torch.cat([tokens[:, :, :ell], tokens[:, :, -1:]], 2)
    if active == e - 1:
        return Tokens(tokens, y)
    rest = (tokens[..., active:-1] @ tasks[:, active:, None])[..., 0]
    labels = tokens[..., -1] - rest
    labels[..., -1] = 0
    shown = torch.cat([tokens[..., :active], labels[..., None]], -1)
    return Tokens(shown, y - rest[..., -1])


def _on_active(weights: Weights, active: int) -> Weights:
    """Return the weights that see the active coordinates and the label."""
    embed = weights["embed"]
    return weights | {"embed": torch.cat([embed[:, :active], embed[:, -1:]], 1)}


def train_by_curriculum(
    architecture: Architecture,
    fleet: Fleet,
    tasks: Float[Tensor, "list d"],
    seed: int,
    curriculum: Curriculum,
    checkpoints: Sequence[int],
    *,
    model: int = 0,
    batch: int,
    learning_rate: float = 1e-3,
    cooldown: float = 0.3,
    device: str = "cpu",
) -> list[Weights]:
    """Train one model by AdamW on the one set of prompts in ``fleet``; weights after checkpoints.

    Prompt i has the task i mod k of the k ``tasks``. Minibatches of ``batch`` prompts are drawn
    without replacement, afresh for every step. The learning rate falls linearly to zero over the
    last share ``cooldown`` of all steps; the weight decay is 10⁻⁴. The ``checkpoints`` are numbers
    of steps. ``seed`` and the number ``model`` name the random streams of first weights and
    minibatches. In single precision.

    Raises ``ValueError`` where the fleet has more than one set, ``batch`` is more than that has,
    ``cooldown`` is outside [0, 1], ``learning_rate`` not positive, a checkpoint outside 1 to all
    steps, they do not rise, or this machine has no such ``device``; ``RuntimeError`` where the
    model diverges.
    """
    check_device(device)
    d = architecture.d
    tokens, y = (part.to(device) for part in tokens_of(fleet))
    sizes = validation.shape("fleet.z", tokens, "1 n t e", e=d + 1)
    n, t = sizes["n"], sizes["t"]
    validation.whole("batch", batch, high=n)
    own = tasks.to(device, tokens.dtype)[torch.arange(n, device=device) % len(tasks)]
    start = architecture.initial_weights(seed, [model])
    weights = {name: w.to(device) for name, w in start.items()}
    generator = stream(seed, "curriculum minibatches", d, n, model)

    def loss(step: int) -> Tensor:
        chosen = torch.randperm(n, generator=generator)[:batch].to(device)
        active = curriculum.active(step, d)
        minibatch = Tokens(tokens[:, chosen], y[:, chosen])
        seen = masked(minibatch, own[chosen], active, (t - 1) * active // d)
        small = Architecture(active, architecture.blocks, architecture.dense, architecture.width)
        answers = forward(small, _on_active(weights, active), seen.tokens)
        return (answers - seen.y).square().mean()

    return cooled_adamw(
        weights,
        loss,
        curriculum.length(d),
        checkpoints,
        learning_rate=learning_rate,
        cooldown=cooldown,
    )
