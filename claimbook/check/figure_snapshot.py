"""The figures of a page: their series, and how far they moved between two runs.

What has no scatter (no bars, no band) is held at five places: a number may differ by ``ROUNDED``,
or by ``EXTENT`` of what its panel shows. Where a training is chaotic, the last bit of a sum decides
which way each trial goes; only the distribution of its ends is a property of the model. So it is
drawn with its scatter, and may move as a number with ± may:

- a point with bars by its bar, and the bar by the factor that a claim of 64 trials has;
- a band, and the line that runs in it, by half of the band. They are held by name, count and
  quantiles: a training that arrives a little earlier or later has the same quantiles.

Panels neither axis of which has a name are drawings, not results; they are not held.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from claimbook.check.agreement import USUAL_DOF, half_width_factor
from claimbook.check.rounding import ROUNDED

AXES = ("x", "x_low", "x_high", "y", "y_low", "y_high", "value")
BAND, LINE, BARS = "band", "line", "points with bars"
BAR = "bar"  # among the axes of a series with bars: how long they are
PLACES = 5  # of a series, or of its values in order, that a reference holds
EXTENT = 0.002  # of what a panel shows, for a point of a figure near zero
WRITTEN = 0.002  # of an end, in the length of a bar whose ends have four digits

Entry = float | None
Columns = Mapping[str, Any]  # each axis of a series as an array: NaN where nothing is shown


class Key(NamedTuple):
    """What tells a series from the others of its figure."""

    panel: str
    title: str
    series: str
    kind: str
    colour: str

    @property
    def owner(self) -> tuple[str, ...]:
        """What a line and its band share."""
        return self.panel, self.title, self.series.strip("_"), self.colour

    def __str__(self) -> str:
        return " · ".join(filter(None, self))


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One series of a figure: where it is, how many points it has, each axis at five places.

    Of a ``sampled`` one, a band or the line in it, all but x are quantiles.
    """

    panel: int
    title: str = ""
    series: str = ""
    kind: str = ""
    colour: str = ""
    points: int
    sampled: bool | None = None
    x: list[Entry] | None = None
    x_low: list[Entry] | None = None
    x_high: list[Entry] | None = None
    y: list[Entry] | None = None
    y_low: list[Entry] | None = None
    y_high: list[Entry] | None = None
    value: list[Entry] | None = None

    @property
    def key(self) -> Key:
        """What tells it from the other series of its figure."""
        return Key(str(self.panel), self.title, self.series, self.kind, self.colour)

    @property
    def at(self) -> Columns:
        """The axes that it has, each an array of five places."""
        shown = {axis: getattr(self, axis) for axis in AXES}
        return {axis: np.array(one, float) for axis, one in shown.items() if one is not None}


# ------------------------------------------------------------------ from a run


def series_of(text: str) -> list[Series]:
    """Read the series of a figure's table, but for those of drawings."""
    grouped: dict[Key, list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row.get("x_axis") or row.get("y_axis"):
            key = Key(*(row.get(name, "") for name in Key._fields))
            grouped.setdefault(key, []).append(row)
    columns = {key: columns_of(rows) for key, rows in grouped.items()}
    sampled = scattered(columns)
    found = []
    for key, at in columns.items():
        quantiles = True if key in sampled else None
        entries = {axis: held(one, quantiles and axis != "x") for axis, one in at.items()}
        words: dict[str, Any] = {**key._asdict(), **entries, "panel": int(key.panel)}
        found.append(Series(points=len(grouped[key]), sampled=quantiles, **words))
    return found


def columns_of(rows: Sequence[Mapping[str, str]]) -> Columns:
    """Read the axes of a series that show anything."""
    columns = {axis: [float(row.get(axis) or "nan") for row in rows] for axis in AXES}
    return {axis: np.array(one) for axis, one in columns.items() if not np.isnan(one).all()}


def scattered(columns: Mapping[Key, Columns]) -> set[Key]:
    """Find the bands in which the line of their name runs, and these lines; others are areas."""
    found = set()
    for band, area in columns.items():
        for line in columns:
            kinds = (band.kind, line.kind) == (BAND, LINE)
            if kinds and band.owner == line.owner and runs_within(columns[line], area):
                found |= {band, line}
    return found


def runs_within(line: Columns, band: Columns) -> bool:
    """Tell whether a line has a band's places, and lies between its edges."""
    if not np.array_equal(line.get("x", ()), band.get("x", ())):
        return False
    low, high = line["y"] - band["y_low"], band["y_high"] - line["y"]
    return bool((np.minimum(low, high) >= 0).all() and low.any() and high.any())


def held(shown: Any, quantiles: bool | None) -> list[Entry]:
    """Choose five entries of an axis, its ends among them, or as many of its values in order."""
    places = np.linspace(0, len(shown) - 1, min(len(shown), PLACES)).round().astype(int)
    chosen = (np.sort(shown) if quantiles else shown)[places]
    return [None if np.isnan(one) else float(f"{one:.4g}") for one in chosen]


# ------------------------------------------------------------------ compared


def compare(
    expected: Sequence[Series], found: Sequence[Series]
) -> Iterator[tuple[str, float, str]]:
    """Go through the series of a figure: place, how far it moved of how far it may, the values."""
    before, now = ([str(one.key) for one in some] for some in (expected, found))
    if before != now:
        yield "", float("inf"), f"its series are {now}, and were {before}"
        return
    for old, new in zip(expected, found, strict=True):
        values = f"\n  expected  {old}\n  found     {new}"
        shown = [(one.points, one.sampled, set(one.at)) for one in (old, new)]
        if shown[0] != shown[1]:
            yield str(old.key), float("inf"), f"other points{values}"
            continue
        for axis in old.at:
            chance = np.minimum(chances(expected, old, axis), chances(found, new, axis))
            room = np.maximum(EXTENT * extent(expected, old.panel, axis), chance)
            values = f"\n  expected  {getattr(old, axis)}\n  found     {getattr(new, axis)}"
            yield f"{old.key}, {axis}", distance(old.at[axis], new.at[axis], room), values
        if old.kind == BARS:
            apart = max(bar_distance(old, new, along) for along in "xy")
            yield f"{old.key}, {BAR}", apart, f"\n  expected  {old}\n  found     {new}"


def chances(figure: Sequence[Series], one: Series, axis: str) -> Any:
    """Tell how far chance may move a series along an axis: by half of its bars, or of its band."""
    if one.sampled:
        owner = one.key.owner
        one = next(band for band in figure if (band.kind, band.key.owner) == (BAND, owner))
    return lengths(one, axis[0]) / 2 if one.sampled or one.kind == BARS else 0.0


def lengths(series: Series, along: str) -> Any:
    """Measure the bars of points, or the width of a band, along an axis; 0 without any.

    A bar that is not there, or has no end, has the length 0.
    """
    low, high = (series.at.get(f"{along}_{end}", np.zeros(1)) for end in ("low", "high"))
    return np.nan_to_num(high - low, posinf=0.0, neginf=0.0)


def bar_distance(old: Series, new: Series, along: str) -> float:
    """Measure how far bars changed in length, in units of how far a half-width may."""
    one, other = lengths(old, along), lengths(new, along)
    written = WRITTEN * np.nan_to_num(abs(old.at.get(f"{along}_high", np.zeros(1))))
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
