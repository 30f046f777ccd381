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
from matplotlib.text import Annotation
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

    text: Annotation
    x: Any
    y: Any
    at: float


_waiting: WeakKeyDictionary[Axes, list[Label]] = WeakKeyDictionary()


def label(
    ax: Axes, text: str, colour: Colour, at: float | None, x: Any | None, y: Any | None
) -> None:
    """Write ``text`` beside the curve through ``x`` and ``y``, at the share ``at`` of its length.

    It has the curve's colour, darker, to be read on white. At 1 it stands behind the curve's end,
    at 0 before its start, and for None there is none. A line along the whole panel has no ``x``,
    or no ``y``.
    """
    if at is None:
        return
    written = ax.annotate(
        text,
        (0.5, 0.5),
        (0.0, 0.0),
        textcoords="offset points",
        ha="center",
        va="center",
        annotation_clip=False,
        **text_style(colour),
    )
    written.set_in_layout(False)
    _waiting.setdefault(ax, []).append(Label(written, x, y, at))


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
            boxes += put_ends(ax, [pair for pair in visible if pair[0].at == side], side)
        crowd = np.concatenate([np.empty((0, 2)), *obstacles(ax)])
        for one, path in visible:
            if one.at not in (0, 1):
                boxes.append(put_beside(ax, one, path, crowd, boxes))


def put_ends(ax: Axes, ends: Sequence[tuple[Label, Any]], side: int) -> Iterator[Bbox]:
    """Put labels behind the ends of their curves, or before the starts, one above the other."""
    points = [path[-side] for _, path in ends]
    order = np.argsort([point[1] for point in points]).tolist()
    line = LINE * pixels_per_point(ax)
    heights = spread([points[i][1] for i in order], line)
    up, down = line * np.arange(len(order)), line * np.arange(len(order))[::-1]
    bottom, top = ax.bbox.y0 + line / 2, ax.bbox.y1 - line / 2  # they stay in the panel
    heights = np.minimum(np.maximum(heights, bottom + up), top - down)
    for i, height in zip(order, heights, strict=True):
        extent = ends[i][0].text.get_window_extent()
        away = (extent.width / 2 + GAP) * (1 if side else -1)
        yield move(ax, ends[i][0], points[i], np.array([points[i][0] + away, height]))


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
    extent = one.text.get_window_extent()
    size = np.array([extent.width, extent.height])
    _, point, centre = min(
        (cost(ax, centre, size, crowd, boxes) + slid, tuple(point), tuple(centre))
        for slid, point, centre in candidates(path, one.at, size)
    )
    return move(ax, one, np.array(point), np.array(centre))


def move(ax: Axes, one: Label, point: Any, centre: Any) -> Bbox:
    """Move a label that belongs to a ``point`` to its place; return the box that it then takes."""
    one.text.xy = tuple(ax.transData.inverted().transform(point))
    one.text.set_position((centre - point) / pixels_per_point(ax))
    extent = one.text.get_window_extent()
    return Bbox.from_bounds(
        centre[0] - extent.width / 2, centre[1] - extent.height / 2, extent.width, extent.height
    )


def candidates(path: Any, at: float, size: Any) -> Iterator[tuple[float, Any, Any]]:
    """Go through places for a label of this ``size``: extra cost, point of the path, middle."""
    for slide in SLIDES:
        point = path[round(np.clip(at + slide, 0, 1) * (len(path) - 1))]
        for order, side in enumerate(SIDES):
            yield SLID * abs(slide) + order, point, point + np.array(side) * (size / 2 + GAP)


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
        if one.is_short:
            continue
        columns = one.columns
        x: Any = columns.get("x")
        y: Any = columns.get("y")
        if one.kind == "line":
            yield path_in_panel(ax, x, y)
        elif one.kind.endswith("line"):
            across = [(at, None) for at in x] if y is None else [(None, at) for at in y]
            yield from (path_in_panel(ax, *ends) for ends in across)
        elif one.kind == "interval":
            ends = zip(x, columns["y_low"], columns["y_high"], strict=True)
            yield from (path_in_panel(ax, [at, at], [low, high]) for at, low, high in ends)
        elif one.kind.startswith("points") and x is not None and y is not None:
            middle = pixels(ax, x, y)
            yield from (middle + step for step in MARKER)
            if "y_low" in columns:
                ends = zip(x, columns["y_low"], columns["y_high"], strict=True)
                yield from (path_in_panel(ax, [at, at], [low, high]) for at, low, high in ends)


def pixels_per_point(ax: Axes) -> float:
    """Return the size of a point in pixels."""
    figure: Any = ax.get_figure(root=True)
    return float(figure.dpi) / 72


def pixels(ax: Axes, x: Any, y: Any) -> Any:
    """Return the points of a curve in pixels, those that have a finite place near the panel."""
    points = ax.transData.transform(np.column_stack([x, y]).astype(float))
    points = points[np.isfinite(points).all(1)]
    corners = ax.bbox.get_points()
    return np.clip(points, corners[0] - FAR, corners[1] + FAR)


def path_in_panel(ax: Axes, x: Any | None, y: Any | None) -> Any:
    """Follow a curve in small steps, as far as it lies in the panel; pixels."""
    points = pixels(
        ax,
        ax.get_xlim() if x is None else np.resize(x, max(2, np.size(x))),
        ax.get_ylim() if y is None else np.resize(y, max(2, np.size(y))),
    )
    if not len(points):
        return points
    lengths = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    steps = np.linspace(0, along[-1], int(along[-1] / STEP) + 2)
    path = np.column_stack([np.interp(steps, along, side) for side in points.T])
    corners = ax.bbox.get_points()
    inside = ((path >= corners[0] - 1) & (path <= corners[1] + 1)).all(1)
    return path[inside]
