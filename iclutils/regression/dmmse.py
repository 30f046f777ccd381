r"""What a list of tasks alone can do: dMMSE, the posterior mean over it, and softer averages."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import chi_square, normal, stream
from iclutils.regression.samplers import LARGEST, Context, draw_tasks


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
    tasks, contexts_of = _draw(tasks, ell, rho, generator, contexts, fresh)
    shifted = torch.einsum("cdi,kd->cki", contexts_of.root, tasks)
    away = (contexts_of.seen[:, None] - shifted).square().sum(2)
    estimate = torch.softmax(-away / (2 * rho), 1) @ tasks
    return rho + (estimate - contexts_of.w).square().sum(1) / tasks.shape[1]


class _Contexts(NamedTuple):
    """Contexts: a root R of :math:`X^\top X`, what is seen of the labels in it, and the tasks."""

    root: Float[Tensor, "contexts d d"]
    seen: Float[Tensor, "contexts d"]
    w: Float[Tensor, "contexts d"]


def _draw(
    tasks: Float[Tensor, "k d"],
    ell: int,
    rho: float,
    generator: torch.Generator,
    contexts: int,
    fresh: bool,
) -> tuple[Float[Tensor, "k d"], _Contexts]:
    """Draw contexts with ``fresh`` tasks or the list's, and return the list in double precision."""
    k, d = validation.shape("tasks", tasks, "k d").values()
    tasks = validation.within("tasks", tasks, -LARGEST, LARGEST).double()
    validation.whole("ell", ell, low=d)
    validation.positive("rho", rho)
    validation.whole("contexts", contexts)
    below = normal(contexts, d, d, generator=generator).tril(-1)
    chi = torch.stack([chi_square(ell - i, contexts, generator) for i in range(d)], 1).sqrt()
    root = (below + torch.diag_embed(chi)) / math.sqrt(d)
    if validation.flag("fresh", fresh):
        w = normal(contexts, d, generator=generator)
    else:
        w = tasks[torch.randint(k, (contexts,), generator=generator)]
    noise = normal(contexts, d, generator=generator)
    # Rᵀw + noise, because XᵀX = RRᵀ and Xᵀε = √ρ R·noise
    seen = torch.einsum("cdi,cd->ci", root, w) + math.sqrt(rho) * noise
    return tasks, _Contexts(root, seen, w)


def mean_errors(
    k: int, context: Context, seed: int, lists: int, contexts: int, *, fresh: bool
) -> Float[Tensor, " lists"]:
    """Compute the mean error of dMMSE for each of ``lists`` lists of ``k`` tasks.

    Over ``contexts`` contexts with tasks that are ``fresh``, or of the list. Raises what
    :func:`iclutils.regression.dmmse.dmmse_errors` raises.
    """
    means = []
    for b in range(validation.whole("lists", lists)):
        tasks = draw_tasks(k, context.d, stream(seed, "rival", k, b))
        generator = stream(seed, "rival contexts", k, b)
        errors = dmmse_errors(tasks, context.ell, context.rho, generator, contexts, fresh=fresh)
        means.append(errors.mean())
    return torch.stack(means)


SOFTNESS = tuple(10 ** (i / 4) for i in range(17))  # from dMMSE's weights to a ten-thousandth


class Average(NamedTuple):
    """An average over a list: its mean errors, list by list, its softness and its constant."""

    errors: Float[Tensor, " lists"]
    softness: float
    constant: float


def best_average(
    k: int,
    context: Context,
    seed: int,
    lists: int,
    contexts: int,
    *,
    fresh: bool,
    scaled: bool = False,
    softness: Sequence[float] = SOFTNESS,
) -> Average:
    r"""Find the average over a list of ``k`` tasks that errs least, of those with softer weights.

    .. math::
        \hat w = c\sum_j p_jw_j, \quad
        p_j \propto \exp\Bigl(-\tfrac1{2s\rho}\sum_i(y_i - \langle x_i, w_j\rangle)^2\Bigr)

    With s = c = 1 it is dMMSE, which is best for tasks of the list. The softness s is the one of
    ``softness`` with the least mean error over all ``lists``; c is 1 or, where ``scaled``, the
    constant with the least. They are chosen on the contexts on which they are measured, which
    favours the average. Lists and contexts are those of
    :func:`iclutils.regression.dmmse.mean_errors`. Raises ``ValueError`` for no ``softness`` or one
    that is not positive, and what ``mean_errors`` raises.
    """
    validation.whole("the number of softness", len(softness))
    allowed = [validation.positive("softness", s) for s in softness]
    softer = torch.tensor(allowed, dtype=torch.float64)
    validation.flag("scaled", scaled)
    parts = []
    for b in range(validation.whole("lists", lists)):
        tasks = draw_tasks(k, context.d, stream(seed, "rival", k, b))
        generator = stream(seed, "rival contexts", k, b)
        parts.append(_moments(tasks, context, generator, contexts, softer, fresh))
    square, along, size = torch.stack(parts, 2)
    constant = along.mean(1) / square.mean(1) if scaled else torch.ones_like(softer)
    errors = constant[:, None] * (constant[:, None] * square - 2 * along) + size + context.rho
    best = int(errors.mean(1).argmin())
    return Average(errors[best], softness[best], float(constant[best]))


def _moments(
    tasks: Float[Tensor, "k d"],
    context: Context,
    generator: torch.Generator,
    contexts: int,
    softness: Float[Tensor, " S"],
    fresh: bool,
) -> Float[Tensor, "3 S"]:
    """Means over contexts of the average's square, its product with the task, and that's square.

    Each over d, so that the error of c times the average is ρ + c² · first − 2c · second + third.
    """
    tasks, sample = _draw(tasks, context.ell, context.rho, generator, contexts, fresh)
    gram = (sample.root @ sample.root.mT).flatten(1)
    pairs = torch.einsum("ki,kj->kij", tasks, tasks).flatten(1)
    seen = torch.einsum("cdi,ci->cd", sample.root, sample.seen)
    away = gram @ pairs.mT - 2 * seen @ tasks.mT  # but for what is the same for all tasks
    columns = []
    for s in softness:
        average = torch.softmax(-away / (2 * context.rho * s), 1) @ tasks
        both = ((average, average), (average, sample.w), (sample.w, sample.w))
        columns.append(torch.stack([(a * b).sum(1).mean() for a, b in both]) / context.d)
    return torch.stack(columns, 1)
