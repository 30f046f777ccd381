"""Can a figure be read: how large its words are on a phone, and which of them overlap."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

PHONE = 350.0  # CSS pixels: the width of a figure on a phone 390 pixels wide
SMALLEST = 7.5  # CSS pixels: the smallest lettering at that width
SLACK = 1.0  # pixels by which things may touch without anyone noticing


def words(figure: Figure) -> list[Text]:
    """List every text that is seen: axis ticks outside the view are not."""
    hidden: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)  # a tick at the very end of the view is seen
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                in_view = low - slack <= tick.get_loc() <= high + slack
                if not in_view or not axes.axison:
                    hidden.update({tick.label1, tick.label2})
    texts: list[Text] = [text for text in figure.findobj(Text) if text not in hidden]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def lettering(figure: Figure) -> dict[str, Any]:
    """Measure how well a figure reads: its width, its smallest lettering, and what is wrong.

    ``width`` is in inches, ``smallest`` in CSS pixels on a phone. ``faults`` names texts that
    overlap, and texts that the edge cuts off.
    """
    figure.draw_without_rendering()
    texts = words(figure)
    faults = {*overlapping(texts), *cut_off(figure, texts)}
    width = figure.get_figwidth()
    points = min([text.get_fontsize() for text in texts], default=0.0)
    smallest = round(float(points) * PHONE / (72 * width), 2)
    return {"width": width, "smallest": smallest, "faults": sorted(faults)}


def overlapping(texts: list[Text]) -> Iterator[str]:
    """Name the pairs of texts that lie over one another."""
    boxes = [(text.get_text(), text.get_window_extent().padded(-SLACK / 2)) for text in texts]
    for (one, first), (other, second) in combinations(boxes, 2):
        if first.overlaps(second):
            yield f"'{one}' and '{other}' overlap"


def cut_off(figure: Figure, texts: list[Text]) -> Iterator[str]:
    """Name the texts that reach over the figure's edge."""
    edge = figure.bbox.padded(SLACK)
    for text in texts:
        if edge.count_contains(text.get_window_extent().corners()) < 4:
            yield f"'{text.get_text()}' is cut off"
