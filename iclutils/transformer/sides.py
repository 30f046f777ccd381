r"""Does it matter on which side of the query an example lies? Networks on the circle.

A softmax head weighs an example by its distance from the query alone. Where the near examples lie
on one side, its average *leans* to that side. Mirror a prompt across the query: each example goes
to the place as far away on the other side, and has the task's value there with the same noise. The
right answer is the same, and so are the weights of a softmax head. Half the difference of the two
answers is the lean; with their errors :math:`e_1` and :math:`e_2`,

.. math:: \frac{e_1^2+e_2^2}2 = \Bigl(\frac{e_1+e_2}2\Bigr)^2 + \Bigl(\frac{e_1-e_2}2\Bigr)^2 ,

so that a mean squared error is that of the mean of both answers and the mean square of the lean.

Another intervention moves only the four examples that are nearest to the query. The arguments of a
job's function are the names of the settings in the record's file, and so stay as they are.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils.randomness import normal, stream
from iclutils.transformer import storage
from iclutils.transformer.evaluation import BINS, Response, respond
from iclutils.transformer.models import Architecture
from iclutils.transformer.samplers import Kinks, stack_prompts
from iclutils.transformer.sweep_jobs import (
    TEST_PROMPTS,
    Job,
    choose_window,
    digits,
    pick_all,
    respond_rivals,
)
from iclutils.transformer.training import Schedule, train
from iclutils.window.covariates import Sphere
from iclutils.window.prompts import Prompt, assemble

ROLE = "sides of the query"
RANKS = 4  # examples of a side that are counted one by one, the nearest first
FIFTH = 4  # the place in the order by distance of the example in question
# the four nearest examples: +1 on the side of the fifth, -1 on the other one
SIDES = {"both sides": (1, -1, 1, -1), "in front": (1, 1, 1, 1), "across": (-1, -1, -1, -1)}
BESIDE = (math.pi / 6, math.pi / 3)  # 30° and 60° from the query


def transformers_on_sides(
    *,
    n: int,
    sigma: float,
    L: float,
    steps: int,
    first: int,
    networks: int,
    keep: bool,
    seed: int,
) -> dict[str, Any]:
    """Run a job: train a fleet on kinks of one steepness, and move examples across the query.

    The training is that of :func:`.sweep_jobs.transformers_on_kinks` with the same numbers, of
    whole networks ``first``, ``first`` + 1, … For ``"network"``, ``"softmax"`` and ``"kriging"``,
    on the same prompts: what :func:`describe` says. Beside them the best softmax window ``w`` and
    the mean losses over the ``last`` 200 steps, and where ``keep`` is true the first one's weights.
    """
    kinks = Kinks(2, n, sigma, (L,))
    architecture = Architecture(2)
    numbers = range(first, first + networks)
    run = train(architecture, kinks, Schedule(steps), seed, numbers)
    w = choose_window(kinks, seed)
    prompts = draw_on_sides(kinks, TEST_PROMPTS, seed, numbers)
    responses = respond_on_sides(architecture, run.weights, kinks, w, prompts)
    record = {who: describe(each, prompts) for who, each in responses.items()}
    record |= {"w": digits(torch.tensor(w)), "last": digits(run.losses[-4:].mean(0))}
    return record | ({"weights": storage.pack(architecture, run.weights[0])} if keep else {})


def respond_on_sides(
    architecture: Architecture,
    weights: Float[Tensor, "networks P"],
    kinks: Kinks,
    w: float,
    prompts: Mapping[str, Prompt],
) -> dict[str, dict[str, Response]]:
    """Compute the responses of networks, of the softmax head with window w, and of kriging."""
    responses: dict[str, dict[str, Response]] = {"network": {}, "softmax": {}, "kriging": {}}
    for name, prompt in prompts.items():
        responses["network"][name] = respond(architecture, weights, prompt, kinks.unit)
        for who, response in respond_rivals(kinks, w, prompt).items():
            responses[who][name] = response
    return responses


def draw_on_sides(
    kinks: Kinks, prompts: int, seed: int, networks: Sequence[int]
) -> dict[str, Prompt]:
    """Draw ``prompts`` for each network, ``"as drawn"``, ``"mirrored"`` and in each way of SIDES.

    All share the distances from the query, the tasks and the noise; the labels are those at the
    places where the examples are put. Raises ``ValueError`` where the prompts are not of one
    steepness on the circle, or have fewer than five examples.
    """
    if kinks.d != 2 or len(kinks.steepness) != 1 or kinks.n <= FIFTH:
        raise ValueError("kinks must have d = 2, one steepness and at least five examples")
    function = kinks.function(2, kinks.unit)
    arranged: dict[str, list[Prompt]] = {}
    for network in networks:
        generator = stream(seed, ROLE, f"{kinks.unit:g}", network)
        tokens = Sphere(2).from_gaussian(normal(prompts, kinks.n + 1, 2, generator=generator))
        task = function.sample((prompts,), generator)
        noise = normal(prompts, kinks.n, generator=generator)
        x, query = tokens[:, :-1], tokens[:, -1:]
        ways = {"as drawn": x, "mirrored": mirrored(x, query)}
        ways |= {name: on_sides(x, query, sides) for name, sides in SIDES.items()}
        for name, places in ways.items():
            tokens = torch.cat([places, query], 1)
            prompt = assemble(function, task, tokens, noise, kinks.n, kinks.sigma)
            arranged.setdefault(name, []).append(prompt)
    return {name: stack_prompts(each) for name, each in arranged.items()}


def signed_angles(
    x: Float[Tensor, "*prompts n 2"], query: Float[Tensor, "*prompts q 2"]
) -> Float[Tensor, "*prompts n"]:
    r"""Compute the angle from the first query to each example, from −π to π.

    >>> x = torch.tensor([[0.0, 1.0], [0.0, -2.0]])
    >>> signed_angles(x, torch.tensor([[1.0, 0.0]])).rad2deg().tolist()
    [90.0, -90.0]
    """
    at = query[..., :1, :]
    across = at[..., 0] * x[..., 1] - at[..., 1] * x[..., 0]
    return torch.atan2(across, (at * x).sum(-1))


def mirrored(
    x: Float[Tensor, "*prompts n 2"], query: Float[Tensor, "*prompts q 2"]
) -> Float[Tensor, "*prompts n 2"]:
    r"""Put each example as far on the other side of the first query q: :math:`2(q\cdot x)q-x`.

    >>> mirrored(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 0.0]])).tolist()
    [[0.0, -1.0]]
    """
    at = query[..., :1, :]
    return 2 * (at * x).sum(-1, keepdim=True) * at - x


def on_sides(
    x: Float[Tensor, "*prompts n 2"], query: Float[Tensor, "*prompts q 2"], sides: Sequence[int]
) -> Float[Tensor, "*prompts n 2"]:
    """Put the four nearest examples on the side of the fifth, +1, or on the other one, -1.

    One that is there already stays; another one goes to its mirror image.
    """
    angle = signed_angles(x, query)
    order = angle.abs().argsort(-1)
    signs = angle.sign()
    own = signs.gather(-1, order[..., FIFTH : FIFTH + 1])
    named = own * torch.tensor(sides, dtype=angle.dtype)
    signs = signs.scatter(-1, order[..., : len(sides)], named)
    return torch.where((signs != angle.sign()).unsqueeze(-1), mirrored(x, query), x)


def ranks(angle: Float[Tensor, "*prompts n"]) -> Int[Tensor, "*prompts n"]:
    """Count the examples between each example and the query, on its side: 0 for the first there.

    >>> ranks(torch.tensor([0.1, -2.0, 0.5, -1.0])).tolist()
    [0, 1, 1, 0]
    """
    nearer = angle.abs().unsqueeze(-2) < angle.abs().unsqueeze(-1)
    together = (angle.unsqueeze(-2) > 0) == (angle.unsqueeze(-1) > 0)
    return (nearer & together).sum(-1)


def describe(responses: Mapping[str, Response], prompts: Mapping[str, Prompt]) -> dict[str, Any]:
    """Summarise answers and influences for the record, each by a list with an entry a network.

    Of the prompts as they are drawn: the mean squared ``error``, the mean square of the ``lean``,
    the mean sum of ``squares`` of influences; the mean influence of an example between 30° and 60°
    that is the ``first`` or the ``second`` on its side; and ``ranked``, the mean influence of the
    first to fourth on a side, in six bins of 15°. For each way of ``SIDES``: the ``error`` and the
    mean influence of the ``fifth``.
    """
    response, prompt = responses["as drawn"], prompts["as drawn"]
    J, angle = response.influence, signed_angles(prompt.x, prompt.query)
    half = (response.answer - responses["mirrored"].answer) / 2
    away, rank = angle.abs(), ranks(angle)
    beside = (away > BESIDE[0]) & (away < BESIDE[1])
    record: dict[str, Any] = {
        "error": digits(_squared(response.answer, prompt)),
        "lean": digits(half.square().mean(1)),
        "squares": digits(J.square().sum(-1).mean(1)),
        "first": digits(_mean_over(J, beside & (rank == 0))),
        "second": digits(_mean_over(J, beside & (rank == 1))),
    }
    bins = (away / math.pi * BINS).long()
    means = [_mean_over(J, (rank == k) & (bins == b)) for k in range(RANKS) for b in range(6)]
    record["ranked"] = digits(torch.stack(means, -1).reshape(-1, RANKS, 6))
    for name in SIDES:
        there, moved = responses[name], prompts[name]
        order = signed_angles(moved.x, moved.query).abs().argsort(-1)
        fifth = there.influence.gather(-1, order)[..., FIFTH]
        error = _squared(there.answer, moved)
        record[name] = {"error": digits(error), "fifth": digits(fifth.mean(1))}
    return record


def _squared(
    answer: Float[Tensor, "networks prompts"], prompt: Prompt
) -> Float[Tensor, " networks"]:
    """Compute the mean squared error of answers to the first query."""
    return (answer - prompt.target[..., 0]).square().mean(1)


def _mean_over(
    J: Float[Tensor, "networks prompts n"], chosen: Tensor
) -> Float[Tensor, " networks"]:
    """Average over the chosen examples of all prompts of each network."""
    return (J * chosen).sum((1, 2)) / chosen.sum((1, 2))


def numbers_of(
    jobs: Sequence[Job], L: float, who: str, what: str, way: str | None = None
) -> Float[Tensor, "networks ..."]:
    """Read a number of each network for one steepness, or of a rival on its prompts.

    ``way`` is one of ``SIDES``, or none for the prompts as they are drawn.
    """
    rows = [job[who] if way is None else job[who][way] for job in pick_all(jobs, {"L": L})]
    return torch.tensor([value for row in rows for value in row[what]], dtype=torch.float64)
