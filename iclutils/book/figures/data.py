"""A figure read back from its axes: the numbers that it shows, as a table."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iclutils.book.figures.artists import data_axes
from iclutils.book.figures.series import Point, Series, drawn

COLUMNS = (
    "panel", "title", "x_axis", "y_axis", "series", "kind", "x", "x_name", "x_low", "x_high",
    "y", "y_low", "y_high", "value", "colour",
)


def csv_text(figure: Figure) -> str:
    """Everything that ``figure`` shows as one tidy table.

    A row stands for each point, bar, band edge or cell of a map. Columns: the panel (from 1, in
    reading order), its title and axes; the series as its legend names it (a label that starts with
    ``_`` names a series here and not in the legend; a series without a label takes that of the one
    labelled series of its colour); the kind; ``x``, ``y``; ``x_low`` … ``y_high`` for bars, bands
    and spans (the caption says what they are); ``value`` for maps; the colour. A column that a
    figure does not use is left out.
    """
    found = list(rows(figure))
    used = [name for name in COLUMNS if any(row.get(name, "") != "" for row in found)]
    text = io.StringIO()
    writer = csv.DictWriter(
        text, used or list(COLUMNS), restval="", extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    for row in found:
        writer.writerow({column: number(value) for column, value in row.items()})
    return text.getvalue()


def number(value: Any) -> Any:
    """Eight significant digits; text as it is."""
    if isinstance(value, float | np.floating | np.integer):
        return f"{float(value):.8g}"
    return value


@dataclass(frozen=True)
class Named:
    """A labelled series: where it is, its colour and its name."""

    panel: int
    colour: str
    name: str


def rows(figure: Figure) -> Iterator[Point]:
    """The rows of :func:`csv_text`."""
    panels = data_axes(figure)
    shown = [list(drawn(axes)) for axes in panels]
    named = [
        Named(panel, one.colour, one.label)
        for panel, found in enumerate(shown) for one in found if one.label
    ]
    for panel, (axes, found) in enumerate(zip(panels, shown, strict=True)):
        head: Point = {
            "panel": panel + 1,
            "title": axes.get_title(),
            "x_axis": axis_label(axes, "x"),
            "y_axis": axis_label(axes, "y"),
        }
        for one in found:
            name = series_name(one, panel, named)
            for point in one.points:
                yield head | {"series": name, "kind": one.kind, "colour": one.colour} | point


def series_name(series: Series, panel: int, named: Sequence[Named]) -> str:
    """A series' own label, or that of the one labelled series of its colour."""
    name = series.label
    if not name and series.colour:
        name = namesake(series.colour, panel, named)
    return name.removeprefix("_")


def namesake(colour: str, panel: int, named: Sequence[Named]) -> str:
    """The label of the one labelled series of this colour, in the panel or else in the figure.

    Labels that stand in a legend come before those that do not.
    """
    same = [one for one in named if one.colour == colour]
    in_legend = [one for one in same if not one.name.startswith("_")]
    for some in (in_legend, same):
        in_panel = {one.name for one in some if one.panel == panel}
        anywhere = {one.name for one in some}
        for names in (in_panel, anywhere):
            if len(names) == 1:
                return names.pop()
    return ""


def axis_label(axes: Axes, which: str) -> str:
    """An axis' label, or the one that it shares with the panels beside or below it."""
    own = _label_of(axes, which)
    figure = axes.get_figure()
    if own or not isinstance(figure, Figure):
        return own
    over = figure.get_supxlabel() if which == "x" else figure.get_supylabel()
    line = _line_of(axes, which)
    if over or line is None:
        return over
    others = [one for one in data_axes(figure) if _label_of(one, which)]
    placed = [one for one in others if one.get_subplotspec() is not None]
    beside = [_label_of(one, which) for one in placed if _line_of(one, which) == line]
    if beside:
        return beside[0]
    anywhere = {_label_of(one, which) for one in placed}
    return anywhere.pop() if len(anywhere) == 1 else ""


def _label_of(axes: Axes, which: str) -> str:
    """The axis' own label."""
    return axes.get_xlabel() if which == "x" else axes.get_ylabel()


def _line_of(axes: Axes, which: str) -> range | None:
    """The columns (for x) or rows (for y) of the grid that the axes take up."""
    place = axes.get_subplotspec()
    if place is None:
        return None
    return place.colspan if which == "x" else place.rowspan
