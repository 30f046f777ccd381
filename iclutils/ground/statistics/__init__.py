"""From many trials to a judgement.

Means with standard errors, what is made of them, slopes, and comparisons with three outcomes:
*supported*, *contradicted* or *undecided*. Every interval is Student's t for the degrees of freedom
at hand, at one level for the whole book: a Gaussian estimate lies outside of its interval with
probability ``LEVEL``, however few trials it comes from.
"""

from iclutils.ground.statistics.combinations import (
    difference,
    log_ratio,
    lowest,
    mean_difference,
    root_mean_square,
    slope,
    steps,
    weighted,
)
from iclutils.ground.statistics.comparisons import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    Comparison,
    equal,
    greater,
    less,
    within,
)
from iclutils.ground.statistics.estimates import (
    LEVEL,
    Estimate,
    Means,
    estimate,
    exact,
    geometric_bars,
    mean_se,
    share,
    width,
)
from iclutils.ground.statistics.lines import Line, crossing, exponent, line, parabola_top
from iclutils.ground.statistics.resampling import (
    crossed,
    jackknife,
    jackknife_se,
    of_means,
    share_of_fall,
    summit,
)

__all__ = [
    "CONTRADICTED",
    "LEVEL",
    "SUPPORTED",
    "UNDECIDED",
    "Comparison",
    "Estimate",
    "Line",
    "Means",
    "crossed",
    "crossing",
    "difference",
    "equal",
    "estimate",
    "exact",
    "exponent",
    "geometric_bars",
    "greater",
    "jackknife",
    "jackknife_se",
    "less",
    "line",
    "log_ratio",
    "lowest",
    "mean_difference",
    "mean_se",
    "of_means",
    "parabola_top",
    "root_mean_square",
    "share",
    "share_of_fall",
    "slope",
    "steps",
    "summit",
    "weighted",
    "width",
    "within",
]
