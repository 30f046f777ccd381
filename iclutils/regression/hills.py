r"""Where the error peaks in the number of prompts, and by how much, from single runs.

The errors are those of R runs at each of T numbers of prompts :math:`n = \tau d^2`, in logarithms.
Every run is a network of its own on prompts of its own, so that all T·R numbers are independent.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate, mean_difference

NEIGHBOURS = 5  # numbers of prompts whose mean error is compared


class Curve(NamedTuple):
    """Logarithms of the errors of R runs at T rising numbers of prompts over d²."""

    tau: Float[Tensor, " T"]
    logs: Float[Tensor, "T R"]


def published_curve(
    rows: Sequence[Mapping[str, Any]], d: int, *, name: str = "icl", checkpoint: int | None = None
) -> Curve:
    """The errors ``name`` at one ``d`` among published rows.

    Where a row has several checkpoints it is that one; where rows have different numbers of runs,
    the first that all have. Raises ``ValueError`` where there is no such row or checkpoint.
    """
    chosen = sorted((row for row in rows if row["d"] == d), key=lambda row: float(row["tau"]))
    if not chosen:
        raise ValueError(f"d must be that of a row; got {d}")
    errors = [row[name] for row in chosen]
    if checkpoint is not None:
        places = [row["checkpoints"].index(checkpoint) for row in chosen]
        errors = [[run[i] for run in of] for of, i in zip(errors, places, strict=True)]
    runs = min(map(len, errors))
    logs = torch.tensor([of[:runs] for of in errors], dtype=torch.float64).log()
    return Curve(torch.tensor([row["tau"] for row in chosen], dtype=torch.float64), logs)


class Rise(NamedTuple):
    """By how much the logarithm of the error is higher at the hill than at the two ends."""

    from_the_left: Estimate
    to_the_right: Estimate


def top(tau: Float[Tensor, " T"], logs: Float[Tensor, "T R"], factor: float) -> Estimate:
    r"""The logarithm of the τ at which the error is largest.

    The vertex of the least-squares parabola in :math:`\log\tau` through all runs within a
    ``factor`` of the place at which the mean over five neighbouring τ is largest; its error is that
    of the regression, by the delta method:

    .. math:: x_{\rm top} = -\frac{b}{2c}, \qquad
        \nabla x_{\rm top} = \Bigl(0,\ -\frac1{2c},\ \frac{b}{2c^2}\Bigr)

    Raises ``ValueError`` where ``factor`` is not above 1, fewer than five τ are that near or the
    parabola has no top.
    """
    validation.shape("logs", logs, "T R", T=len(tau))
    if not factor > 1:
        raise ValueError(f"factor must be above 1; got {factor}")
    centre = float(tau[_highest(logs)])
    near = (tau >= centre / factor) & (tau <= centre * factor)
    if int(near.sum()) < NEIGHBOURS:
        raise ValueError(f"tau must hold {NEIGHBOURS} values within {factor} of {centre:.3g}")
    x = tau[near].double().log()[:, None].expand(-1, logs.shape[1]).flatten()
    middle = x.mean()
    powers = torch.stack([torch.ones_like(x), x - middle, (x - middle) ** 2], 1)
    y = logs[near].double().flatten()
    a, b, c = torch.linalg.lstsq(powers, y).solution
    if not float(c) < 0:
        raise ValueError("logs must have a highest place: the parabola opens upwards")
    left = y - powers @ torch.stack([a, b, c])
    spread = left.square().sum() / (len(y) - 3) * torch.linalg.inv(powers.T @ powers)
    gradient = torch.stack([torch.zeros_like(b), -1 / (2 * c), b / (2 * c**2)])
    se = float((gradient @ spread @ gradient).sqrt())
    return Estimate(float(middle - b / (2 * c)), se, len(y) - 3)


def rise(logs: Float[Tensor, "T R"]) -> Rise:
    """How much higher the hill is than either end, five neighbouring τ each.

    The first half of the runs, rounded down, says where the hill is, and the others say how high it
    is there, so that the choice of the place does not favour a hill. Raises ``ValueError`` for
    fewer than 4 runs or 15 numbers of prompts.
    """
    sizes = validation.shape("logs", logs, "T R")
    validation.whole("R", sizes["R"], low=4)
    validation.whole("T", sizes["T"], low=3 * NEIGHBOURS)
    half = sizes["R"] // 2
    at = _highest(logs[:, :half])
    first = min(max(at - NEIGHBOURS // 2, 0), sizes["T"] - NEIGHBOURS)
    rest = logs[:, half:]
    hill = rest[first : first + NEIGHBOURS].flatten()
    return Rise(
        mean_difference(hill, rest[:NEIGHBOURS].flatten()),
        mean_difference(hill, rest[-NEIGHBOURS:].flatten()),
    )


def _highest(logs: Float[Tensor, "T R"]) -> int:
    """Where the mean over five neighbours, fewer at the ends, is largest."""
    means = logs.mean(1)
    reach = NEIGHBOURS // 2
    smooth = [float(means[max(0, i - reach) : i + reach + 1].mean()) for i in range(len(means))]
    return max(range(len(smooth)), key=smooth.__getitem__)


def times_d_squared(place: Estimate) -> tuple[float, float, float]:
    """A place from :func:`top` as a multiple of d², with the ends of its interval.

    >>> times_d_squared(Estimate(0.0, 0.0, 9))
    (1.0, 1.0, 1.0)
    """
    half = place.half_width
    return (
        math.exp(place.value),
        math.exp(place.value - half),
        math.exp(place.value + half),
    )
