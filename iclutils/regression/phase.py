r"""A point of the phase diagram: what the limits of Lu et al. (arXiv 2405.11751) depend on."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iclutils.ground import validation

Numbers = float | NDArray[np.float64]  # one value, or an array of them that broadcasts
LARGEST = 1e50  # of a ratio, a variance or a ridge: their products and squares are numbers too


def checked(name: str, value: ArrayLike, check: Callable[[str, float], float]) -> Numbers:
    """Return ``value`` as a float, or as an array where it is a sequence, a tensor or an array.

    ``check(name, number)`` sees the number, or the least and the largest entry of the array
    (both are NaN where one entry is), and raises for what it does not allow.
    """
    if np.ndim(value) == 0:
        return float(check(name, value))  # type: ignore[arg-type]
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number or an array of numbers; got {value!r}") from error
    if not values.size:
        raise ValueError(f"{name} must hold at least one number; got {value!r}")
    for extreme in (values.min(), values.max()):
        check(name, float(extreme))
    return values


def positive_ratio(name: str, value: float) -> float:
    """Return ``value`` if it is between 1e-50 and 1e50; else raise ``ValueError``."""
    return validation.in_range(name, value, 1 / LARGEST, LARGEST)


def bounded(name: str, value: float) -> float:
    """Return ``value`` if it is between 0 and 1e50; else raise ``ValueError``."""
    return validation.in_range(name, value, 0.0, LARGEST)


def positive_or_infinite(name: str, value: float) -> float:
    """Return ``value`` if it is ``math.inf`` or a ratio; else raise ``ValueError``."""
    return value if value == math.inf else positive_ratio(name, value)


@dataclass(frozen=True)
class Phase:
    r"""The ratios that stay fixed as :math:`d, \ell, k, n \to \infty`, and the label noise.

    ``alpha``: context length, :math:`\alpha = \ell/d > 0`.
    ``kappa``: task diversity, :math:`\kappa = k/d > 0`; ``math.inf`` for a fresh task a prompt.
    ``tau``: pretraining prompts, :math:`\tau = n/d^2 > 0`.
    ``rho``: variance of the label noise, :math:`\rho \ge 0`.

    Each is a number, or an array (or list, or tensor); arrays broadcast against each other. Ratios
    are between 1e-50 and 1e50. Raises ``ValueError`` for a value out of its range, with its name,
    and for arrays that do not broadcast, ``TypeError`` for what is no number.

    >>> Phase(10, 0.5, [0.5, 2], 0.01).tau
    array([0.5, 2. ])
    """

    alpha: Numbers
    kappa: Numbers
    tau: Numbers
    rho: Numbers

    def __post_init__(self) -> None:
        checks = {
            "alpha": positive_ratio,
            "kappa": positive_or_infinite,
            "tau": positive_ratio,
            "rho": bounded,
        }
        for name, check in checks.items():
            object.__setattr__(self, name, checked(name, getattr(self, name), check))
        shapes = {name: np.shape(getattr(self, name)) for name in checks}
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            raise ValueError(
                f"alpha, kappa, tau and rho must broadcast; their shapes are {shapes}"
            ) from None

    @property
    def q(self) -> Numbers:
        r"""The noise of a context vector, :math:`q = (1+\rho)/\alpha`."""
        return (1 + self.rho) / self.alpha
