r"""Prompts of kinks or ramps for whole transformers: one steepness for all, or one of several each.

A task is that of Collins et al., Definition 3.2,

.. math:: f(x) = l_1(w^\top x)_+ + l_2(-w^\top x)_+ + b,

w uniform on the sphere, the three numbers on [−L, L]; a ramp is :math:`f(x) = l\,w^\top x + b`.
With several steepnesses L each prompt draws one of them, and nothing tells which but the labels.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal, stream
from iclutils.window.covariates import Sphere
from iclutils.window.function_classes import Affine, ReLU
from iclutils.window.prompts import Prompt, draw

BLOCK = 50  # steps that are drawn at once from one stream; part of the definition of the draws


@dataclass(frozen=True)
class Kinks:
    """Prompts of ``n`` examples in dimension ``d``, with noise ``sigma`` on their labels.

    ``steepness`` are the L of which each prompt draws one, all equally likely. With ``shuffled``
    labels each label belongs to the place of another example, so that places tell nothing.

    Raises ``ValueError`` where d is below 2, n below 1, sigma negative, no steepness is given or
    one is not positive.
    """

    d: int
    n: int
    sigma: float
    steepness: tuple[float, ...]
    shuffled: bool = False
    function: ClassVar[type[Affine] | type[ReLU]] = ReLU

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        validation.whole("n", self.n)
        validation.noise("sigma", self.sigma)
        validation.whole("the number of steepnesses", len(self.steepness))
        for L in self.steepness:
            validation.positive("steepness", L)
        validation.flag("shuffled", self.shuffled)

    @property
    def unit(self) -> float:
        """The unit in which a network reads labels and gives answers: the largest steepness."""
        return max(self.steepness)

    def covariance(self, t: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """E f(x)f(y) at x·y = ``t``, over the tasks of all steepnesses."""
        square = sum(L**2 for L in self.steepness) / len(self.steepness)
        return self.function(self.d, math.sqrt(square)).covariance(t)


class Ramps(Kinks):
    """Prompts of ramps, the affine tasks; otherwise as :class:`Kinks`.

    >>> ramps = Ramps(2, 24, 1.0, (4.0,))
    >>> float(ramps.covariance(torch.tensor(-1.0))), float(ramps.covariance(torch.tensor(1.0)))
    (2.6666666666666665, 8.0)
    """

    function = Affine


def draw_kinks(
    kinks: Kinks, queries: int, size: tuple[int, ...], generator: torch.Generator
) -> Prompt:
    """Draw ``size`` prompts, each with a task of its own.

    Raises ``ValueError`` where ``queries`` is below 1 or ``size`` is no tuple of whole numbers.

    >>> prompt = draw_kinks(Kinks(2, 6, 1.0, (1.0, 4.0)), 3, (5,), stream(0, "prompts"))
    >>> tuple(prompt.y.shape), tuple(prompt.target.shape)
    ((5, 6), (5, 3))
    """
    plain = draw(kinks.function(kinks.d), Sphere(kinks.d), kinks.n, 0.0, queries, size, generator)
    choice = torch.randint(len(kinks.steepness), size, generator=generator)
    L = torch.tensor(kinks.steepness, dtype=torch.float64)[choice].unsqueeze(-1)
    noise = normal(*size, kinks.n, generator=generator)
    y = L * plain.y + kinks.sigma * noise
    if kinks.shuffled:
        order = torch.rand(*size, kinks.n, generator=generator, dtype=torch.float64).argsort(-1)
        y = y.gather(-1, order)
    return Prompt(plain.x, y, plain.query, L * plain.target)


def draw_for_networks(
    kinks: Kinks, queries: int, size: tuple[int, ...], seed: int, role: str, networks: Sequence[int]
) -> Prompt:
    """Draw prompts of their own for each of several networks, the first axis.

    A network is a number that names its stream, so that its prompts do not depend on which others
    there are.
    """
    each = [
        draw_kinks(kinks, queries, size, stream(seed, role, *_words(kinks), network))
        for network in networks
    ]
    return stack_prompts(each)


def training_prompts(
    kinks: Kinks, queries: int, prompts: int, steps: int, seed: int, networks: Sequence[int]
) -> Iterator[Prompt]:
    """Yield the minibatch of each of ``steps`` steps, ``prompts`` for each network, in float32."""
    for block in range(math.ceil(steps / BLOCK)):
        role = f"training of transformers, block {block}"
        batch = draw_for_networks(kinks, queries, (BLOCK, prompts), seed, role, networks)
        parts = [part.float() for part in (batch.x, batch.y, batch.query, batch.target)]
        for step in range(min(BLOCK, steps - block * BLOCK)):
            yield Prompt(*(part[:, step] for part in parts))


def _words(kinks: Kinks) -> tuple[str | int, ...]:
    """Return what tells one class of prompts from another in the name of a stream."""
    return kinks.d, kinks.n, f"{kinks.sigma:g}", *(f"{L:g}" for L in kinks.steepness)


def stack_prompts(prompts: Sequence[Prompt]) -> Prompt:
    """Stack the prompts of several networks along a new first axis."""
    return Prompt(
        torch.stack([prompt.x for prompt in prompts]),
        torch.stack([prompt.y for prompt in prompts]),
        torch.stack([prompt.query for prompt in prompts]),
        torch.stack([prompt.target for prompt in prompts]),
    )
