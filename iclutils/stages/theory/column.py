r"""One column of the key-query matrix in the mean field: its attention, error and velocity.

The formulas are those of :mod:`iclutils.stages.theory.meanfield`. Features of equal probability
keep equal entries, so a column has at most three distinct ones: its target's A, the dominant
feature's :math:`B_1` and each other's B.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from iclutils.ground import validation

KINDS = ("rare", "dominant", "balanced")
TARGET, DOMINANT, OTHER = 0, 1, 2
# of log t and the entries: zero when something is passed
Event = Callable[[float, Float[np.ndarray, "3"]], float]


@dataclass(frozen=True)
class Column:
    r"""One column of Q by its target's probability, and log p and number of each of three features.

    The three are the target, the dominant feature and each of the others.
    """

    p_target: float
    log_p: Float[np.ndarray, "3"]
    size: Float[np.ndarray, "3"]  # how many features share the entry

    @classmethod
    def of(cls, kind: str, K: int, p1: float) -> "Column":
        """The column of a ``"rare"`` or ``"dominant"`` feature, or the ``"balanced"`` one.

        Raises ``KeyError`` for another kind, ``ValueError`` for K below 3 or p1 outside (0, 1).
        """
        validation.one_of("kind", kind, KINDS)
        validation.whole("K", K, low=3)
        validation.in_range("p1", p1, 0.0, 1.0, open_low=True, open_high=True)
        rare = (1 - p1) / (K - 1)
        if kind == "rare":
            return cls(rare, np.log([rare, p1, rare]), np.array([1.0, 1.0, K - 2.0]))
        target = p1 if kind == "dominant" else 1 / K
        other = rare if kind == "dominant" else 1 / K
        return cls(target, np.log([target, other, other]), np.array([1.0, 0.0, K - 1.0]))

    def attention(
        self, entries: Float[np.ndarray, "3 *times"]
    ) -> tuple[Float[np.ndarray, "3 *times"], Float[np.ndarray, "*times"] | np.float64]:
        """Attention per feature, and r = 1 − Attn_k, summed from the small masses."""
        shape = (3, *(1,) * (entries.ndim - 1))
        size = self.size.reshape(shape)
        logits = self.log_p.reshape(shape) + entries
        weight = np.exp(logits - logits.max(0))
        attention = weight / (size * weight).sum(0)
        return attention, (size * attention)[1:].sum(0)

    def error(
        self, entries: Float[np.ndarray, "3 *times"]
    ) -> Float[np.ndarray, "*times"] | np.float64:
        """The prediction error at the entries."""
        attention, r = self.attention(entries)
        size = self.size.reshape(3, *(1,) * (entries.ndim - 1))
        error: Float[np.ndarray, "*times"] = 0.5 * (r**2 + (size * attention**2)[1:].sum(0))
        return error

    def velocity(self, entries: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """The flow's right-hand side."""
        attention, r = self.attention(entries)
        error = 0.5 * (r**2 + (self.size * attention**2)[1:].sum())
        velocity = np.asarray(-self.p_target * attention * (attention + r - 2 * error))
        velocity[TARGET] = 2 * self.p_target * attention[TARGET] * error
        return velocity

    def reached(self, level: float) -> Event:
        """Zero when the error is ``level``."""
        return lambda s, entries: math.log(float(self.error(entries)) / level)

    def lead(self, s: float, entries: Float[np.ndarray, "3"]) -> float:
        """Zero when the target's entry rises as fast as the dominant one falls."""
        v = self.velocity(entries)
        return math.log(v[TARGET] / -v[DOMINANT])

    def overtake(self, s: float, entries: Float[np.ndarray, "3"]) -> float:
        """Zero when target and dominant feature have the same attention."""
        target = self.log_p[TARGET] + entries[TARGET]
        return float(target - self.log_p[DOMINANT] - entries[DOMINANT])

    def half(self, s: float, entries: Float[np.ndarray, "3"]) -> float:
        """Zero when the target has half of the attention."""
        return float(self.attention(entries)[0][TARGET]) - 0.5
