"""Compute the jobs of the recorded sweep of whole transformers on letters, and read its record.

The arguments of the job's function are the names of the settings in the record's file, and so stay
as they are.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import stats
from iclutils.transformer.letter_training import Course, Descent, train_on_letters
from iclutils.transformer.letters import Letters
from iclutils.transformer.models import Architecture
from iclutils.transformer.sweep_jobs import Job, pick, pick_all

KINDS = ("dominant", "rare")
LONG = 50  # examples of a prompt for each letter, as in chapter 6


def transformers_on_letters(
    *,
    K: int,
    p1: float,
    optimiser: str,
    rate: float,
    steps: int,
    blocks: int,
    networks: int,
    seed: int,
    first: int = 0,
) -> dict[str, Any]:
    """Run a job: a fleet of networks of one shape on ``K`` letters, the first of share ``p1``.

    The networks are numbered from ``first`` on; a job that does not say has 0.
    What :class:`.letter_training.Course` holds, for queries on the dominant letter and on rare
    ones, step by step, each a list with an entry a network.
    """
    course = train_on_letters(
        Architecture(K, blocks),
        Letters(K, LONG * K, p1),
        Descent(optimiser, rate, steps),
        seed,
        range(first, first + networks),
    )
    return describe_course(course)


def describe_course(course: Course) -> dict[str, Any]:
    """Summarise a training for the record, to four decimals."""
    record: dict[str, Any] = {"at": course.at, "loss": _rounded(course.loss)}
    for name in ("error", "own", "dominant"):
        record[name] = dict(zip(KINDS, _rounded(getattr(course, name)), strict=True))
    return record


def fleet_of(jobs: Sequence[Job], K: int, optimiser: str, **changed: Any) -> Job:
    """Pick an optimiser's first fleet, with two blocks and p1 = ½ but for the ``changed`` settings.

    Raises ``ValueError`` where the record does not have it once.
    """
    settings = {"K": K, "optimiser": optimiser, "blocks": 2, "p1": 0.5, "first": 0}
    return pick(jobs, settings | changed, first=0)


def fleets_of(jobs: Sequence[Job], K: int, optimiser: str) -> list[Job]:
    """Pick that fleet and those that continue it with other networks, in their order.

    Raises ``ValueError`` where the record has none.
    """
    return pick_all(jobs, {"K": K, "optimiser": optimiser, "blocks": 2, "p1": 0.5})


def curve_of(job: Job, what: str, kind: str) -> Float[Tensor, "points networks"]:
    """Read one of ``error``, ``own`` and ``dominant`` for the queries of a kind."""
    return torch.tensor(job[what][kind], dtype=torch.float64)


def curve_at(
    job: Job, what: str, kind: str, steps: Float[Tensor, " networks"]
) -> Float[Tensor, " networks"]:
    """Read :func:`curve_of` of each network after its own ``steps``, linear between the records."""
    each = zip(steps, curve_of(job, what, kind).T, strict=True)
    return torch.tensor([np.interp(step, job["at"], curve) for step, curve in each])


def exponent_in_K(logs: Mapping[int, Float[Tensor, " networks"]]) -> stats.Estimate:
    r"""Fit the a of :math:`T\propto K^a`: the slope of the line through the ``logs`` of T.

    ``logs`` has the networks' logarithms for each K; what is scattered around the line is the
    networks. Raises ``ValueError`` for one K alone and for fewer than 3 networks.

    >>> logs = {K: torch.tensor([2 * math.log(K), 2 * math.log(K) + 1]) for K in (10, 20, 40)}
    >>> round(exponent_in_K(logs).value, 3)
    2.0
    """
    places = [torch.full_like(values, math.log(K)) for K, values in logs.items()]
    return stats.line(torch.cat(places), torch.cat(list(logs.values()))).estimate


def _rounded(values: Float[Tensor, "*shape"]) -> Any:
    """Round numbers to four decimals, as nested lists."""
    if values.ndim == 0:
        return round(float(values), 4)
    return [_rounded(value) for value in values]
