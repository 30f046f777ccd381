"""A figure of several rows, laid out once more for a screen that is wider than a phone.

The panels are the same, and a chapter neither computes nor draws anything twice: they change
places. What stands under one another on a phone stands side by side where there is room.
"""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from claimbook.figures.data import axis_label

WIDEST = 8.4  # inches
IN_A_ROW = 4  # panels that stand side by side; of more, rows become columns


def lay_wide(figure: Figure) -> bool:
    """Lay a figure of several rows out for a wide screen; False where there is nothing to do.

    Up to four panels stand in one row; of more, what was a row becomes a column. Panels keep their
    height, and their width unless that makes more than 8.4 inches in all. A drawing without axes
    stays as it is. The figure is left in its new layout: draw it for the phone before.
    """
    placed = [(axes, axes.get_subplotspec()) for axes in figure.axes]
    panels = [axes for axes, place in placed if place is not None]
    grids = {place.get_gridspec() for _, place in placed if place is not None}
    if len(grids) != 1 or any(is_drawing(axes) for axes in panels):
        return False
    grid = grids.pop()
    turned = len(panels) > IN_A_ROW
    if grid.nrows == 1 or (turned and grid.nrows <= grid.ncols):
        return False
    x_over, y_over = figure.get_supxlabel(), figure.get_supylabel()
    labels = [
        ("" if x_over else axis_label(axes, "x"), "" if y_over else axis_label(axes, "y"))
        for axes in panels
    ]
    rows, columns = (grid.ncols, grid.nrows) if turned else (1, len(panels))
    width, height = figure.get_size_inches()
    width *= columns / grid.ncols
    figure.set_size_inches(min(WIDEST, width), height / grid.nrows * rows)
    places = GridSpec(rows, columns, figure=figure)
    for i, axes in enumerate(panels):
        row, column = divmod(i, grid.ncols)
        axes.set_subplotspec(places[column, row] if turned else places[0, i])
    for axes, (x_label, y_label) in zip(panels, labels, strict=True):
        others = [one for one in panels if one is not axes]
        name_axes(axes, x_label, y_label, others)
    return True


def is_drawing(axes: Axes) -> bool:
    """Whether something is drawn without axes: a schematic, whose parts keep their places."""
    return not axes.axison and bool(axes.lines or axes.patches or axes.texts)


def name_axes(axes: Axes, x_label: str, y_label: str, others: Sequence[Axes]) -> None:
    """Write names and numbers at the axes, but for those that the panel beside or below shows."""
    place: Any = axes.get_subplotspec()
    below = [one for one in others if is_at(one, place.rowspan.stop, place.colspan.start)]
    left = [one for one in others if is_at(one, place.rowspan.start, place.colspan.start - 1)]
    x_below = any(axes.get_shared_x_axes().joined(axes, one) for one in below)
    y_left = any(axes.get_shared_y_axes().joined(axes, one) for one in left)
    axes.set(xlabel="" if x_below else x_label, ylabel="" if y_left else y_label)
    axes.xaxis.set_tick_params(which="both", labelbottom=not x_below)
    axes.yaxis.set_tick_params(which="both", labelleft=not y_left)


def is_at(axes: Axes, row: int, column: int) -> bool:
    """Whether a panel begins at this place of the grid."""
    place = axes.get_subplotspec()
    if place is None:
        return False
    return (place.rowspan.start, place.colspan.start) == (row, column)
