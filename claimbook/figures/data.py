"""A figure read back from its axes: the numbers that it shows, as a table."""

from collections.abc import Iterator, Sequence
from itertools import chain

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from claimbook.figures.series import Point, Series, data_axes, drawn

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
    figure does not use is left out, and numbers have eight significant digits.
    """
    table = pandas.DataFrame(rows(figure), columns=COLUMNS)
    used = table.replace("", None).dropna(axis="columns", how="all")
    text: str = used.to_csv(index=False, float_format="%.8g", lineterminator="\n")
    return text


def rows(figure: Figure) -> Iterator[Point]:
    """The rows of :func:`csv_text`."""
    panels = data_axes(figure)
    shown = [list(drawn(axes)) for axes in panels]
    for number, (axes, panel) in enumerate(zip(panels, shown, strict=True), 1):
        head: Point = {
            "panel": number,
            "title": axes.get_title(),
            "x_axis": axis_label(axes, "x"),
            "y_axis": axis_label(axes, "y"),
        }
        for one in panel:
            name = series_name(one, [panel, list(chain(*shown))])
            for point in one.points:
                yield head | {"series": name, "kind": one.kind, "colour": one.colour} | point


def series_name(series: Series, places: Sequence[Sequence[Series]]) -> str:
    """A series' own label, or that of the one labelled series of its colour.

    That is looked for in the ``places`` one after another: its panel, then the figure. Labels that
    stand in a legend come before those that do not.
    """
    name = series.label
    if not name and series.colour:
        same = [{one.label for one in place if one.colour == series.colour} for place in places]
        in_legend = [{label for label in some if not label.startswith("_")} for some in same]
        for labels in (*in_legend, *same):
            if len(labels - {""}) == 1:
                [name] = labels - {""}
                break
    return name.removeprefix("_")


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
