r"""From many trials to a judgement: means with standard errors, slopes, and comparisons with three outcomes.

A comparison is *supported*, *contradicted* or *undecided*. The default width is ``Z = 4`` standard
errors: for a Gaussian statistic a true equality is rejected with probability 6e-5.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from iclutils import validation

Z = 4.0

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"


@dataclass(frozen=True)
class Comparison:
    """One judged comparison: the measured ``value``, its ``half_width``, what it was held against, and the outcome."""

    value: float
    half_width: float
    against: str
    outcome: str

    def __bool__(self) -> bool:
        return self.outcome == SUPPORTED


def _number(name: str, value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if math.isnan(number):
        raise ValueError(f"{name} must be a number; got nan")
    return number


def equal(value: float, target: float, *, se: float = 0.0, tol: float = 0.0, z: float = Z) -> Comparison:
    """Is ``value`` the ``target``: |value − target| ≤ z·se + tol, where tol is a derived (finite-size, bound) term.

    ``se = tol = 0`` is refused: two computed numbers are never equal to the last bit.
    """
    value, target = _number("value", value), _number("target", target)
    width = z * validation.nonnegative("se", float(se)) + validation.nonnegative("tol", float(tol))
    if width == 0:
        raise ValueError("equal() needs se > 0 or tol > 0; got neither")
    outcome = SUPPORTED if abs(value - target) <= width else CONTRADICTED
    return Comparison(value, width, f"= {target:.4g}", outcome)


def greater(value: float, bound: float = 0.0, *, se: float = 0.0, z: float = Z) -> Comparison:
    """Is ``value`` above ``bound``: by more than z·se it is supported, below by more than z·se contradicted."""
    value, bound = _number("value", value), _number("bound", bound)
    width = z * validation.nonnegative("se", float(se))
    gap = value - bound
    outcome = SUPPORTED if gap > width else CONTRADICTED if gap < -width else UNDECIDED
    if width == 0 and gap == 0:
        outcome = UNDECIDED
    return Comparison(value, width, f"> {bound:.4g}", outcome)


def less(value: float, bound: float = 0.0, *, se: float = 0.0, z: float = Z) -> Comparison:
    """Is ``value`` below ``bound``; the mirror image of :func:`greater`."""
    mirrored = greater(-_number("value", value), -_number("bound", bound), se=se, z=z)
    return Comparison(float(value), mirrored.half_width, f"< {float(bound):.4g}", mirrored.outcome)


def within(value: float, low: float, high: float, *, se: float = 0.0, z: float = Z) -> Comparison:
    """Is ``value`` in [low, high]: supported if it is to within z·se, contradicted otherwise."""
    value, low, high = _number("value", value), _number("low", low), _number("high", high)
    if low > high:
        raise ValueError(f"low must not exceed high; got low = {low}, high = {high}")
    width = z * validation.nonnegative("se", float(se))
    outcome = SUPPORTED if low - width <= value <= high + width else CONTRADICTED
    return Comparison(value, width, f"in [{low:.4g}, {high:.4g}]", outcome)


def mean_se(samples: torch.Tensor, dim: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard error s/√T over the ``T`` independent trials along ``dim`` (T ≥ 2)."""
    validation.finite("samples", samples)
    if samples.ndim == 0 or samples.shape[dim] < 2:
        raise ValueError(f"samples must hold at least 2 trials along dim {dim}; got shape {tuple(samples.shape)}")
    return samples.mean(dim), samples.std(dim) / math.sqrt(samples.shape[dim])


def ordered(samples: torch.Tensor, *, z: float = Z, paired: bool = False) -> list[Comparison]:
    """Does the mean rise from each setting to the next; ``samples: (S, T)``, S settings in order, T trials.

    Returns the S − 1 adjacent comparisons. ``paired=True`` uses the trial-wise differences (same
    random stream in both settings); otherwise the two standard errors add in quadrature.
    """
    validation.shape("samples", samples, "S T")
    mean, se = mean_se(samples, 1)
    if paired:
        gap, gap_se = mean_se(samples.diff(dim=0), 1)
    else:
        gap, gap_se = mean.diff(), (se[1:] ** 2 + se[:-1] ** 2).sqrt()
    return [greater(float(g), 0.0, se=float(s), z=z) for g, s in zip(gap, gap_se, strict=True)]


@dataclass(frozen=True)
class Line:
    """A fitted straight line ``y = intercept + slope·x`` with the standard error of its slope and its residuals."""

    slope: float
    slope_se: float
    intercept: float
    residuals: torch.Tensor


def line(x: Sequence[float] | torch.Tensor, y: Sequence[float] | torch.Tensor,
         se: Sequence[float] | torch.Tensor | None = None) -> Line:
    r"""Least squares, weighted by ``1/se²`` where standard errors are given; ``x, y, se: (P,)``, P ≥ 3.

    With ``se`` the slope's standard error is the larger of the propagated one and the one from the
    scatter around the line, so that curvature is not taken for precision.
    """
    x = torch.as_tensor(x, dtype=torch.float64)
    y = torch.as_tensor(y, dtype=torch.float64)
    size = validation.shape("x", x, "P")["P"]
    validation.shape("y", y, "P", P=size)
    if size < 3:
        raise ValueError(f"x must hold at least 3 points; got {size}")
    weight = torch.ones_like(x) if se is None else torch.as_tensor(se, dtype=torch.float64) ** -2
    validation.finite("x", x), validation.finite("y", y), validation.finite("1/se²", weight)
    centre = (weight * x).sum() / weight.sum()
    spread = (weight * (x - centre) ** 2).sum()
    slope = (weight * (x - centre) * y).sum() / spread
    intercept = (weight * y).sum() / weight.sum() - slope * centre
    residuals = y - intercept - slope * x
    variance = (weight * residuals**2).sum() / (size - 2) / spread
    if se is not None:
        variance = torch.maximum(variance, 1 / spread)
    return Line(float(slope), float(variance.sqrt()), float(intercept), residuals)


def exponent(x: Sequence[float] | torch.Tensor, y: Sequence[float] | torch.Tensor,
             se: Sequence[float] | torch.Tensor | None = None) -> Line:
    """Fit ``y ∝ x^slope`` in log–log coordinates; ``se`` are standard errors of y (delta method)."""
    x = torch.as_tensor(x, dtype=torch.float64)
    y = torch.as_tensor(y, dtype=torch.float64)
    for name, values in (("x", x), ("y", y)):
        if not bool((values > 0).all()):
            raise ValueError(f"{name} must be positive for a log-log fit; its smallest entry is {float(values.min()):g}")
    return line(x.log(), y.log(), None if se is None else torch.as_tensor(se, dtype=torch.float64) / y)


def crossing(x: Sequence[float] | torch.Tensor, y: Sequence[float] | torch.Tensor, level: float) -> float:
    """The x at which a curve finally rises above ``level``, on straight lines between its points; ``x, y: (P,)``, x rising.

    Raises ``ValueError`` where the curve does not end above the level or never lies below it.
    """
    x, y = (torch.as_tensor(values, dtype=torch.float64) for values in (x, y))
    validation.shape("y", y, "P", **validation.shape("x", x, "P"))
    below = (y <= level).nonzero()
    if not len(below) or int(below.max()) == len(y) - 1:
        raise ValueError(f"y must rise from below to above the level {level:g}; it runs from {float(y[0]):g} to {float(y[-1]):g}")
    i = int(below.max())
    return float(x[i] + (x[i + 1] - x[i]) * (level - y[i]) / (y[i + 1] - y[i]))


def jackknife(function: Callable[[torch.Tensor], float], samples: torch.Tensor) -> tuple[float, float]:
    r"""``function(samples)`` and its standard error from leaving out one trial at a time; ``samples: (..., T)``, T ≥ 2 trials.

    .. math:: se^2 = \frac{T-1}{T}\sum_i\bigl(f_{-i} - \overline{f_{-i}}\bigr)^2
    """
    trials = samples.shape[-1]
    validation.whole("trials", trials, low=2)
    kept = ~torch.eye(trials, dtype=torch.bool)
    without = torch.tensor([function(samples[..., kept[i]]) for i in range(trials)], dtype=torch.float64)
    return function(samples), float(((trials - 1) * without.var(correction=0)).sqrt())
