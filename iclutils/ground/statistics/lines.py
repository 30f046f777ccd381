"""Straight lines through points, powers, and where a curve crosses a level."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics.estimates import Estimate

Points = Sequence[float] | Float[Tensor, " P"]


@dataclass(frozen=True)
class Line:
    """A fitted straight line ``y = intercept + slope·x``, one residual a point.

    ``dof`` are the degrees of freedom of the slope's standard error.
    """

    slope: float
    slope_se: float
    dof: float
    intercept: float
    residuals: Float[Tensor, " P"]

    @property
    def estimate(self) -> Estimate:
        """The slope as an estimate."""
        return Estimate(self.slope, self.slope_se, self.dof)


def line(x: Points, y: Points, se: Points | None = None, *, dof: float | None = None) -> Line:
    r"""Least squares through P ≥ 3 points, weighted by :math:`1/se^2` where ``se`` is given.

    With standard errors of y (and the ``dof`` of each) the slope's standard error is the larger of
    the propagated one and the one from the scatter around the line, so that curvature is not taken
    for precision. Its degrees of freedom are those of the one that is larger: P − 2 for the
    scatter, Welch's for the other, which are ``dof``/:math:`\sum_i s_i^2` where :math:`s_i` is the
    share of point i in the slope's variance. Raises ``ValueError`` for fewer than 3 points, for
    points at a single x, for unequal lengths, a ``se`` without ``dof``, NaN, infinity or a zero in
    ``se``.

    >>> fit = line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    >>> round(fit.slope, 6), round(fit.intercept, 6)
    (2.0, 1.0)
    """
    x = torch.as_tensor(x, dtype=torch.float64)
    y = torch.as_tensor(y, dtype=torch.float64)
    size = validation.shape("x", x, "P")["P"]
    validation.shape("y", y, "P", P=size)
    if size < 3:
        raise ValueError(f"x must hold at least 3 points; got {size}")
    if (se is None) != (dof is None):
        raise ValueError("se and dof must be given together")
    weight = torch.ones_like(x)
    if se is not None:
        weight = torch.as_tensor(se, dtype=torch.float64) ** -2
    validation.finite("x", x)
    validation.finite("y", y)
    validation.finite("1/se²", weight)
    centre = (weight * x).sum() / weight.sum()
    leverage = weight * (x - centre) ** 2
    spread = leverage.sum()
    if float(spread) == 0:
        raise ValueError(f"x must hold at least two different points; all are {float(x[0]):g}")
    slope = (weight * (x - centre) * y).sum() / spread
    intercept = (weight * y).sum() / weight.sum() - slope * centre
    residuals = y - intercept - slope * x
    scatter = float((weight * residuals**2).sum() / (size - 2) / spread)
    variance = scatter
    freedom: float = size - 2
    if dof is not None and float(1 / spread) > scatter:
        variance = float(1 / spread)
        freedom = dof / float(((leverage / spread) ** 2).sum())
    return Line(float(slope), math.sqrt(variance), freedom, float(intercept), residuals)


def exponent(x: Points, y: Points, se: Points | None = None, *, dof: float | None = None) -> Line:
    r"""The line through log x and log y, whose slope is the a of :math:`y\propto x^a`.

    ``se`` are standard errors of y itself, carried to log y by the delta method. Raises
    ``ValueError`` as :func:`iclutils.ground.statistics.line`, and for an x or y that is not above
    zero.

    >>> round(exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]).slope, 6)
    2.0
    """
    x = torch.as_tensor(x, dtype=torch.float64)
    y = torch.as_tensor(y, dtype=torch.float64)
    for name, values in (("x", x), ("y", y)):
        if not bool((values > 0).all()):
            least = float(values.min())
            raise ValueError(
                f"{name} must be positive for a log-log fit; its smallest entry is {least:g}"
            )
    relative = None if se is None else torch.as_tensor(se, dtype=torch.float64) / y
    return line(x.log(), y.log(), relative, dof=dof)


def crossing(x: Points, y: Points, level: float) -> float:
    """The rising x at which a curve finally rises above ``level``, linear between its points.

    Raises ``ValueError`` where x does not rise, and where the curve does not end above the level or
    never lies below it.

    >>> crossing([1.0, 2.0, 4.0], [0.0, 1.0, 5.0], 2.0)
    2.5
    """
    x = torch.as_tensor(x, dtype=torch.float64)
    y = torch.as_tensor(y, dtype=torch.float64)
    validation.shape("y", y, "P", P=validation.shape("x", x, "P")["P"])
    validation.finite("y", y)
    if not bool((validation.finite("x", x).diff() > 0).all()):
        raise ValueError(f"x must rise; got {x.tolist()}")
    below: Bool[Tensor, " P"] = y <= level
    if not bool(below.any()) or bool(below[-1]):
        first = float(y[0])
        last = float(y[-1])
        raise ValueError(
            f"y must rise from below to above the level {level:g};"
            f" it runs from {first:g} to {last:g}"
        )
    i = int(below.nonzero().max())
    return float(x[i] + (x[i + 1] - x[i]) * (level - y[i]) / (y[i + 1] - y[i]))
