"""The tightest part of a row: the comparison that is nearest to its limit.

A part that was sampled is as near to its limit as its gap is in half-widths, a computed one as its
gap is in units of the margin, or of the larger of value and bound. The two cannot be compared, and
noise is what may turn a verdict: where some parts were sampled, the tightest is one of these.
"""

import math
from collections.abc import Mapping

from claimbook.ledger.comparison import Comparison
from claimbook.ledger.lines import is_exact


def tightest(parts: Mapping[str, Comparison]) -> str | None:
    """The name of the tightest part; None where there are not two to choose from.

    >>> from claimbook.ledger.comparison import Measured, greater
    >>> near = greater(Measured(0.5, 0.3))
    >>> tightest({"far": greater(Measured(5.0, 0.3)), "near": near, "exact": greater(0.1)})
    'near'
    """
    if len(parts) < 2:
        return None
    sampled = [name for name, part in parts.items() if not _computed(part)]
    return min(sampled or parts, key=lambda name: room(parts[name]))


def room(part: Comparison) -> float:
    """How far a part is from its limit: in half-widths, or relative where it was computed.

    >>> from claimbook.ledger.comparison import equal, greater
    >>> room(equal(2.015, 2.0, tol=0.02)), room(greater(4.0, 1.0))
    (0.25, 0.75)
    """
    gap = abs(abs(part.value - part.bound) - part.margin)  # to the nearer of its limits
    if _computed(part):
        scale = part.margin or max(abs(part.value), abs(part.bound))
        return round(gap / scale, 9) if scale and math.isfinite(gap) else gap
    return gap / part.half_width


def _computed(part: Comparison) -> bool:
    return is_exact(part.value, part.half_width)
