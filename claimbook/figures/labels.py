"""Labels beside curves: a cell says where along its curve a label belongs.

On which side it stands is decided when all curves of a panel are known: where it covers least.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from claimbook.figures.table import Colour, notes_of

SIZE = 9.0  # points
LINE = 11.5  # points between labels at the ends of curves
GAP = 5.0  # pixels between a curve and its label
FAR = 1e5  # pixels outside of a panel at which a curve may be cut
STEP = 2.0  # pixels between the points in which a curve is followed
SLIDES = (0.0, 0.04, -0.04, 0.08, -0.08, 0.13, -0.13, 0.2, -0.2)  # along the curve
MARKER = ((0, 0), (4, 0), (-4, 0), (0, 4), (0, -4))  # pixels: where a point must be seen
SIDES = ((0, 1), (0, -1), (1, 0.6), (-1, 0.6), (1, -0.6), (-1, -0.6), (1, 0), (-1, 0))
# what a place costs: each point of a curve that a label covers, or is nearer to than the gap, each
# pixel outside of the panel or on another label, and sliding by the whole length of the curve
COVER, NEAR, BEYOND, OVER, SLID = 6.0, 0.4, 100.0, 30.0, 150.0


class Label(NamedTuple):
    """A label, the curve that it belongs to, and the place along it: 0 its start, 1 its end."""

    text: Text
    x: Any
    y: Any
    at: float


_waiting: WeakKeyDictionary[Axes, list[Label]] = WeakKeyDictionary()


def label(
    ax: Axes, text: str, colour: Colour, at: float | None, x: Any = None, y: Any = None
) -> None:
    """Write ``text`` beside the curve through ``x`` and ``y``, at the share ``at`` of its length.

    It has the curve's colour, darker, to be read on white. At 1 it stands behind the curve's end,
    at 0 before its start, and for None there is none. A line along the whole panel has no ``x``,
    or no ``y``.
    """
    if at is None:
        return
    middle: Any = {"ha": "center", "va": "center", "transform": ax.transAxes}
    artist = ax.text(0.5, 0.5, text, **middle, **text_style(colour))
    artist.set_in_layout(False)
    _waiting.setdefault(ax, []).append(Label(artist, x, y, at))


def text_style(colour: Colour) -> dict[str, Any]:
    """Return how words in a panel look: small, in a colour darkened to be read on white."""
    return {
        "color": [0.7 * part for part in to_rgb(colour)],
        "fontsize": SIZE,
        "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
    }


def put_labels(figure: Figure) -> None:
    """Put all labels of a figure that wait for their place."""
    if not any(ax in _waiting for ax in figure.axes):
        return
    figure.draw_without_rendering()
    for ax in figure.axes:
        waiting = [(one, path_in_panel(ax, one.x, one.y)) for one in _waiting.pop(ax, [])]
        for one, path in waiting:
            one.text.set_visible(len(path) > 0)  # the curve may be outside of the panel
        visible = [(one, path) for one, path in waiting if len(path)]
        mine = {one.text for one, _ in waiting}
        boxes = [text.get_window_extent() for text in ax.texts if text not in mine]
        for side in (0, 1):
            boxes += put_ends(ax, [(one, path[-side]) for one, path in visible if one.at == side])
        crowd = np.concatenate([np.empty((0, 2)), *obstacles(ax)])
        for one, path in visible:
            if one.at not in (0, 1):
                boxes.append(put_beside(ax, one, path, crowd, boxes))


def put_ends(ax: Axes, ends: Sequence[tuple[Label, Any]]) -> Iterator[Bbox]:
    """Put labels behind the ends of their curves, or before the starts, one above the other."""
    figure: Any = ax.get_figure(root=True)
    line = LINE * figure.dpi / 72
    ends = sorted(ends, key=lambda end: float(end[1][1]))
    heights = spread([end[1] for _, end in ends], line)
    up, down = line * np.arange(len(ends)), line * np.arange(len(ends))[::-1]
    bottom, top = ax.bbox.y0 + line / 2, ax.bbox.y1 - line / 2  # they stay in the panel
    heights = np.minimum(np.maximum(heights, bottom + up), top - down)
    for (one, end), height in zip(ends, heights, strict=True):
        away = one.text.get_window_extent().width / 2 + GAP
        yield move(ax, one.text, (end[0] + (away if one.at else -away), height))


def spread(heights: Sequence[float], gap: float) -> Any:
    """Move rising heights, by as little as can be, until they are a ``gap`` apart.

    >>> spread([0.0, 1.0, 5.0], 2.0).tolist()
    [-0.5, 1.5, 5.0]
    """
    blocks: list[list[float]] = []  # of heights that touch: without the gaps they are all one
    for i, height in enumerate(heights):
        blocks.append([height - i * gap])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    means = [np.mean(block) for block in blocks for _ in block]
    return np.array(means) + gap * np.arange(len(means))


def put_beside(ax: Axes, one: Label, path: Any, crowd: Any, boxes: Sequence[Bbox]) -> Bbox:
    """Put one label beside its ``path``, to cover least of the ``crowd`` and of other ``boxes``."""
    size = np.array(one.text.get_window_extent().size)
    places = []
    for slide in SLIDES:
        point = path[round(np.clip(one.at + slide, 0, 1) * (len(path) - 1))]
        for order, side in enumerate(SIDES):
            centre = point + np.array(side) * (size / 2 + GAP)
            extra = SLID * abs(slide) + order
            places.append((cost(ax, centre, size, crowd, boxes) + extra, *point, *centre))
    return move(ax, one.text, min(places)[-2:])


def move(ax: Axes, text: Text, centre: Any) -> Bbox:
    """Move a label to its place, in pixels; return the box that it then takes."""
    x, y = ax.transAxes.inverted().transform(centre)
    text.set_position((x, y))
    return text.get_window_extent()


def cost(ax: Axes, centre: Any, size: Any, crowd: Any, boxes: Sequence[Bbox]) -> float:
    """Count the pixels of curves that a label would cover, of other labels, and outside."""
    low, high = centre - size / 2, centre + size / 2
    least, most = ax.bbox.get_points()
    outside = np.maximum(least - low, 0) + np.maximum(high - most, 0)
    near = crowd[((crowd > low - GAP) & (crowd < high + GAP)).all(1)]
    covered = ((near > low) & (near < high)).all(1).sum()
    ends = [box.get_points() for box in boxes]
    shared = [np.clip(np.minimum(high, b) - np.maximum(low, a), 0, None).min() for a, b in ends]
    sums = COVER * covered + NEAR * len(near), OVER * sum(shared), BEYOND * outside.sum()
    return float(sum(sums))


def obstacles(ax: Axes) -> Iterator[Any]:
    """Go through what must not be covered: lines, markers and bars, in pixels."""
    for one in notes_of(ax).series:
        columns: Any = one.columns
        x, y = columns.get("x"), columns.get("y")
        if one.kind.endswith("line"):
            yield path_in_panel(ax, x, y)
        elif one.kind.startswith("points") and x is not None and y is not None:
            yield from (pixels(ax, x, y) + step for step in MARKER)
        if one.kind in ("interval", "points with bars") and "y_low" in columns:
            ends = zip(x, columns["y_low"], columns["y_high"], strict=True)
            yield from (path_in_panel(ax, at, [low, high]) for at, low, high in ends)


def pixels(ax: Axes, x: Any, y: Any) -> Any:
    """Return the points of a curve in pixels, those that have a finite place near the panel."""
    points = ax.transData.transform(np.column_stack([x, y]).astype(float))
    points = points[np.isfinite(points).all(1)]
    corners = ax.bbox.get_points()
    return np.clip(points, corners[0] - FAR, corners[1] + FAR)


def path_in_panel(ax: Axes, x: Any | None, y: Any | None) -> Any:
    """Follow a curve in small steps, as far as it lies in the panel; pixels."""
    x, y = (
        limits() if side is None else np.resize(side, max(2, np.size(side)))
        for side, limits in ((x, ax.get_xlim), (y, ax.get_ylim))
    )
    points = pixels(ax, x, y)
    if not len(points):
        return points
    along = np.insert(np.cumsum(np.hypot(*np.diff(points, axis=0).T)), 0, 0.0)
    steps = np.linspace(0, along[-1], int(along[-1] / STEP) + 2)
    path = np.column_stack([np.interp(steps, along, side) for side in points.T])
    corners = ax.bbox.get_points()
    return path[((path >= corners[0] - 1) & (path <= corners[1] + 1)).all(1)]
