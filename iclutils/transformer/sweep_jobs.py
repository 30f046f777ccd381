"""Compute the jobs of the recorded sweep of whole transformers, and read its record.

The arguments of a job's function are the names of the settings in the record's file, and so stay as
they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import stats, validation
from iclutils.transformer import storage
from iclutils.transformer.evaluation import Response, angles, near_share, profile, respond
from iclutils.transformer.models import Architecture
from iclutils.transformer.samplers import Kinks, Ramps, draw_for_networks
from iclutils.transformer.theory.kriging import best_softmax, kriging_weights, softmax_weights
from iclutils.transformer.training import Schedule, train
from iclutils.window.prompts import Prompt

TEST_PROMPTS = 2000  # of each network, one query each
PLACES = 1000  # prompts whose places choose the softmax window
ROLE = "test of transformers"
# of a fleet with everything in it; others change one or two of these
WHOLE = {
    "d": 2,
    "n": 24,
    "shuffled": False,
    "blocks": 2,
    "heads": 2,
    "hidden": 128,
    "steps": 2000,
}
TASKS = {"kinks": Kinks, "ramps": Ramps}
UNSAID = {"tasks": "kinks", "first": 0}  # what a job has that does not say

Job = Mapping[str, Any]


def transformers_on_kinks(
    *,
    d: int,
    n: int,
    sigma: float,
    steepness: Sequence[float],
    asked: Sequence[float],
    shuffled: bool,
    blocks: int,
    heads: int,
    hidden: int,
    steps: int,
    networks: int,
    seed: int,
    tasks: str = "kinks",
    first: int = 0,
) -> dict[str, Any]:
    """Run a job: a fleet of networks of one shape, trained on kinks and asked on other prompts.

    The ``tasks`` may be ramps in their place; a job that does not say has kinks. The networks are
    numbered from ``first`` on, so that a fleet can be continued; a job that does not say has 0.
    A prompt of training has one of the steepnesses ``steepness``; those of the tests have each of
    ``asked`` in turn. For ``"network"``, ``"softmax"`` and ``"kriging"`` (the two rivals that are
    best in training, on the same prompts) and for each steepness asked, network by network: the
    ``error``, the ``sum`` of influences and of their ``squares``, the share ``near`` the query, and
    the mean ``profile`` by angle. Beside them the best window ``w``, the mean losses over the first
    50 steps and over the last 200, and the weights of the network 0. Test prompts have their
    labels at their own places, also where training ``shuffled`` them.
    """
    kind = TASKS[validation.one_of("tasks", tasks, TASKS)]
    kinks = kind(d, n, sigma, tuple(steepness), shuffled)
    architecture = Architecture(d, blocks, heads, hidden=hidden)
    numbers = range(validation.whole("first", first, low=0), first + networks)
    run = train(architecture, kinks, Schedule(steps), seed, numbers)
    honest = kind(d, n, sigma, tuple(steepness))
    w = choose_window(honest, seed)
    record: dict[str, Any] = {"network": [], "softmax": [], "kriging": []}
    for L in asked:
        prompt = draw_for_networks(kind(d, n, sigma, (L,)), 1, (TEST_PROMPTS,), seed, ROLE, numbers)
        response = respond(architecture, run.weights, prompt, kinks.unit)
        record["network"].append(describe(response.answer, response.influence, prompt))
        for name, rival in respond_rivals(honest, w, prompt).items():
            record[name].append(describe(rival.answer, rival.influence, prompt))
    record |= {
        "w": digits(torch.tensor(w)),
        "losses": digits(run.losses[0]),
        "last": digits(run.losses[-4:].mean(0)),
    }
    return record | ({} if first else {"weights": storage.pack(architecture, run.weights[0])})


def choose_window(kinks: Kinks, seed: int) -> float:
    """Choose the best softmax window for prompts of ``kinks``, on places of a stream of its own."""
    places = draw_for_networks(kinks, 1, (PLACES,), seed, "places for the window", [0])
    return best_softmax(kinks.covariance, places.x[0], places.query[0], kinks.sigma).w


def respond_rivals(kinks: Kinks, w: float, prompt: Prompt) -> dict[str, Response]:
    """Compute the responses of the softmax head with window w and of kriging for ``kinks``."""
    weights = {
        "softmax": softmax_weights(w, prompt.x, prompt.query),
        "kriging": kriging_weights(kinks.covariance, prompt.x, prompt.query, kinks.sigma),
    }
    influences = {who: each.squeeze(-2) for who, each in weights.items()}
    return {who: Response((J * prompt.y).sum(-1), J) for who, J in influences.items()}


def describe(
    answer: Float[Tensor, "networks prompts"],
    J: Float[Tensor, "networks prompts n"],
    prompt: Prompt,
) -> dict[str, Any]:
    """Summarise answers and influences for the record, each by a list with an entry a network."""
    angle = angles(prompt.x, prompt.query)
    return {
        "error": digits((answer - prompt.target[..., 0]).square().mean(1)),
        "sum": digits(J.sum(-1).mean(1)),
        "squares": digits(J.square().sum(-1).mean(1)),
        "near": digits(near_share(J, angle)),
        "profile": digits(profile(J, angle)),
    }


def fleet_of(jobs: Sequence[Job], *steepness: float, **changed: Any) -> Job:
    """Pick the first fleet trained on ``steepness``, whole but for the ``changed`` settings.

    Raises ``ValueError`` where the record does not have it once.
    """
    return pick(jobs, _settings(steepness, changed) | {"first": 0}, **UNSAID)


def fleets_of(jobs: Sequence[Job], *steepness: float, **changed: Any) -> list[Job]:
    """Pick that fleet and those that continue it with other networks, in their order.

    Raises ``ValueError`` where the record has none.
    """
    return pick_all(jobs, _settings(steepness, changed), **UNSAID)


def _settings(steepness: Sequence[float], changed: Job) -> dict[str, Any]:
    return WHOLE | {"tasks": "kinks", "steepness": list(steepness)} | dict(changed)


def pick(jobs: Sequence[Job], settings: Job, **unsaid: Any) -> Job:
    """Pick the job with these settings; a job that does not say one has the ``unsaid``.

    Raises ``ValueError`` where the record does not have it once.
    """
    chosen = [job for job in jobs if settings.items() <= {**unsaid, **job}.items()]
    if len(chosen) != 1:
        raise ValueError(f"jobs must have one fleet with {settings}; got {len(chosen)}")
    return chosen[0]


def pick_all(jobs: Sequence[Job], settings: Job, **unsaid: Any) -> list[Job]:
    """Pick the jobs with these settings, ordered by their first network.

    Raises ``ValueError`` where there is none.
    """
    chosen = [job for job in jobs if settings.items() <= {**unsaid, **job}.items()]
    if not chosen:
        raise ValueError(f"jobs must have fleets with {settings}; got none")
    return sorted(chosen, key=lambda job: job.get("first", 0))


def estimate_both(
    name: str, values: Float[Tensor, " networks"], seen: int = 8
) -> dict[str, stats.Estimate]:
    """Estimate a number from all networks, and from those after the ``seen`` ones alone.

    The second is there where there are such networks.

    >>> sorted(estimate_both("error", torch.arange(12.0)))
    ['error', 'error, new alone']
    """
    estimates = {name: stats.estimate(values)}
    if len(values) > seen:
        estimates[f"{name}, new alone"] = stats.estimate(values[seen:])
    return estimates


def numbers_of(job: Job, who: str, L: float, what: str) -> Float[Tensor, "networks ..."]:
    """Read a number of each network, or of a rival on the same prompts, that were asked at L."""
    return torch.tensor(job[who][job["asked"].index(L)][what], dtype=torch.float64)


def digits(values: Float[Tensor, "*shape"]) -> Any:
    """Round numbers to five digits, as nested lists."""
    if values.ndim == 0:
        return float(f"{float(values):.5g}")
    return [digits(value) for value in values]
