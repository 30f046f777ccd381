"""The figures of a page: their series, and how far they moved between two runs.

A reference holds each series of a figure at five places. A number may differ by ``ROUNDED``, or by
a little of what its panel shows. Where a training is not stable, the last bit of a sum decides
which way it goes, and its mean is one of many draws: a point with bars may differ by its bar, as a
claim by its half-width, and the bar by the factor that it has for a claim of 64 trials; a line in a
band of its colour, and the band's edges, by ``WANDER`` of the band.

Panels neither axis of which has a name are drawings, not results; they are not held.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from claimbook.check.agreement import USUAL_DOF, half_width_factor
from claimbook.check.rounding import ROUNDED

AXES = ("x", "x_low", "x_high", "y", "y_low", "y_high", "value")
WORDS = ("title", "series", "kind", "colour")  # that tell a series from others of its panel
BARS = "points with bars"
BAR = "bar"  # among the axes of such a series: how long they are
PLACES = 5  # of a series, that a reference holds
EXTENT = 0.002  # of what a panel shows, for a point of a figure near zero
WRITTEN = 0.002  # of an end, in the length of a bar whose ends have four digits
WANDER = 0.1  # of a band; quartiles of 48 trials are known to a seventh of it (standard error)

Entry = float | None


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One series of a figure: where it is, how many points it has, each axis at five places."""

    panel: int
    title: str = ""
    series: str = ""
    kind: str = ""
    colour: str = ""
    points: int
    x: list[Entry] | None = None
    x_low: list[Entry] | None = None
    x_high: list[Entry] | None = None
    y: list[Entry] | None = None
    y_low: list[Entry] | None = None
    y_high: list[Entry] | None = None
    value: list[Entry] | None = None

    @property
    def name(self) -> str:
        """The words that tell it from the other series of its figure."""
        words = (self.title, self.series, self.kind, self.colour)
        return " · ".join([str(self.panel), *filter(None, words)])

    @property
    def at(self) -> dict[str, Any]:
        """The axes that it has, each an array of five places: NaN where nothing is shown."""
        shown = {axis: getattr(self, axis) for axis in AXES}
        return {axis: np.array(one, float) for axis, one in shown.items() if one is not None}


# ------------------------------------------------------------------ from a run


def series_of(text: str) -> list[Series]:
    """Read the series of a figure's table, but for those of drawings."""
    grouped: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row.get("x_axis") or row.get("y_axis"):
            key = (row["panel"], *(row.get(name, "") for name in WORDS))
            grouped.setdefault(key, []).append(row)
    found = []
    for key, rows in grouped.items():
        picked = [rows[place] for place in places(len(rows))]
        entries = {axis: [entry(row.get(axis, "")) for row in picked] for axis in AXES}
        at = {axis: shown for axis, shown in entries.items() if set(shown) != {None}}
        named: dict[str, Any] = {**dict(zip(WORDS, key[1:], strict=True)), **at}
        found.append(Series(panel=int(key[0]), points=len(rows), **named))
    return found


def places(count: int) -> list[int]:
    """Choose five places of a series, its ends among them; all of a shorter one."""
    if count <= PLACES:
        return list(range(count))
    return [round(step * (count - 1) / (PLACES - 1)) for step in range(PLACES)]


def entry(text: str) -> Entry:
    """Round a number of a figure to four digits; None where nothing is shown."""
    return float(f"{float(text):.4g}") if text else None


# ------------------------------------------------------------------ compared


def compare(
    expected: Sequence[Series], found: Sequence[Series]
) -> Iterator[tuple[str, float, str]]:
    """Go through the series of a figure: place, how far it moved of how far it may, the values."""
    before, now = ([one.name for one in some] for some in (expected, found))
    if before != now:
        yield "", float("inf"), f"its series are {now}, and were {before}"
        return
    for old, new in zip(expected, found, strict=True):
        values = f"\n  expected  {old}\n  found     {new}"
        if old.points != new.points or set(old.at) != set(new.at):
            yield old.name, float("inf"), f"other points{values}"
            continue
        for axis, apart in distances(expected, old, new).items():
            if axis != BAR:
                values = f"\n  expected  {getattr(old, axis)}\n  found     {getattr(new, axis)}"
            yield f"{old.name}, {axis}", apart, values


def distances(figure: Sequence[Series], old: Series, new: Series) -> dict[str, float]:
    """Measure how far a series moved along each axis, and its bars, of how far they may."""
    found = {}
    for axis in old.at:
        shown = EXTENT * extent(figure, old.panel, axis)
        chance = chances(figure, old, axis[0])
        if old.kind == BARS:  # within both
            chance = np.minimum(chance, chances(figure, new, axis[0]))
        room = np.maximum(shown, chance)
        found[axis] = distance(old.at[axis], new.at[axis], room)
    if old.kind == BARS:
        found[BAR] = max(bar_distance(old, new, along) for along in "xy")
    return found


def chances(figure: Sequence[Series], one: Series, along: str) -> Any:
    """Tell how far chance may move each place of a series along an axis; 0 for no sample."""
    share, spread = (0.5, one) if one.kind == BARS else (WANDER, band_of(figure, one))
    widths = np.empty(0) if spread is None else lengths(spread, along)
    return share * widths if widths.size else np.zeros(min(one.points, PLACES))


def band_of(figure: Sequence[Series], one: Series) -> Series | None:
    """Find the band in which a line of its colour runs; a band is its own."""
    for other in figure:
        same_place = (other.panel, other.colour, other.x) == (one.panel, one.colour, one.x)
        if other.kind == "band" and same_place:
            return other if one.kind in ("line", "band") else None
    return None


def lengths(series: Series, along: str) -> Any:
    """Measure the bars of points, or the width of a band, along an axis; empty without any.

    A bar that is not there, or has no end, has the length 0.
    """
    low, high = (series.at.get(f"{along}_{end}", np.empty(0)) for end in ("low", "high"))
    return np.nan_to_num(high - low, posinf=0.0, neginf=0.0)


def bar_distance(old: Series, new: Series, along: str) -> float:
    """Measure how far bars changed in length, in units of how far a half-width may."""
    one, other = lengths(old, along), lengths(new, along)
    written = WRITTEN * np.nan_to_num(abs(old.at.get(f"{along}_high", np.empty(0))))
    low, high = np.minimum(one, other), np.maximum(one, other)
    grown = np.maximum(0.0, high - low - written)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(grown > 0, 1 + grown / low, 1.0)
    return float(np.log(factors).max(initial=0.0) / np.log(half_width_factor(USUAL_DOF)))


def extent(found: Sequence[Series], panel: int, axis: str) -> float:
    """Measure how much of an axis the series of a panel take up."""
    shown = [one.at[axis] for one in found if one.panel == panel and axis in one.at]
    finite = [value for entries in shown for value in entries if np.isfinite(value)]
    return max(finite, default=0.0) - min(finite, default=0.0)


def distance(expected: Any, found: Any, room: Any) -> float:
    """Measure how far the entries of a series moved, in units of ``room`` or of rounding."""
    same = (expected == found) | (np.isnan(expected) & np.isnan(found))
    allowed = np.maximum(ROUNDED * abs(expected), room)
    with np.errstate(invalid="ignore", divide="ignore"):  # ∞ − ∞
        apart = np.where(same, 0.0, abs(expected - found) / allowed)
    return float(np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max(initial=0.0))
