"""From many trials to a judgement.

Means with standard errors, slopes, and comparisons with three outcomes: *supported*,
*contradicted* or *undecided*. Every interval is Student's t for the degrees of freedom at hand, at
one level for the whole book: a Gaussian estimate lies outside of its interval with probability
``LEVEL``, however few trials it comes from.
"""

from iclutils.ground.statistics.comparisons import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    Comparison,
    equal,
    greater,
    less,
    ordered,
    within,
)
from iclutils.ground.statistics.estimates import (
    LEVEL,
    Estimate,
    Means,
    difference,
    estimate,
    jackknife,
    jackknife_se,
    mean_se,
    width,
)
from iclutils.ground.statistics.lines import Line, crossing, exponent, line

__all__ = [
    "CONTRADICTED",
    "LEVEL",
    "SUPPORTED",
    "UNDECIDED",
    "Comparison",
    "Estimate",
    "Line",
    "Means",
    "crossing",
    "difference",
    "equal",
    "estimate",
    "exponent",
    "greater",
    "jackknife",
    "jackknife_se",
    "less",
    "line",
    "mean_se",
    "ordered",
    "width",
    "within",
]
