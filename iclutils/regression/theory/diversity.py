"""Theory of both errors of linear attention as the list of tasks grows, at a finite size."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import stream
from iclutils.regression.prompts import Context, draw_tasks, fresh_moments, moments
from iclutils.regression.theory.equivalents import finite_equivalent


def layer_errors(
    context: Context, tau: float, lists: Sequence[int], seed: int, draws: int
) -> Float[Tensor, "2 lists draws"]:
    r"""Decimal logarithms of :math:`e_{ICL}` and :math:`e_{IDG}` of the reduced layer, ridgeless.

    The deterministic equivalent at n = τd² prompts and the context's d, for ``draws`` lists of each
    of the lengths ``lists``. Raises ``ValueError`` where ``tau`` is not positive, a length or
    ``draws`` is below 1, and what :func:`iclutils.regression.theory.equivalents.finite_equivalent`
    raises.
    """
    validation.positive("tau", tau)
    validation.whole("draws", draws)
    d, n = context.d, round(tau * context.d**2)
    fresh = fresh_moments(context)
    found = torch.empty(2, len(lists), draws, dtype=torch.float64)
    for i, k in enumerate(lists):
        for draw in range(draws):
            tasks = draw_tasks(k, d, stream(seed, "theory", d, k, draw))
            errors = finite_equivalent(moments(tasks, context), fresh, n, context.rho, 0.0)
            found[0, i, draw] = math.log10(errors.icl)
            found[1, i, draw] = math.log10(errors.idg)
    return found
