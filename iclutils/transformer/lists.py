r"""Does a network that knows its list of tasks look at its prompt? Chapter 5c's networks again.

The networks are the wide transformers of :mod:`iclutils.regression.transformers`, trained by a
curriculum on prompts whose tasks come from a list. For each prompt there are two numbers: the sum
of squared influences in units of that of ridge regression, and the share of a small move of the
task towards the query, w to w + δx, that the answer follows,

.. math:: \frac{\sum_iJ_i^2}{\sum_i(J^{\mathrm{ridge}}_i)^2},\qquad
          \frac{E\sum_iJ_i\;x\cdot x_i}{E|x|^2} .

Both are about one for a method, and zero for an answer by heart. The arguments of a job's function
are the names of the settings in the record's file, and so stay as they are.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.regression.training_sets import draw_fleet, listed_tasks
from iclutils.regression.transformer_training import Curriculum, train_by_curriculum
from iclutils.regression.transformers import Architecture, Weights, forward
from iclutils.transformer import storage
from iclutils.transformer.evaluation import Response, influence
from iclutils.transformer.sweep_jobs import Job
from iclutils.transformer.theory.lists import by_heart, ridge

TEST_PROMPTS = 500  # of a network on new tasks, and on those of its list
LEAST = 1e-6  # of the squares' ratio that is told from zero


class Prompts(NamedTuple):
    """Prompts of one network: examples, their labels, the queries and their noisy labels."""

    x: Float[Tensor, "prompts n d"]
    y: Float[Tensor, "prompts n"]
    query: Float[Tensor, "prompts d"]
    target: Float[Tensor, " prompts"]


def transformer_on_list(
    *,
    d: int,
    width: int,
    blocks: int,
    alpha: int,
    tau: float,
    tasks: int,
    rho: float,
    network: int,
    first: int,
    stage: int,
    last: int,
    batch: int,
    rate: float,
    cooldown: float,
    keep: bool,
    seed: int,
) -> dict[str, Any]:
    """Run a job: one transformer on a list of ``tasks``, by a curriculum, and where it looks.

    The training is that of :func:`iclutils.regression.sweep_jobs.transformer_by_curriculum` with
    the same arguments. For prompts on ``"new"`` tasks and on the ``"practised"`` ones, of the
    ``"network"`` and of its rivals ``"ridge"`` and ``"by heart"``: what :func:`describe` says.
    Where ``keep`` is true, the weights are there as well.
    """
    architecture = Architecture(d, blocks, dense=1, width=width)
    listed = listed_tasks(tasks, d, seed, network)
    plan = Curriculum(first, stage, last)
    ell = alpha * d
    [weights] = train_by_curriculum(
        architecture,
        draw_fleet([round(tau * d**2)], d, ell, rho, seed, tasks=tasks, first=network),
        listed,
        seed,
        plan,
        [plan.length(d)],
        model=network,
        batch=batch,
        learning_rate=rate,
        cooldown=cooldown,
    )
    results: dict[str, Any] = {}
    for name, of in (("new", None), ("practised", tasks)):
        prompts = draw_prompts(d, ell, rho, seed, network, of)
        best = ridge(prompts.x, prompts.y, prompts.query, rho)
        heart = by_heart(prompts.x, prompts.y, prompts.query, rho, listed)
        answers = {
            "network": respond(architecture, weights, prompts),
            "ridge": Response(*best),
            "by heart": Response(*heart),
        }
        results[name] = {
            who: describe(response, best.influence, prompts) for who, response in answers.items()
        }
    if keep:
        results["weights"] = storage.pack_arrays({name: w[0] for name, w in weights.items()})
    return results


def draw_prompts(
    d: int,
    ell: int,
    rho: float,
    seed: int,
    network: int,
    tasks: int | None,
    count: int = TEST_PROMPTS,
) -> Prompts:
    """Draw the prompts of the test of one network: on its list of ``tasks``, or new ones (None)."""
    fleet = draw_fleet([count], d, ell, rho, seed, tasks=tasks, role="test", first=network)
    z = fleet.z[0].mT
    return Prompts(z[:, :-1, :-1], z[:, :-1, -1], z[:, -1, :-1], fleet.y[0])


def numbers_of(
    jobs: Sequence[Job], kind: str, what: str, who: str = "network"
) -> dict[int, Float[Tensor, " networks"]]:
    """Read a number of each network, or of a rival on its prompts, by the length of the list.

    ``kind`` is ``"new"`` or ``"practised"``, ``what`` one of the numbers of :func:`describe`.
    """
    rows: dict[int, list[float]] = {job["tasks"]: [] for job in jobs}
    for job in jobs:
        rows[job["tasks"]].append(job[kind][who][what])
    return {k: torch.tensor(rows[k], dtype=torch.float64) for k in sorted(rows)}


def respond(architecture: Architecture, weights: Weights, prompts: Prompts) -> Response:
    """Compute the answers of one network, and the influence of each example."""
    exact = {name: w.detach().double() for name, w in weights.items()}
    last = torch.zeros(len(prompts.y), 1, dtype=torch.float64)
    places = torch.cat([prompts.x, prompts.query.unsqueeze(1)], 1)

    def answer(y: Float[Tensor, "prompts n"]) -> Float[Tensor, " prompts"]:
        tokens = torch.cat([places, torch.cat([y, last], 1).unsqueeze(-1)], -1)
        return forward(architecture, exact, tokens.unsqueeze(0))[0]

    return influence(answer, prompts.y)


def describe(
    response: Response, of_ridge: Float[Tensor, "prompts n"], prompts: Prompts
) -> dict[str, float]:
    """Summarise answers and influences for the record, to four digits.

    ``error`` is the mean squared error, ``looks`` the median over prompts of the sum of squared
    influences over that of ridge, at least 10⁻⁶, ``squares`` the mean of that sum, and ``follows``
    the share of a small move of the task that the answer follows.
    """
    squares = response.influence.square().sum(-1)
    looks = (squares / of_ridge.square().sum(-1)).median().clamp(min=LEAST)
    toward = (prompts.x @ prompts.query.unsqueeze(-1)).squeeze(-1)
    follows = (response.influence * toward).sum(-1).mean() / prompts.query.square().sum(-1).mean()
    numbers = {
        "error": (response.answer - prompts.target).square().mean(),
        "looks": looks,
        "squares": squares.mean(),
        "follows": follows,
    }
    return {name: float(f"{float(value):.4g}") for name, value in numbers.items()}
