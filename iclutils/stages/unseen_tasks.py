r"""Errors of trained layers on tasks that no training has seen (chapter 6).

In the features' frame a task is :math:`w=\sum_kc_kv_k`, and the training draws the
:math:`c_k \sim N(0, 1)`. The test draws them from other laws of mean square 1 (``LAWS``), or takes
for each prompt the task that is worst for it. Queries ask for rare features.

Source: Huang, Cheng and Liang 2024, slides "Unseen tasks".
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stages.attention import attention, predict
from iclutils.stages.prompts import count_features, draw_counts, draw_prompts
from iclutils.stats import Estimate, estimate

LAWS = ("sparse", "heavy tails", "mean ± 3")


def draw_tasks(
    law: str, runs: int, prompts: int, K: int, generator: torch.Generator
) -> Float[Tensor, "runs prompts K"]:
    r"""Draw the coordinates of tasks, of mean square 1.

    ``"sparse"``: :math:`\sqrt K` on one feature, 0 on the others. ``"heavy tails"``: Student's t of
    5 degrees of freedom. ``"mean ± 3"``: :math:`(\pm3+z)/\sqrt{10}`, the sign that of
    :math:`(-1)^k`. Raises ``KeyError`` for another law.
    """
    validation.one_of("law", law, LAWS)
    z = torch.randn(runs, prompts, K, dtype=torch.float64, generator=generator)
    if law == "sparse":
        feature = torch.randint(K, (runs, prompts), generator=generator)
        return math.sqrt(K) * torch.nn.functional.one_hot(feature, K).double()
    if law == "heavy tails":
        scale = torch.randn(runs, prompts, K, 5, generator=generator).double()
        return z * (3 / scale.square().sum(-1)) ** 0.5
    signs: Tensor = (-1.0) ** torch.arange(K)
    return (3 * signs + z) / math.sqrt(10)


def relative_error(
    W: Float[Tensor, "runs d d"],
    law: str,
    p: Float[Tensor, " K"],
    frame: Float[Tensor, "K d"],
    N: int,
    prompts: int,
    generator: torch.Generator,
) -> Estimate:
    """Estimate the mean squared error on rare queries over the tasks' mean square, over the runs.

    Each of the layers ``W`` has ``prompts`` prompts of N tokens. Raises as :func:`draw_tasks` and
    :func:`iclutils.stages.prompts.draw_prompts`, and ``ValueError`` for fewer than 2 runs.
    """
    runs, K = len(W), count_features(p)
    tokens = draw_prompts(p, frame, N, runs, prompts, generator).tokens
    tasks = draw_tasks(law, runs, prompts, K, generator) @ frame  # (runs, prompts, d)
    query = frame[torch.randint(1, K, (runs, prompts), generator=generator)]
    labels = torch.einsum("rbnd,rbd->rbn", tokens, tasks)
    off = predict(W, tokens, labels, query) - (tasks * query).sum(-1)
    return estimate(off.square().mean(1))


def residuals(
    W: Float[Tensor, "runs d d"],
    p: Float[Tensor, " K"],
    frame: Float[Tensor, "K d"],
    N: int,
    prompts: int,
    generator: torch.Generator,
) -> Float[Tensor, "runs rare prompts K"]:
    r"""Sample :math:`\mathrm{Attn}-e_k` of rare queries: a task's error is its product with c.

    All rare features k are asked for on the same ``prompts`` prompts of N tokens, drawn for each
    run. Raises as :func:`iclutils.stages.prompts.draw_counts`.
    """
    K = count_features(p)
    columns = torch.einsum("md,rde,ke->rkm", frame, W, frame)[:, 1:]
    counts = draw_counts(p, N, (len(W), 1, prompts), generator)
    return attention(columns, counts) - torch.eye(K).double()[1:, None]


class WorstTask(NamedTuple):
    """Of the unit task along a residual: its squared error, and the square of the right answer."""

    error: Float[Tensor, "runs rare prompts"]
    answer: Float[Tensor, "runs rare prompts"]


def worst_tasks(off: Float[Tensor, "runs rare prompts K"]) -> WorstTask:
    r"""Compute the errors of the worst task of each prompt and query, c along the residual.

    For a unit c the squared error :math:`(c^\top\text{off})^2` is largest there,
    :math:`\|\text{off}\|^2`. Raises ``ValueError`` for another shape.
    """
    size = validation.shape("off", off, "runs rare prompts K")
    validation.shape("off", off, "runs rare prompts K", rare=size["K"] - 1)
    error = off.square().sum(-1)
    own = off[..., 1:].diagonal(dim1=1, dim2=3).mT  # of the feature asked for
    return WorstTask(error, own.square() / error)
