"""What finding the relevant subspace is worth, at more and more irrelevant dimensions.

Heads are trained on linear tasks that live on two of ``dim`` dimensions and compared with heads
that treat all directions alike, that are told the subspace, or that know another one. Spurious
parts of the tokens have a fixed length, or a fixed size per coordinate.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.randomness import stream
from iclutils.window import low_rank_tasks
from iclutils.window.covariates import TwoSubspaces
from iclutils.window.evaluation import mean_errors
from iclutils.window.low_rank_tasks import LowRankLink
from iclutils.window.pretraining import Pretraining, Schedule, Setting, pretrain
from iclutils.window.prompts import Prompt, draw
from iclutils.window.theory import low_rank, theorem_4_4
from iclutils.window.theory.low_rank_problem import Case

RANK = 2
HEADS = ("trained", "all alike", "told", "told another", "trained at the last rate")
Errors = Float[Tensor, "heads trials"]


class Benefit(NamedTuple):
    """Test errors of the heads in ``HEADS``, for spurious parts of the two kinds."""

    fixed_length: Errors
    fixed_size_per_coordinate: Errors


def at_dimension(
    dim: int,
    n: int,
    *,
    noise: float,
    rates: Sequence[float],
    trials: int,
    steps: int,
    tokens: int,
    seed: int,
) -> Benefit:
    """Train heads at ``dim`` dimensions, and test all on the same prompts of ``n`` tokens.

    The rate of a trained head is the best of ``rates`` on other prompts; ``tokens`` context tokens
    are the sample on which the other heads have the least loss.
    """
    B = low_rank_tasks.random_subspaces(trials, dim, RANK, stream(seed, "ch4", "d", dim))
    complement, tasks = low_rank_tasks.complement(B), LowRankLink(B, "linear")
    lengths = (1.0, math.sqrt((dim - RANK) / RANK))
    laws = {c_v: TwoSubspaces(B, complement, c_v=c_v) for c_v in lengths}
    settings = []
    for law in laws.values():
        settings += [Setting(function=tasks, covariates=law, n=n, sigma=noise)] * len(rates)
    runs = pretrain(
        settings,
        trials=trials,
        steps=steps,
        schedule=Schedule(list(rates) * len(laws)),
        seed=seed,
        record_every=steps,
    ).split(len(rates))
    test, tuning = (
        draw(tasks, laws[1.0], n, noise, 1, (trials, size), stream(seed, "ch4", role, dim))
        for role, size in (("benefit", 1000), ("benefit tuning", 500))
    )
    errors = {
        c_v: errors_of_heads(run, B, n, noise, c_v, test, tuning, tokens, seed)
        for c_v, run in zip(laws, runs, strict=True)
    }
    return Benefit(*(errors[c_v] for c_v in lengths))


def errors_of_heads(
    run: Pretraining,
    B: Float[Tensor, "trials d k"],
    n: int,
    noise: float,
    c_v: float,
    test: Prompt,
    tuning: Prompt,
    tokens: int,
    seed: int,
) -> Errors:
    """Test the heads of one kind of tokens on prompts whose spurious part has length one.

    Tokens of the length ``c_v`` are Sx, with x of the prompts: M on them is SMS on x.
    """
    case = Case(link="linear", d=B.shape[1], k=RANK, n=n, sigma=noise, c_v=c_v)
    relevant, eye = B @ B.mT, torch.eye(case.d, dtype=torch.float64)
    S = (relevant + c_v * (eye - relevant))[:, None]
    ends = run.M[:, :, -1].transpose(0, 1)  # (trials, rates, d, d)
    tuned = ends[:, mean_errors(S @ ends @ S, tuning).mean(0).argmin()]
    sample = case.contexts(tokens, seed)
    w = low_rank.minimise(sample, eye[None], torch.ones(1, dtype=torch.float64)).theta
    c = theorem_4_4.relevant_minimum(case, sample, start=10.0).theta
    heads = tuned, w * eye.expand(len(B), -1, -1), c * relevant, tuned.roll(1, 0), ends[:, -1]
    return mean_errors(S @ torch.stack(heads, 1) @ S, test).T
