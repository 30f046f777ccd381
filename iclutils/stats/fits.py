"""Straight lines through points, powers, and where a curve crosses a level."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from iclutils import validation
from iclutils.stats.estimate import Estimate

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
    points at a single x, for unequal lengths, a ``se`` without ``dof`` or with one that is not
    positive, NaN, infinity, and for an entry of ``se`` that is not positive; ``TypeError`` for what
    are no numbers.

    >>> fit = line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    >>> round(fit.slope, 6), round(fit.intercept, 6)
    (2.0, 1.0)
    """
    x = _points("x", x)
    y = _points("y", y)
    size = validation.shape("x", x, "P")["P"]
    validation.shape("y", y, "P", P=size)
    if size < 3:
        raise ValueError(f"x must hold at least 3 points; got {size}")
    if (se is None) != (dof is None):
        raise ValueError("se and dof must be given together")
    weight = torch.ones_like(x)
    validation.finite("x", x)
    validation.finite("y", y)
    if se is not None and dof is not None:
        weight = _weights(se, dof, size)
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
    r"""Return the line through log x and log y, whose slope is the a of :math:`y\propto x^a`.

    ``se`` are standard errors of y itself, carried to log y by the delta method. Raises
    ``ValueError`` as :func:`iclutils.stats.line`, and for an x or y that is not above
    zero.

    >>> round(exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]).slope, 6)
    2.0
    """
    x = _points("x", x)
    y = _points("y", y)
    for name, values in (("x", x), ("y", y)):
        if not bool((values > 0).all()):
            least = float(values.min())
            raise ValueError(
                f"{name} must be positive for a log-log fit; its smallest entry is {least:g}"
            )
    relative = None if se is None else _points("se", se) / y
    return line(x.log(), y.log(), relative, dof=dof)


def crossing(x: Points, y: Points, level: float) -> float:
    """Find the x at which a curve finally rises above ``level``, linear between its points.

    Raises ``ValueError`` where x does not rise, and where the curve does not end above the level or
    never lies below it.

    >>> crossing([1.0, 2.0, 4.0], [0.0, 1.0, 5.0], 2.0)
    2.5
    """
    x = _points("x", x)
    y = _points("y", y)
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


def parabola_top(x: Points, y: Points, nearest: int | None = None) -> float:
    r"""Return the x at the top of the least-squares parabola through P ≥ 3 points.

    .. math:: y \approx a + b x + c x^2, \qquad x_{\rm top} = -\frac{b}{2c}

    ``nearest`` (odd, at least 3) uses only so many points, those around the largest y. Raises
    ``ValueError`` for fewer than 3 points or different lengths, where the largest y is too near an
    end for ``nearest``, for NaN or infinity in the points that are used, and where the parabola
    opens upwards and has no top.

    >>> round(parabola_top([0.0, 1.0, 2.0], [0.0, 1.0, 0.0]), 6)
    1.0
    """
    x = _points("x", x)
    y = _points("y", y)
    size = validation.shape("x", x, "P")["P"]
    validation.whole("number of points", size, low=3)
    validation.shape("y", y, "P", P=size)
    if nearest is not None:
        reach = validation.whole("nearest", nearest, low=3) // 2
        first = int(y.argmax()) - reach
        if nearest % 2 == 0 or first < 0 or first + nearest > size:
            raise ValueError(
                f"nearest must be odd and fit around the largest y, point {first + reach} of"
                f" {size}; got {nearest}"
            )
        x = x[first : first + nearest]
        y = y[first : first + nearest]
    validation.finite("x", x)
    validation.finite("y", y)
    powers = torch.stack([x**0, x, x**2], 1)
    _, b, c = torch.linalg.lstsq(powers, y).solution.tolist()
    if not c < 0:
        raise ValueError(f"y must bend downwards to have a top; the square has the weight {c:g}")
    return float(-b / (2 * c))


def _points(name: str, values: Points) -> Float[Tensor, " P"]:
    """Numbers in double precision; ``TypeError`` for what are none."""
    try:
        return torch.as_tensor(values, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers; got {values!r} ({error})") from None


def _weights(se: Points, dof: float, size: int) -> Float[Tensor, " P"]:
    """Return the weights 1/se², checked."""
    errors = _points("se", se)
    validation.shape("se", errors, "P", P=size)
    if not bool((validation.finite("se", errors) > 0).all()):
        raise ValueError(f"se must be positive; its smallest entry is {float(errors.min()):g}")
    if dof != math.inf:
        validation.positive("dof", dof)
    return validation.finite("1/se²", errors**-2)
