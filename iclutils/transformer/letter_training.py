r"""Training whole transformers on letters, and what is learned when.

The squared error :math:`E\,(\hat y - w_k)^2` is lowered at a constant rate, by plain gradient
descent or by AdamW, which rescales each number's gradient by its own size. With the label's
variance 1 the error of an answer 0 is 1, twice chapter 6's :math:`\mathcal L_k`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.transformer.evaluation import influence
from iclutils.transformer.letters import (
    DOMINANT,
    LetterPrompt,
    Letters,
    draw_test_letters,
    training_letters,
)
from iclutils.transformer.models import Architecture, answers
from iclutils.transformer.samplers import BLOCK
from iclutils.transformer.training import adamw

OPTIMISERS = ("gradient descent", "AdamW")
FIRST = 10  # the step of the first record after the start


class Descent(NamedTuple):
    """How a network goes down: ``optimiser``, constant ``rate``, ``steps``, prompts of a step."""

    optimiser: str
    rate: float
    steps: int
    prompts: int = 16
    queries: int = 8


class Course(NamedTuple):
    """What fleets of networks answer in the course of their training, at the steps ``at``.

    The kinds of queries are on the dominant letter and on a rare one. ``error`` is the mean squared
    error, ``own`` the mean influence of all examples of the letter that is asked, and ``dominant``
    that of all examples of the dominant one. ``loss`` is the mean loss of the first 50 steps.
    """

    at: list[int]
    error: Float[Tensor, "kinds points networks"]
    own: Float[Tensor, "kinds points networks"]
    dominant: Float[Tensor, "kinds points networks"]
    loss: Float[Tensor, " networks"]


def train_on_letters(
    architecture: Architecture,
    letters: Letters,
    descent: Descent,
    seed: int,
    networks: Sequence[int],
    *,
    points: int = 28,
    tests: int = 150,
    until: int | None = None,
) -> Course:
    """Train networks on fresh prompts, and ask them now and then.

    ``networks`` are numbers that name the streams of first weights and prompts. They are asked
    ``tests`` queries of each kind, at the start and at ``points`` steps in geometric progression.
    ``until`` ends the training early. Raises ``KeyError`` for another optimiser, ``ValueError`` for
    a number out of its range or another dimension than a letter has, ``RuntimeError`` where a
    network diverges.

    >>> small, letters = Architecture(3, width=8), Letters(3, 50)
    >>> descent = Descent("AdamW", 0.01, 100, prompts=8)
    >>> course = train_on_letters(small, letters, descent, 0, [0], points=4)
    >>> course.at
    [0, 10, 22, 46, 100]
    >>> bool(course.error[0, -1] < course.error[0, 0])
    True
    """
    steps = _check(descent)
    records = {0} | {round(FIRST * (steps / FIRST) ** (i / (points - 1))) for i in range(points)}
    steps = steps if until is None else validation.whole("until", until, high=steps)
    weights = architecture.initial_weights(seed, networks).requires_grad_()
    optimiser = _optimiser(weights, descent)
    test = draw_test_letters(letters, tests, seed, networks)
    at = sorted(step for step in records if step <= steps)
    history, losses = [], []
    batches = training_letters(letters, descent.queries, descent.prompts, steps, seed, networks)
    for step in range(steps + 1):
        if step in at:
            history.append(describe(architecture, weights.detach(), test))
        if step == steps:
            break
        prompt = next(batches)
        loss = (_answer(architecture, weights, prompt) - prompt.target).square().mean((1, 2))
        optimiser.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.detach())
    error, own, dominant = (torch.stack(parts, 1).double() for parts in zip(*history, strict=True))
    course = Course(at, error, own, dominant, torch.stack(losses[:BLOCK]).mean(0).double())
    if not bool(torch.isfinite(course.error).all()):
        raise RuntimeError(f"rate must be smaller; with {descent.rate:g} a network diverged")
    return course


def describe(
    architecture: Architecture, weights: Float[Tensor, "networks P"], test: LetterPrompt
) -> tuple[Tensor, Tensor, Tensor]:
    """Measure the error and the influences of :class:`Course` at some weights.

    Each is (kinds, networks). The first half of the ``test`` prompts asks for the dominant letter.
    """

    def answer(labels: Tensor) -> Float[Tensor, "networks prompts"]:
        return _answer(architecture, weights, test._replace(labels=labels)).squeeze(-1)

    response = influence(answer, test.labels)
    error = (response.answer - test.target.squeeze(-1)).square()
    own = response.influence.gather(-1, test.letter).squeeze(-1)

    def by_kind(values: Float[Tensor, "networks prompts"]) -> Float[Tensor, "kinds networks"]:
        return values.view(len(values), 2, -1).mean(2).mT

    return by_kind(error), by_kind(own), by_kind(response.influence[..., DOMINANT])


def _answer(
    architecture: Architecture, weights: Tensor, prompt: LetterPrompt
) -> Float[Tensor, "networks prompts q"]:
    x, query = prompt.places()
    return answers(architecture, weights, x, prompt.labels, query, prompt.counts)


def _optimiser(weights: Tensor, descent: Descent) -> torch.optim.Optimizer:
    if descent.optimiser == "AdamW":
        return adamw(weights, descent.rate)
    return torch.optim.SGD([weights], lr=descent.rate)


def _check(descent: Descent) -> int:
    validation.one_of("optimiser", descent.optimiser, OPTIMISERS)
    validation.positive("rate", descent.rate)
    for name in ("prompts", "queries"):
        validation.whole(name, getattr(descent, name))
    return validation.whole("steps", descent.steps, low=FIRST)
