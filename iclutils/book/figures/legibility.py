"""Can a figure be read: how large its words are on a phone, and what lies over what."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from iclutils.figure_data import floats, label, panels

PHONE = 350.0  # CSS pixels: the width of a figure on a phone 390 pixels wide
SMALLEST = 7.5  # CSS pixels: the smallest lettering at that width


def dense(artist: object) -> bool:
    """A map or a cloud of points, which as outlines would weigh megabytes."""
    return isinstance(artist, QuadMesh) or (isinstance(artist, PathCollection) and len(floats(artist.get_offsets())) > 1000)


def words(figure: Figure) -> list[Text]:
    """Every text that is seen: axis ticks outside the view are not."""
    hidden: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                slack = 1e-9 * (high - low)
                if not low - slack <= tick.get_loc() <= high + slack or not axes.axison:
                    hidden.update({tick.label1, tick.label2})
    return [text for text in figure.findobj(Text)  # type: ignore[attr-defined]
            if text.get_visible() and text.get_text().strip() and text not in hidden]


def lettering(figure: Figure) -> dict[str, Any]:
    """How well the figure reads: width in inches, smallest lettering in CSS pixels on a phone, and what is wrong with it.

    ``faults`` names texts that overlap, texts that the edge cuts off, and series that a legend covers.
    """
    figure.draw_without_rendering()
    found = words(figure)
    boxes = [(text.get_text(), text.get_window_extent()) for text in found]
    faults = [f"'{a}' and '{b}' overlap" for i, (a, one) in enumerate(boxes) for b, two in boxes[i + 1:] if meet(one, two)]
    edge = figure.bbox
    faults += [f"'{name}' is cut off" for name, box in boxes
               if box.x0 < edge.x0 - 1 or box.x1 > edge.x1 + 1 or box.y0 < edge.y0 - 1 or box.y1 > edge.y1 + 1]
    faults += [f"panel {i + 1}: the legend covers {name}" for i, axes in enumerate(panels(figure)) for name in covered(axes)]
    width = figure.get_figwidth()
    smallest = min([text.get_fontsize() for text in found], default=0.0)
    return {"width": width, "smallest": round(float(smallest) * PHONE / (72 * width), 2), "faults": sorted(set(faults))}


def meet(one: Bbox, two: Bbox, slack: float = 1.0) -> bool:
    both = Bbox.intersection(one, two)
    return both is not None and both.width > slack and both.height > slack


def covered(axes: Axes) -> list[str]:
    """The series whose lines, points or error bars run under the panel's legend."""
    legend = axes.get_legend()
    if legend is None:
        return []
    box = legend.get_window_extent()
    found = []
    drawn: list[tuple[Any, Any, bool]] = [(line, np.column_stack([floats(v) for v in line.get_data(orig=False)]),
                                           line.get_linestyle() not in ("None", "none", "", " ")) for line in axes.lines]
    bundles = [bars for bars in axes.collections if isinstance(bars, LineCollection)]
    drawn += [(bars, floats(bar), True) for bars in bundles for bar in bars.get_segments()]
    for line, points, joined in drawn:
        at = line.get_transform().transform(points)
        if joined and len(at) > 1:
            steps = np.linspace(0, 1, 50)[:, None, None]
            at = (at[None, :-1] * (1 - steps) + at[None, 1:] * steps).reshape(-1, 2)
        at = at[np.isfinite(at).all(1)]
        inside = (at[:, 0] > box.x0 + 1) & (at[:, 0] < box.x1 - 1) & (at[:, 1] > box.y0 + 1) & (at[:, 1] < box.y1 - 1)
        if inside.any():
            found.append(label(line).removeprefix("_") or "a line or bar")
    return found
