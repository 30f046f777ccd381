"""A figure as SVG, with the table of what it shows and how well it reads.

That is: how large its words are on a phone, and which of them overlap or are cut off.
"""

import io
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.text import Text

from claimbook.figures import labels, table

PHONE = 350.0  # CSS pixels: the width of a figure on a phone 390 pixels wide
SMALLEST = 7.5  # CSS pixels: the smallest lettering at that width
SLACK = 1.0  # pixels by which things may touch without anyone noticing


def as_svg(figure: Figure) -> tuple[str, dict[str, Any]]:
    """Draw a figure as SVG; return it with what goes with it.

    With it go ``csv``, the table of what it shows, and ``lettering``, how it reads. The same figure
    gives the same bytes. Words are outlines, so that it looks the same on every machine; a reader
    who cannot see it has the alternative text and the table. Maps and clouds of points are pictures
    inside it.
    """
    labels.put_labels(figure)
    with_it = {"csv": table.csv_text(figure), "lettering": lettering(figure)}
    for dense in figure.findobj(is_dense):
        dense.set_rasterized(True)
    return text_of(figure), with_it


def is_dense(artist: object) -> bool:
    """Tell a map or a cloud of points, which as outlines would weigh megabytes."""
    if isinstance(artist, PathCollection):
        return int(np.shape(artist.get_offsets())[0]) > 1000
    return isinstance(artist, QuadMesh)


def text_of(figure: Figure) -> str:
    """Write the SVG itself."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, dpi=220)
    return re.sub(r' (?:d|x|y)="[^"]+"', to_hundredths, text.getvalue())


def to_hundredths(attribute: re.Match[str]) -> str:
    """Cut coordinates to a hundredth of a point: a third of the file is digits that none sees."""
    return re.sub(r"(\.\d\d)\d+", r"\1", attribute[0])


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


def show_as_svg() -> None:
    """In IPython, display figures through :func:`as_svg` alone; elsewhere do nothing."""
    from IPython.core.formatters import SVGFormatter
    from IPython.core.getipython import get_ipython

    class FigureFormatter(SVGFormatter):
        """A formatter, not ``for_type``, which Matplotlib's inline backend clears at its set-up."""

        def __call__(self, value: object) -> object:
            return as_svg(value) if isinstance(value, Figure) else super().__call__(value)

    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        from matplotlib_inline.config import InlineBackend

        InlineBackend.instance(parent=shell).figure_formats = {"svg"}
        formatters = shell.display_formatter.formatters
        formatters["image/svg+xml"] = FigureFormatter(parent=shell.display_formatter)
