"""The figures of two runs: whether they show the same, but for another machine's rounding.

A number may differ by ``ROUNDED``, or by a little of what its panel shows. Where a training is not
stable, the last bit of a sum decides which way it goes, and its mean is one of many draws: a point
with bars may differ by its bar, as a claim by its half-width, and the bar by the factor that it has
for a claim; a line in a band of its colour, and the band's edges, by ``WANDER`` of the band.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from iclutils.book.checker.rounding import ROUNDED
from iclutils.book.ledger.lines import HALF_WIDTH_FACTOR

AXES = ("x", "x_low", "x_high", "y", "y_low", "y_high", "value")
BARS = "points with bars"
DOT = " · "  # between the words of a series' name
PLACES = 5  # of a series, that a reference holds
EXTENT = 0.002  # of what a panel shows, for a point of a figure near zero
WRITTEN = 0.002  # of an end, in the length of a bar whose ends have four digits
WANDER = 0.1  # of a band; quartiles of 48 trials are known to a seventh of it (standard error)

Series = dict[str, Any]


def figure_differences(
    name: str, expected: Mapping[str, Series], found: Mapping[str, Series]
) -> Iterator[str]:
    """Where a figure shows other series, or other values of one."""
    if list(expected) != list(found):
        yield f"{name}: its series are {list(found)}, and were {list(expected)}"
        return
    for series, old in expected.items():
        new = found[series]
        if old["points"] != new["points"] or set(old) != set(new):
            yield f"{name}, {series}: {new} for {old}"
            continue
        for axis in set(old) - {"points"}:
            room = EXTENT * extent(found, panel_of(series), axis)
            rooms = [max(room, chance) for chance in chances(expected, series, axis[0])]
            words = zip(str(old[axis]).split(), str(new[axis]).split(), rooms, strict=True)
            if not all(near(*three) for three in words):
                yield f"{name}, {series}, {axis}\n  expected  {old[axis]}\n  found     {new[axis]}"
        if kind_of(series) == BARS and not all(as_wide(old, new, along) for along in "xy"):
            yield f"{name}, {series}: other bars\n  expected  {old}\n  found     {new}"


def chances(figure: Mapping[str, Series], series: str, along: str) -> list[float]:
    """How far chance may move each place of a series along an axis; 0 where nothing was drawn."""
    one = figure[series]
    share, spread = (0.5, one) if kind_of(series) == BARS else (WANDER, band_of(figure, series))
    widths = lengths(spread, along)
    return [share * width for width in widths] or [0.0] * min(one["points"], PLACES)


def band_of(figure: Mapping[str, Series], series: str) -> Series:
    """The band in which a line of its colour runs, itself for a band, or nothing."""
    one, (panel, *_, colour) = figure[series], series.split(DOT)
    for name, other in figure.items():
        same_place = panel_of(name) == panel and name.endswith(colour)
        if kind_of(name) == "band" and same_place and other["x"] == one.get("x"):
            return other if kind_of(series) in ("line", "band") else {}
    return {}


def lengths(series: Series, along: str) -> list[float]:
    """How long the bars of points are, or how wide a band is, along an axis; empty without any."""
    low, high = (str(series.get(f"{along}_{end}", "")).split() for end in ("low", "high"))
    return [length(*ends) for ends in zip(map(as_number, low), map(as_number, high), strict=True)]


def length(low: float | None, high: float | None) -> float:
    """The length of a bar; 0 where there is none, or no end to it."""
    long = math.nan if low is None or high is None else high - low
    return long if math.isfinite(long) else 0.0


def as_wide(old: Series, new: Series, along: str) -> bool:
    """Whether bars are as long as they were: to within a claim's factor, or as they are written."""
    ends = [abs(as_number(word) or 0.0) for word in str(old.get(f"{along}_high", "")).split()]
    pairs = zip(lengths(old, along), lengths(new, along), ends, strict=True)
    return all(
        max(one, other) <= HALF_WIDTH_FACTOR * min(one, other) + WRITTEN * end
        for one, other, end in pairs
    )


def panel_of(series: str) -> str:
    """The panel's number in the name of a series."""
    return series.partition(DOT)[0]


def kind_of(series: str) -> str:
    """The kind in the name of a series, which stands before its colour, where it has one."""
    words = series.split(DOT)
    return words[-2] if words[-1].startswith("#") else words[-1]


def extent(found: Mapping[str, Series], panel: str, axis: str) -> float:
    """How much of an axis the series of a panel take up."""
    beside = [one for name, one in found.items() if panel_of(name) == panel]
    texts = [str(one[axis]) for one in beside if axis in one]
    values = [as_number(word) for text in texts for word in text.split()]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return max(finite, default=0.0) - min(finite, default=0.0)


def near(expected: str, found: str, room: float) -> bool:
    """Whether two entries of a figure are the same but for rounding, or within ``room``."""
    old, new = as_number(expected), as_number(found)
    if old is None or new is None or not math.isfinite(old):
        return expected == found
    return abs(old - new) <= max(ROUNDED * abs(old), room)


def as_number(word: str) -> float | None:
    """A word as a number, or None."""
    try:
        return float(word)
    except ValueError:
        return None
