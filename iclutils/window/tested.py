"""Trained units of several kinds and classes of tasks, tested on the same draws (chapter 4)."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.window.attention import mean_errors
from iclutils.window.covariates import Law
from iclutils.window.prompts import draw_alike
from iclutils.window.tasks import FunctionClass


def errors(
    units: Mapping[str, Float[Tensor, "F T R d d"]],
    functions: Sequence[FunctionClass],
    covariates: Law,
    n: int,
    sigma: float,
    size: int,
    generator: torch.Generator,
) -> dict[str, Float[Tensor, "F T R"]]:
    """Mean squared errors of R units in each of T trials, for each of F classes of one law.

    ``units`` has the M of each kind of unit, ``"softmax"`` or ``"linear"``. A trial has ``size``
    prompts with one query each; all kinds and classes see the same tokens, tasks and noise. Raises
    ``ValueError`` for different numbers of trials, and as
    :func:`iclutils.window.prompts.draw_alike` and :func:`iclutils.window.attention.mean_errors`.
    """
    trials = {M.shape[1] for M in units.values()}
    if len(trials) != 1:
        raise ValueError(f"units must have one number of trials; got {sorted(trials)}")
    drawn = draw_alike(functions, covariates, n, sigma, 1, (trials.pop(), size), generator)
    return {
        unit: torch.stack([mean_errors(m, p, unit) for m, p in zip(M, drawn, strict=True)])
        for unit, M in units.items()
    }
