"""Questions to a figure's parts: which axes show data, what an artist is called, its numbers."""

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure

# the names that Matplotlib gives to an artist that was given none
UNNAMED = re.compile(r"_(child|container|line|collection|image)\d+|_nolegend_|_")


def data_axes(figure: Figure) -> list[Axes]:
    """The axes that show data; colour bars do not."""
    return [
        axes for axes in figure.axes
        if axes.get_label() != "<colorbar>" and axes.get_visible()
    ]


def floats(values: Any) -> Any:
    """As an array of floats, a masked value as NaN."""
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)


def label(artist: Any) -> str:
    """The name that an artist was given; a leading ``_`` only keeps it out of the legend."""
    text = str(artist.get_label() or "")
    return "" if UNNAMED.fullmatch(text) else text


def is_joined(line: Any) -> bool:
    """Whether a line is drawn between its points."""
    return line.get_linestyle() not in ("None", "none", "", " ")


def colour_bar_label(mappable: Any) -> str:
    """What the colour bar of a map says: its own, or that of a map whose colours mean the same."""
    bar = mappable.colorbar or _shared_bar(mappable)
    if bar is None:
        return ""
    return str(bar.ax.get_ylabel() or bar.ax.get_xlabel())


def _shared_bar(mappable: Any) -> Colorbar | None:
    """The colour bar of another map in the figure with the same colours and limits."""
    for axes in data_axes(mappable.get_figure()):
        for other in axes.get_children():
            if not isinstance(other, ScalarMappable) or other.colorbar is None:
                continue
            same_colours = other.get_cmap() == mappable.get_cmap()
            if same_colours and other.get_clim() == mappable.get_clim():
                return other.colorbar
    return None
