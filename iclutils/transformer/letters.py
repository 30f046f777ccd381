r"""Prompts of chapter 6's features for whole transformers: letters, of which one is dominant.

Of K letters the first has the probability :math:`p_1`, and the others share the rest equally. In
each prompt letter m has a label :math:`w_m \sim \mathcal N(0, 1)` of its own, which all its
examples bear, and a query asks for the label of its letter. An example's place is :math:`x = e_m`.

Equal examples stand together: a prompt of N examples is its K letters with their counts
:math:`n \sim \mathrm{Multinomial}(N, p)`, and it takes the time of K examples, however large N is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal, stream
from iclutils.stages.prompts import draw_counts, probabilities
from iclutils.transformer.samplers import BLOCK

DOMINANT = 0  # the number of the dominant letter


@dataclass(frozen=True)
class Letters:
    """Prompts of ``N`` examples of ``K`` letters, of which the first has the probability ``p1``.

    Raises ``ValueError`` where K is below 2, N below 1, or p1 outside of (0, 1).
    """

    K: int
    N: int
    p1: float = 0.5

    def __post_init__(self) -> None:
        validation.whole("N", self.N)
        probabilities(self.K, self.p1)

    @property
    def p(self) -> Float[Tensor, " K"]:
        """The letters' probabilities."""
        return probabilities(self.K, self.p1)


class LetterPrompt(NamedTuple):
    """A batch of prompts; their examples are the letters 0 to K − 1, each once, with its count.

    ``letter`` is the letter of each query, and ``target`` its label.
    """

    labels: Float[Tensor, "*prompts K"]
    counts: Float[Tensor, "*prompts K"]
    letter: Int[Tensor, "*prompts q"]
    target: Float[Tensor, "*prompts q"]

    def at(self, step: int) -> "LetterPrompt":
        """Select the prompts of one entry of the first axis."""
        return LetterPrompt(*(part[step] for part in self))

    def places(self) -> tuple[Float[Tensor, "*prompts K K"], Float[Tensor, "*prompts q K"]]:
        """Write the letters and the queries as vectors, :math:`x = e_m`."""
        K = self.labels.shape[-1]
        every = torch.eye(K, dtype=self.labels.dtype)
        return every.expand(*self.labels.shape, K), every[self.letter]


def draw_letters(
    letters: Letters, queries: int, size: tuple[int, ...], generator: torch.Generator
) -> LetterPrompt:
    """Draw ``size`` prompts, and for each ``queries`` letters that are asked as often as they are.

    Raises ``ValueError`` where ``queries`` or a size is below 1.

    >>> prompt = draw_letters(Letters(4, 100), 3, (5,), stream(0, "letters"))
    >>> tuple(prompt.labels.shape), tuple(prompt.target.shape)
    ((5, 4), (5, 3))
    """
    validation.whole("queries", queries)
    size = validation.sizes("size", size)
    counts = draw_counts(letters.p, letters.N, size, generator)
    labels = normal(*size, letters.K, generator=generator)
    many = math.prod(size) * queries
    letter = torch.multinomial(letters.p, many, replacement=True, generator=generator)
    return _ask(labels, counts, letter.view(*size, queries))


def training_letters(
    letters: Letters, queries: int, prompts: int, steps: int, seed: int, networks: Sequence[int]
) -> Iterator[LetterPrompt]:
    """Yield the minibatch of each of ``steps`` steps, ``prompts`` for each network, in float32.

    A network is a number that names its stream, so that its prompts do not depend on which others
    there are.
    """
    for block in range(math.ceil(steps / BLOCK)):
        role = f"training on letters, block {block}"
        batches = [
            draw_letters(letters, queries, (BLOCK, prompts), stream(seed, role, letters.K, network))
            for network in networks
        ]
        for step in range(min(BLOCK, steps - block * BLOCK)):
            yield _together([batch.at(step) for batch in batches])


def draw_test_letters(
    letters: Letters, prompts: int, seed: int, networks: Sequence[int]
) -> LetterPrompt:
    """Draw prompts that ask for the dominant letter, and as many for rare ones, for each network.

    The first half of the second axis asks for the dominant letter; each of the others asks for a
    rare one, all equally likely.
    """
    of_networks = []
    for network in networks:
        generator = stream(seed, "test on letters", letters.K, network)
        plain = draw_letters(letters, 1, (2 * prompts,), generator)
        letter = torch.randint(1, letters.K, (2 * prompts, 1), generator=generator)
        letter[:prompts] = DOMINANT
        of_networks.append(_ask(plain.labels, plain.counts, letter))
    return _together(of_networks)


def _ask(labels: Tensor, counts: Tensor, letter: Tensor) -> LetterPrompt:
    """Make prompts with one ``letter`` for each query."""
    return LetterPrompt(labels, counts, letter, labels.gather(-1, letter))


def _together(prompts: Sequence[LetterPrompt]) -> LetterPrompt:
    """Stack the prompts of several networks, in single precision."""
    return LetterPrompt(
        torch.stack([prompt.labels for prompt in prompts]).float(),
        torch.stack([prompt.counts for prompt in prompts]).float(),
        torch.stack([prompt.letter for prompt in prompts]),
        torch.stack([prompt.target for prompt in prompts]).float(),
    )
