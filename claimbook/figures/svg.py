"""A figure as SVG, with the table of what it shows and how well it reads."""

import io
import re
from typing import Any

import numpy as np
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure

from claimbook.figures import checks, labels, table


def as_svg(figure: Figure) -> tuple[str, dict[str, Any]]:
    """Draw a figure as SVG; return it with what goes with it.

    With it go ``csv``, the table of what it shows, and ``lettering``, how it reads. The same figure
    gives the same bytes. Words are outlines, so that it looks the same on every machine; a reader
    who cannot see it has the alternative text and the table. Maps and clouds of points are pictures
    inside it.
    """
    labels.put_labels(figure)
    with_it = {"csv": table.csv_text(figure), "lettering": checks.lettering(figure)}
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
