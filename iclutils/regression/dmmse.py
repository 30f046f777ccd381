r"""The rival of linear attention in chapter 5: dMMSE, the posterior mean over a list of tasks."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import chi_square, normal, stream
from iclutils.regression.prompts import LARGEST, Context, draw_tasks


def dmmse_errors(
    tasks: Float[Tensor, "k d"],
    ell: int,
    rho: float,
    generator: torch.Generator,
    contexts: int,
    *,
    fresh: bool,
) -> Float[Tensor, " contexts"]:
    r"""Test errors of the posterior mean under the uniform prior on the k pretraining tasks.

    .. math::
        \hat w = \sum_j p_jw_j, \quad
        p_j \propto \exp\Bigl(-\tfrac1{2\rho}\sum_i(y_i - \langle x_i, w_j\rangle)^2\Bigr), \quad
        e = \rho + \|\hat w - w\|^2/d

    The query is integrated out. The tokens enter through :math:`X^\top X` alone, drawn as a Wishart
    matrix (Bartlett): O(d²) a context whatever ``ell`` ≥ d. ``rho`` > 0: the label noise;
    ``contexts`` ≥ 1: how many to draw; ``fresh`` draws :math:`w \sim N(0, I_d)`, else a task of
    ``tasks``. Raises ``ValueError`` for an argument out of these ranges, with its name, and for
    tasks that are not finite.

    With one task on the list the posterior is that task, and only the noise is left:

    >>> tasks = torch.ones(1, 3, dtype=torch.float64)
    >>> draw = torch.Generator().manual_seed(0)
    >>> dmmse_errors(tasks, 6, 0.1, draw, 2, fresh=False).tolist()
    [0.1, 0.1]
    """
    k, d = validation.shape("tasks", tasks, "k d").values()
    tasks = validation.within("tasks", tasks, -LARGEST, LARGEST).double()
    validation.whole("ell", ell, low=d)
    validation.positive("rho", rho)
    validation.whole("contexts", contexts)
    below = normal(contexts, d, d, generator=generator).tril(-1)
    chi = torch.stack([chi_square(ell - i, contexts, generator) for i in range(d)], 1).sqrt()
    root = (below + torch.diag_embed(chi)) / math.sqrt(d)
    if fresh:
        w = normal(contexts, d, generator=generator)
    else:
        w = tasks[torch.randint(k, (contexts,), generator=generator)]
    noise = normal(contexts, d, generator=generator)
    # Rᵀw + noise, because XᵀX = RRᵀ and Xᵀε = √ρ R·noise
    seen = torch.einsum("cdi,cd->ci", root, w) + math.sqrt(rho) * noise
    away = (seen[:, None] - torch.einsum("cdi,kd->cki", root, tasks)).square().sum(2)
    estimate = torch.softmax(-away / (2 * rho), 1) @ tasks
    return rho + (estimate - w).square().sum(1) / d


def mean_errors(
    k: int, context: Context, seed: int, lists: int, contexts: int, *, fresh: bool
) -> Float[Tensor, " lists"]:
    """The mean error of dMMSE for each of ``lists`` lists of ``k`` tasks.

    Over ``contexts`` contexts with tasks that are ``fresh``, or of the list. Raises what
    :func:`iclutils.regression.dmmse.dmmse_errors` raises.
    """
    found = []
    for b in range(validation.whole("lists", lists)):
        tasks = draw_tasks(k, context.d, stream(seed, "rival", k, b))
        generator = stream(seed, "rival contexts", k, b)
        drawn = dmmse_errors(tasks, context.ell, context.rho, generator, contexts, fresh=fresh)
        found.append(drawn.mean())
    return torch.stack(found)
