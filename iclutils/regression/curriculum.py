r"""Training a transformer on few coordinates first: what a curriculum saves at larger d.

A prompt with a of its d coordinates active has zeros in the others, of its tokens and of its task,
so that its labels are

.. math:: y_i = \sum_{j\le a} x_{ij}w_j + \varepsilon_i,

and it shows its first αa tokens. A stage has ``steps`` steps; each stage activates one coordinate
more, and when all d are active, the prompts are those of
:func:`iclutils.regression.fleet.draw_fleet`. This is after Garg et al. (NeurIPS 2022, arXiv
2208.01066, appendix A), who draw new prompts at every step where we mask a fixed set of them. What
is zero need not be computed: a model on masked prompts is the model without the other coordinates'
rows of the embedding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import stream
from iclutils.regression.fleet import Fleet
from iclutils.regression.transformer_training import check_device, cooled_adamw
from iclutils.regression.transformers import (
    Architecture,
    Tokens,
    Weights,
    forward,
    tokens_of,
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
    """The weights that see the active coordinates and the label."""
    embed = weights["embed"]
    return weights | {"embed": torch.cat([embed[:, :active], embed[:, -1:]], 1)}


def train(
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
        drawn = Tokens(tokens[:, chosen], y[:, chosen])
        seen = masked(drawn, own[chosen], active, (t - 1) * active // d)
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
