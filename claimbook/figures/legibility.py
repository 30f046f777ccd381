"""Can a figure be read: how large its words are on a phone, and what lies over what."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Text

from claimbook.figures.artists import data_axes, floats, is_joined, label

PHONE = 350.0  # CSS pixels: the width of a figure on a phone 390 pixels wide
SMALLEST = 7.5  # CSS pixels: the smallest lettering at that width
SLACK = 1.0  # pixels by which things may touch without anyone noticing


def dense(artist: object) -> bool:
    """A map or a cloud of points, which as outlines would weigh megabytes."""
    if isinstance(artist, PathCollection):
        return len(floats(artist.get_offsets())) > 1000
    return isinstance(artist, QuadMesh)


def words(figure: Figure) -> list[Text]:
    """Every text that is seen: axis ticks outside the view are not."""
    hidden: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)  # a tick at the very end of the view is seen
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                in_view = low - slack <= tick.get_loc() <= high + slack
                if not in_view or not axes.axison:
                    hidden.update({tick.label1, tick.label2})
    found: list[Text] = figure.findobj(Text)
    return [
        text for text in found
        if text.get_visible() and text.get_text().strip() and text not in hidden
    ]


def lettering(figure: Figure) -> dict[str, Any]:
    """How well the figure reads: its width, its smallest lettering, and what is wrong with it.

    ``width`` is in inches, ``smallest`` in CSS pixels on a phone. ``faults`` names texts that
    overlap, texts that the edge cuts off, and series that a legend covers.
    """
    figure.draw_without_rendering()
    found = words(figure)
    faults = {*overlapping(found), *cut_off(figure, found), *under_legends(figure)}
    width = figure.get_figwidth()
    points = min([text.get_fontsize() for text in found], default=0.0)
    smallest = round(float(points) * PHONE / (72 * width), 2)
    return {"width": width, "smallest": smallest, "faults": sorted(faults)}


def overlapping(texts: list[Text]) -> Iterator[str]:
    """The pairs of texts that lie over one another."""
    boxes = [(text.get_text(), text.get_window_extent().padded(-SLACK / 2)) for text in texts]
    for (one, first), (other, second) in combinations(boxes, 2):
        if first.overlaps(second):
            yield f"'{one}' and '{other}' overlap"


def cut_off(figure: Figure, texts: list[Text]) -> Iterator[str]:
    """The texts that reach over the figure's edge."""
    edge = figure.bbox.padded(SLACK)
    for text in texts:
        if edge.count_contains(text.get_window_extent().corners()) < 4:
            yield f"'{text.get_text()}' is cut off"


def under_legends(figure: Figure) -> Iterator[str]:
    """The series that a panel's legend covers."""
    for number, axes in enumerate(data_axes(figure), 1):
        for name in covered(axes):
            yield f"panel {number}: the legend covers {name}"


def covered(axes: Axes) -> Iterator[str]:
    """The series whose lines, points or error bars run under the panel's legend."""
    legend = axes.get_legend()
    if legend is None:
        return
    box = legend.get_window_extent().padded(-SLACK)
    drawn: list[tuple[Artist, Path, bool]] = [
        (line, line.get_path(), is_joined(line)) for line in axes.lines
    ]
    for bars in axes.collections:
        if isinstance(bars, LineCollection):
            drawn += [(bars, path, True) for path in bars.get_paths()]
    for artist, path, joined in drawn:
        on_screen = artist.get_transform().transform_path(path)
        crosses = joined and on_screen.intersects_bbox(box, filled=False)
        if crosses or box.count_contains(on_screen.vertices):
            yield label(artist).removeprefix("_") or "a line or bar"
