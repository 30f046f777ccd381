"""The figures of a page: their series, each axis at five places, and how far these may move.

What has no scatter (no bars, no band) is held at five places: a number may differ by ``ROUNDED``,
or by ``EXTENT`` of what its panel shows. Where a training is chaotic, the last bit of a sum decides
which way each trial goes; only the distribution of its ends is a property of the model. So it is
drawn with its scatter, and may move as a number with ± may:

- a point with bars, and the ends of these, by half of their length;
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
from msgspec.structs import replace

from claimbook.check.agreement import ROUNDED, number_distance

AXES = ("x", "x_low", "x_high", "y", "y_low", "y_high", "value")
WORDS = ("panel", "title", "series", "kind", "colour")  # that tell a series from the others
BAND, LINE, BARS = "band", "line", "points with bars"
PLACES = 5  # of a series, or of its values in order, that a reference holds
EXTENT = 0.002  # of what a panel shows, for a point of a figure near zero

Axis = list[float | None] | None


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
    x: Axis = None
    x_low: Axis = None
    x_high: Axis = None
    y: Axis = None
    y_low: Axis = None
    y_high: Axis = None
    value: Axis = None

    @property
    def name(self) -> str:
        """The words that tell it from the others of its figure, and what it is a sample of."""
        words = [str(self.panel), self.title, self.series, self.kind, self.colour]
        return " · ".join([*filter(None, words), f"{self.points} points"])

    @property
    def owner(self) -> tuple[int, str, str, str]:
        """What a line and its band share."""
        return self.panel, self.title, self.series.strip("_"), self.colour

    @property
    def at(self) -> dict[str, Any]:
        """The axes that it has, each an array: NaN where nothing is shown."""
        shown = {axis: getattr(self, axis) for axis in AXES}
        return {axis: np.array(one, float) for axis, one in shown.items() if one is not None}


def series_of(text: str) -> list[Series]:
    """Read the series of a figure's table, but for those of drawings."""
    rows_of: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row.get("x_axis") or row.get("y_axis"):
            rows_of.setdefault(tuple(row.get(word, "") for word in WORDS), []).append(row)
    whole = []
    for (panel, *words), rows in rows_of.items():
        fields: dict[str, Any] = dict(zip(WORDS[1:], words, strict=True))
        for axis in AXES:
            values = [float(row[axis]) if row.get(axis) else None for row in rows]
            fields[axis] = values if set(values) != {None} else None
        whole.append(Series(panel=int(panel), points=len(rows), **fields))
    bands = [one for one in whole if one.kind == BAND]
    pairs = [(band, line) for band in bands for line in whole if runs_within(line, band)]
    sampled = [one for pair in pairs for one in pair]
    return [condense(one, one in sampled) for one in whole]


def runs_within(line: Series, band: Series) -> bool:
    """Tell whether a line has a band's name and places, and lies between its edges.

    A band without one, or with a line at its edge, is an area.
    """
    if line.kind != LINE or line.owner != band.owner or line.x != band.x:
        return False
    low, high = line.at["y"] - band.at["y_low"], band.at["y_high"] - line.at["y"]
    return bool((np.minimum(low, high) >= 0).all() and low.any() and high.any())


def condense(whole: Series, sampled: bool) -> Series:
    """Choose five places of each axis, its ends among them, or as many quantiles."""
    places = np.linspace(0, whole.points - 1, min(whole.points, PLACES)).round().astype(int)
    axes: dict[str, Any] = {}
    for axis, shown in whole.at.items():
        chosen = (np.sort(shown) if sampled and axis != "x" else shown)[places]
        axes[axis] = [None if np.isnan(one) else float(f"{one:.4g}") for one in chosen]
    return replace(whole, sampled=sampled or None, **axes)


class Entries(NamedTuple):
    """What a figure holds of one axis of a series, and how far each entry may move."""

    values: Any
    room: Any

    def distance(self, actual: "Entries") -> float:
        """Measure how far the entries moved, in units of how far they may."""
        return number_distance(self.values, actual.values, np.minimum(self.room, actual.room))

    def __str__(self) -> str:
        return str(self.values.tolist())


def entries_of(figure: Sequence[Series]) -> Iterator[tuple[str, Entries]]:
    """Go through the axes of a figure's series: where each is, and what is compared of it.

    An entry may move as rounding moves it, or by half of its bar or band.
    """
    bands = {one.owner: one for one in figure if one.kind == BAND and one.sampled}
    for one in figure:
        ends = bands[one.owner].at if one.sampled else one.at if one.kind == BARS else {}
        for axis, values in one.at.items():
            on_panel = [other.at.get(axis, []) for other in figure if other.panel == one.panel]
            rounding = np.maximum(ROUNDED * abs(values), EXTENT * extent(np.concatenate(on_panel)))
            low, high = (ends.get(f"{axis[0]}_{end}", np.zeros(1)) for end in ("low", "high"))
            spread = np.nan_to_num(high - low, posinf=0.0, neginf=0.0)  # no end: no length
            yield f"{one.name}, {axis}", Entries(values, np.fmax(rounding, spread / 2))


def extent(values: Any) -> float:
    """Measure how much of an axis some values take up."""
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if finite.size else 0.0
