r"""A loss known on a grid of windows: the grids, its minimum with standard errors, its growth.

Two numerical methods share one result, :class:`Window`. A cubic
spline on :func:`grid` is smooth enough to be differentiated; a
parabola through three points of :func:`log_grid` covers six decades
of w at little cost. The standard error of the best window is a jackknife over batches of contexts;
its replicas are kept, so that two windows found on the same contexts can be compared.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.interpolate import CubicSpline
from torch import Tensor

from iclutils import validation
from iclutils.stats import Estimate, difference, jackknife_se, log_ratio

SMALL = 0.1  # ``grid`` is linear in w below and logarithmic above
CHUNK = 4_000_000  # attention weights of the contexts that are held at once
STEEP = 1e10  # from the lowest point of a curve to its highest: the spline is that of its log
EDGE = 8  # points at either end of a curve where finite differences are poor


class Lowest(NamedTuple):
    """The minimum of a curve: the window, the value there, and the lowest point of the grid."""

    w: float
    loss: float
    grid_index: int


class Growth(NamedTuple):
    """An exponent extrapolated to large windows and the uncertainty of the extrapolation."""

    exponent: float
    uncertainty: float

    @property
    def estimate(self) -> Estimate:
        """The exponent, with the uncertainty in the place of a known standard error."""
        return Estimate(self.exponent, self.uncertainty, math.inf)


@dataclass(frozen=True)
class Window:
    r"""The best window :math:`w^*`, its loss, and how sure both are.

    ``loss_se`` is the standard error of the loss over contexts, 0 in closed form. ``replicas`` are
    the best windows with one batch of contexts left out; a closed form has one batch and so one
    replica, :math:`w^*` itself. ``value_weight`` multiplies the unit's answer, 1 unless it is
    free.
    """

    w: float
    loss: float
    loss_se: float
    replicas: Float[Tensor, " batches"] = field(repr=False, compare=False)
    value_weight: float = 1.0

    @property
    def w_se(self) -> float:
        """The jackknife standard error of w over batches of contexts."""
        return jackknife_se(self.replicas)

    @property
    def estimate(self) -> Estimate:
        """The window w* as an estimate over batches of contexts; exact in closed form."""
        return Estimate(self.w, self.w_se, len(self.replicas) - 1 or math.inf)

    @property
    def log_loss_se(self) -> float:
        """The standard error of log loss."""
        return self.loss_se / self.loss


def grid(largest: float = 1000.0, points: int = 61) -> Float[Tensor, " windows"]:
    """Windows from 0 to ``largest``, linear below 0.1 and logarithmic above, for the spline.

    Raises ``ValueError`` where ``largest`` is not positive or ``points`` is below 8.

    >>> [round(float(w), 2) for w in grid(10, 8)]
    [0.0, 0.08, 0.22, 0.48, 1.03, 2.2, 4.69, 10.0]
    """
    validation.positive("largest", largest)
    validation.whole("points", points, low=8)
    end = math.asinh(largest / SMALL)
    return SMALL * torch.linspace(0, end, points, dtype=torch.float64).sinh()


def log_grid(low: float = 0.02, high: float = 2e4, points: int = 90) -> Float[Tensor, " windows"]:
    """Make a grid of w = 0 and ``points`` − 1 windows even in log w, for the parabola.

    Raises ``ValueError`` unless 0 < ``low`` < ``high`` and ``points`` is at least 5.

    >>> log_grid(0.1, 100, 5).tolist()
    [0.0, 0.1, 1.0, 10.0, 100.0]
    """
    validation.positive("high", high)
    validation.in_range("low", low, 0, high, open_low=True, open_high=True)
    validation.whole("points", points, low=5)
    ends = math.log10(low), math.log10(high)
    positive = torch.logspace(*ends, points - 1, dtype=torch.float64)
    return torch.cat([torch.zeros(1, dtype=torch.float64), positive])


def checked(w: Float[Tensor, " windows"] | None) -> Float[Tensor, " windows"]:
    """Check a reader's own grid, and return it in double precision; the default one for ``None``.

    Raises ``ValueError`` unless it rises, from zero or above, over at least 4 finite values.
    """
    if w is None:
        return grid()
    validation.finite("w", w)
    validation.shape("w", w, "W")
    if len(w) < 4 or float(w[0]) < 0 or bool((w.diff() <= 0).any()):
        raise ValueError(
            f"w must be a rising grid of at least 4 values, zero or above; got {w.tolist()}"
        )
    return w.double()


def stretch(w: Float[Tensor, "*w"]) -> Float[Tensor, "*w"]:
    """Return the coordinate arsinh(w/0.1) in which :func:`grid` is even."""
    return (w / SMALL).asinh()


def spline(
    w: Float[Tensor, " windows"], loss: Float[Tensor, "*batches windows"]
) -> Callable[[Any], Any]:
    """Fit a cubic spline through positive curves, as a function of the stretched coordinate.

    Where they rise by more than ten powers of ten it is the exponential of their logarithm's
    spline: one through the values themselves would swing below zero where they are small.
    """
    through, logarithmic = _through(w, loss)
    return (lambda stretched: np.exp(through(stretched))) if logarithmic else through


def _through(
    w: Float[Tensor, " windows"], loss: Float[Tensor, "*batches windows"]
) -> tuple[CubicSpline, bool]:
    """Fit the cubic spline; tell whether it is that of the logarithms."""
    logarithmic = bool(0 < loss.min() < loss.max() / STEEP)
    values = loss.log() if logarithmic else loss
    return CubicSpline(stretch(w).numpy(), values.numpy(), axis=-1), logarithmic


def spline_minima(
    w: Float[Tensor, " windows"], loss: Float[Tensor, "curves windows"]
) -> list[Lowest]:
    r"""For each curve the minimum over w ≥ 0 of a cubic spline, beside the curve's lowest point.

    On a piece :math:`at^3+bt^2+ct+d` it is :math:`t=-c/(b+\sqrt{b^2-3ac})`, the root of the
    derivative where the curve bends upwards. Raises ``ValueError`` where a lowest point is the
    grid's upper end (a longer grid is needed) or a curve is not finite.
    """
    validation.shape("loss", validation.finite("loss", loss), "C W", W=len(w))
    lowest = loss.argmin(1).numpy()
    if bool((lowest == len(w) - 1).any()):
        end = float(w[-1])
        raise ValueError(f"w must be a longer grid; w* lies beyond the grid's end {end:g}")
    through, logarithmic = _through(w, loss)
    curve = np.arange(len(loss))
    pieces = np.stack([np.maximum(lowest - 1, 0), lowest])  # to the left and to the right
    a, b, c, d = through.c[:, pieces, curve]
    root = np.sqrt(np.maximum(b**2 - 3 * a * c, 0))
    with np.errstate(divide="ignore", invalid="ignore"):  # a piece without a minimum
        t = np.where(b > 0, -c / (b + root), (root - b) / (3 * a))
    t = np.clip(np.nan_to_num(t), 0, through.x[pieces + 1] - through.x[pieces])
    value = ((a * t + b) * t + c) * t + d
    side = value.argmin(0)
    windows = SMALL * np.sinh((through.x[pieces] + t)[side, curve])
    least = value[side, curve]
    least = np.exp(least) if logarithmic else least
    # 1e-14 is the rounding of the spline
    at_zero = (lowest == 0) & (loss[:, 0].numpy() <= least + 1e-14 * np.abs(least))
    windows[at_zero], least[at_zero] = 0.0, loss[:, 0].numpy()[at_zero]
    minima = zip(windows.tolist(), least.tolist(), lowest.tolist(), strict=True)
    return [Lowest(*one) for one in minima]


def parabola_minimum(w: Float[Tensor, " windows"], loss: Float[Tensor, " windows"]) -> Lowest:
    """Minimise the parabola in log w through a curve's lowest point and its two neighbours.

    Next to w = 0 and at the grid's upper end the lowest point itself is returned. Raises
    ``ValueError`` where the curve is not finite or has not a value for each w.
    """
    validation.shape("loss", validation.finite("loss", loss), "W", W=len(w))
    at = int(loss.argmin())
    if at < 2 or at == len(w) - 1:
        return Lowest(float(w[at]), float(loss[at]), at)
    below = float(loss[at - 1])
    here = float(loss[at])
    above = float(loss[at + 1])
    curvature = below - 2 * here + above
    shift = 0.5 * (below - above) / curvature if curvature > 0 else 0.0
    best = float(w[at] * (w[at + 1] / w[at]) ** shift)
    return Lowest(best, here - 0.25 * (below - above) * shift, at)


def leave_one_out(
    batches: Float[Tensor, "batches windows"],
) -> Float[Tensor, "batches windows"]:
    """Compute the mean curve without each batch in turn; ``ValueError`` for fewer than 2."""
    others = validation.whole("the number of batches", len(batches), low=2) - 1
    return (batches.sum(0) - batches) / others


def standard_error(batches: Float[Tensor, "batches *w"]) -> Float[Tensor, "*w"]:
    """Compute the standard error of the mean over batches; 0 for one batch, a closed form."""
    if len(batches) == 1:
        return torch.zeros_like(batches[0])
    return batches.std(0) / math.sqrt(len(batches))


def compare(first: Window, second: Window, *, log: bool = True, paired: bool = True) -> Estimate:
    r""":math:`\log w_2^*-\log w_1^*`, or :math:`w_2^*-w_1^*` where ``log`` is false.

    ``paired`` windows were found on the same contexts, and the standard error is the jackknife of
    the difference; others are independent. Raises ``ValueError`` for paired windows with different
    numbers of batches (their contexts are not the same) and for the log of w* = 0.
    """
    for name, choice in (("log", log), ("paired", paired)):
        validation.flag(name, choice)
    other_contexts = paired and len(first.replicas) != len(second.replicas)
    if other_contexts or (log and min(first.w, second.w) <= 0):
        raise ValueError(
            "first and second must be windows of the same loss, positive for log = True; "
            f"got w = {first.w:g}, {second.w:g} "
            f"with {len(first.replicas)}, {len(second.replicas)} batches"
        )
    if not paired:
        change = log_ratio if log else difference
        return change(second.estimate, first.estimate)
    dof = second.estimate.dof
    if not log:
        gaps = second.replicas - first.replicas
        return Estimate(second.w - first.w, jackknife_se(gaps), dof)
    gaps = second.replicas.log() - first.replicas.log()
    return Estimate(math.log(second.w / first.w), jackknife_se(gaps), dof)


def power(w: Float[Tensor, " windows"], y: Float[Tensor, " windows"]) -> Growth:
    r"""Compute the exponent p of :math:`y\sim w^p` for :math:`w\to\infty`, with its uncertainty.

    Local slopes of log y in log w at the last w and one and two decades before are extrapolated by
    a parabola in :math:`w^{-1/2}`, for the corrections here are powers of it. The uncertainty is
    the change from the straight line through the last two. ``w`` runs over more than two decades.
    Raises ``ValueError`` where ``y`` has not the shape of ``w``, an entry is not positive, or
    ``w``, without eight points at either end, does not rise over two decades.

    >>> w = torch.logspace(0, 4, 100, dtype=torch.float64)
    >>> round(power(w, w**-1.5 * (1 + 1 / w.sqrt())).exponent, 2)
    -1.5
    """
    size = validation.shape("w", w, "W")
    validation.shape("y", y, "W", **size)
    for name, values in (("w", w), ("y", y)):
        if not bool((validation.finite(name, values) > 0).all()):
            least = float(values.min())
            raise ValueError(f"{name} must be positive; its smallest entry is {least:g}")
    inner = w[EDGE:-EDGE]
    if len(inner) < 3 or bool((w.diff() <= 0).any()) or float(inner[-1] / inner[0]) < 100:
        ends = f"{len(w)} points from {float(w[0]):.3g} to {float(w[-1]):.3g}"
        rule = f"w must rise over two decades, without {EDGE} points at either end"
        raise ValueError(f"{rule}; got {ends}")
    slope = torch.gradient(y.log(), spacing=(w.log(),))[0][EDGE:-EDGE]
    x = w[EDGE:-EDGE].rsqrt()
    last, before, first = ((x - x[-1] * 10 ** (decades / 2)).abs().argmin() for decades in range(3))

    def straight(i: Tensor, j: Tensor) -> float:
        return float((slope[i] * x[j] - slope[j] * x[i]) / (x[j] - x[i]))

    near = straight(last, before)
    far = straight(before, first)
    parabola = float((near * x[first] - far * x[last]) / (x[first] - x[last]))
    return Growth(parabola, abs(parabola - near))
