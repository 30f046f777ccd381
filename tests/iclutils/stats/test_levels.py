"""How often an interval misses, simulated: the table on the ledger's page says what is found."""

import math
import re

import numpy as np
import pytest

from claimbook.files import ROOT
from iclutils.stats import difference
from iclutils.stats.estimate import LEVEL, Estimate, width

DRAWS = 2_000_000
ROW = re.compile(
    r"^\| (?P<interval>(?:mean|difference) of .+?) \| (?P<times>[\d.]+) \|$", re.MULTILINE
)
TABLE = {
    found["interval"]: float(found["times"])
    for found in ROW.finditer((ROOT / "book" / "ledger.md").read_text(encoding="utf8"))
}


def of_a_mean(interval, generator):
    """Count the share of means of skewed or normal trials whose interval misses the true mean."""
    trials = int(re.search(r"\d+", interval)[0])
    shape = (trials, DRAWS * 16 // trials // 4)
    if "log-normal" in interval:
        drawn, mean = np.exp(0.5 * generator.standard_normal(shape)), math.exp(0.125)
    elif "exponential" in interval:
        drawn, mean = generator.standard_exponential(shape), 1.0
    else:
        drawn, mean = generator.standard_normal(shape), 0.0
    error = drawn.std(0, ddof=1) / math.sqrt(trials)
    return np.mean(np.abs(drawn.mean(0) - mean) > width(trials - 1) * error)


def of_a_difference(interval, generator):
    """Count it for Welch's interval of two normal means, at the worst ratio of their errors."""
    first, second = map(int, re.findall(r"\d+", interval))
    errors = generator.chisquare(first, DRAWS) / first
    others_at_one = generator.chisquare(second, DRAWS) / second
    standard = generator.standard_normal(DRAWS)
    shares = []
    for ratio in (0.03, 0.1, 0.3, 1, 3, 10, 30):
        others = ratio * others_at_one
        apart = standard * math.sqrt(1 + ratio)
        dof = (errors + others) ** 2 / (errors**2 / first + others**2 / second)
        wide = np.interp(dof, GRID, WIDTHS) * np.sqrt(errors + others)
        shares.append(np.mean(np.abs(apart) > wide))
    return max(shares)


GRID = np.geomspace(1, 200, 2000)
WIDTHS = np.array([width(dof) for dof in GRID])


def test_the_rule_that_is_simulated_is_the_books():
    found = difference(Estimate(1.0, 0.2, 5), Estimate(0.0, 0.3, 19))
    dof = (0.04 + 0.09) ** 2 / (0.04**2 / 5 + 0.09**2 / 19)
    assert found.dof == pytest.approx(dof)
    assert found.half_width == pytest.approx(width(dof) * math.sqrt(0.13))


@pytest.mark.parametrize("interval", TABLE)
def test_an_interval_misses_as_often_as_the_page_says(interval):
    generator = np.random.default_rng(20261124)
    simulate = of_a_mean if interval.startswith("mean") else of_a_difference
    times = simulate(interval, generator) / LEVEL
    # a fifth for the digits shown and for chance: at least 50 misses are counted
    assert times == pytest.approx(TABLE[interval], rel=0.35 if TABLE[interval] < 3 else 0.2)


def test_the_table_is_read():
    assert len(TABLE) >= 9
