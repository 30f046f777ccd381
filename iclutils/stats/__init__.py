"""From many trials to an estimate.

Means with standard errors, what is made of them, and slopes. Every interval is Student's t for the
degrees of freedom at hand, at one level for the whole book: the true mean of Gaussian trials lies
outside of it with probability ``LEVEL``, however few they are. For a difference with few, unequal
degrees of freedom and for skewed trials that happens more often: how often, the ledger's page says.
"""

from iclutils.stats.combinations import (
    correlation,
    difference,
    intercept,
    log_ratio,
    lowest,
    mean_difference,
    relative_root_mean_square,
    root_mean_square,
    slope,
    steps,
    weighted,
)
from iclutils.stats.estimate import LEVEL, Estimate, exact, from_spread, width
from iclutils.stats.fits import Line, crossing, exponent, line, parabola_top
from iclutils.stats.means import Means, estimate, geometric_bars, mean_se, share
from iclutils.stats.resampling import (
    crossed,
    crossed_mean,
    jackknife,
    jackknife_se,
    of_means,
    proportion,
    ratio,
    share_of_fall,
    summit,
    typical_deviation,
    unexplained,
)

__all__ = [
    "LEVEL",
    "Estimate",
    "Line",
    "Means",
    "correlation",
    "crossed",
    "crossed_mean",
    "crossing",
    "difference",
    "estimate",
    "exact",
    "exponent",
    "from_spread",
    "geometric_bars",
    "intercept",
    "jackknife",
    "jackknife_se",
    "line",
    "log_ratio",
    "lowest",
    "mean_difference",
    "mean_se",
    "of_means",
    "parabola_top",
    "proportion",
    "ratio",
    "relative_root_mean_square",
    "root_mean_square",
    "share",
    "share_of_fall",
    "slope",
    "steps",
    "summit",
    "typical_deviation",
    "unexplained",
    "weighted",
    "width",
]
