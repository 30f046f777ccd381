r"""The times that the talk prints, with constants of one, and the length that a prompt needs.

.. math:: \bar T_1(\varepsilon) = \frac{\log\varepsilon^{-1/2}}{\varepsilon},\qquad
          \bar T_k(K,\varepsilon) = K^2\log K + \frac K\varepsilon\log\big(K\varepsilon^{-1/2}\big)

(Huang et al., slide "Prediction Error Converges (Informal)", times the step η). A prompt of N
tokens lacks a rare feature with probability :math:`(1-p_k)^N` and then costs one half at least, so
that an error of ε takes about :math:`N_\varepsilon = \log(1/2\varepsilon)/{-\log(1-p_k)}` tokens.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from iclutils import validation
from iclutils.stats import exponent

Numbers = float | int | Sequence[float | int] | Float[np.ndarray, " points"]


def dominant_bound(error: Numbers) -> Float[np.ndarray, "*points"]:
    """Return the printed bound on the dominant feature's time, for errors between 0 and 1.

    >>> round(float(dominant_bound(0.01)), 2)
    230.26
    """
    e = _errors(error)
    return np.asarray(np.log(e**-0.5) / e)


def rare_bound(
    K: Numbers, error: Numbers, *, power: float = 2.0, second: float = 1.0
) -> Float[np.ndarray, "*points"]:
    """Return the printed bound on a rare feature's time, for K features and errors between 0 and 1.

    ``power`` is that of K in the first term and ``second`` the factor of the second term: others
    than the printed ones make a bound that is false.

    >>> round(float(rare_bound(20, 0.1)))
    2028
    """
    features = np.asarray(K, dtype=float)
    if not bool(((features >= 2) & (features == np.floor(features))).all()):
        raise ValueError(f"K must be at least 2 and whole; got {K}")
    e = _errors(error)
    wait = features**power * np.log(features)
    polish = second * features / e * np.log(features * e**-0.5)
    return np.asarray(wait + polish)


def growth(points: Numbers, times: Numbers, bounds: Numbers) -> float:
    """Fit the exponent in ``points`` of times over bounds on them: 0 where both grow alike.

    Raises ``ValueError`` as :func:`iclutils.stats.exponent`.

    >>> round(growth([10, 100, 1000], [20.0, 2e3, 2e5], [5.0, 50.0, 500.0]), 6)
    1.0
    """
    ratios = np.asarray(times, dtype=float) / np.asarray(bounds)
    return exponent(np.asarray(points).tolist(), ratios.tolist()).slope


def reach(K: int, p1: float, error: float) -> float:
    r"""Compute the least length :math:`N_\varepsilon` of a prompt for a rare error of ε < 1/2.

    >>> round(reach(20, 0.5, 0.1), 1)
    60.4
    """
    validation.in_range("error", error, 0, 0.5, open_low=True)
    validation.whole("K", K, low=2)
    validation.in_range("p1", p1, 0, 1, open_low=True)
    return math.log(1 / (2 * error)) / -math.log1p(-(1 - p1) / (K - 1))


def _errors(error: Numbers) -> Float[np.ndarray, "*points"]:
    e = np.asarray(error, dtype=float)
    if not bool(((e > 0) & (e < 1)).all()):
        raise ValueError(f"error must be between 0 and 1; got {error}")
    return e
