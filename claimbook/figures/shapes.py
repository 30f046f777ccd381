"""The few figure shapes that recur: panels, bands, shaded intervals, legends, ticks, names."""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from claimbook.figures import plots
from claimbook.figures.style import WIDTH, ramp

Colour = str | tuple[float, float, float]
Shared = bool | Literal["none", "all", "row", "col"]
NEAR = 0.3  # of the ends of two curves, that share one name


def panels(
    rows: int, columns: int, *, height: float = 2.3, sharex: Shared = False, sharey: Shared = False
) -> tuple[Figure, list[Axes]]:
    """A grid of panels at the book's width; returns the figure and a flat list.

    ``height`` of each row is in inches. Two columns are what a phone can show with axes; three and
    more are for maps without tick labels.
    """
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(WIDTH, height * rows),
        squeeze=False,
        sharex=sharex,
        sharey=sharey,
    )
    return figure, list(axes.flat)


def band(
    axes: Axes, x: ArrayLike, samples: ArrayLike, name: str = "", *more: Any, **how: Any
) -> None:
    """Draw a band, noted if it has a name (:func:`claimbook.figures.plots.band`)."""
    if name:
        plots.band(axes, x, samples, name, *more, **how)
    else:
        labelled_band(axes, x, samples, **how)


def labelled_band(
    axes: Axes,
    x: ArrayLike,
    samples: ArrayLike,
    *,
    label: str | None = None,
    colour: Colour | None = None,
    spread: str = "sd",
) -> None:
    """Draw the mean over trials (rows of ``samples``) and a band around it.

    ``spread`` is what the band shows, to be said in the caption: ``"sd"`` (± one standard deviation
    over trials) or ``"quartiles"`` (median and quartiles).
    """
    x, samples = np.asarray(x, dtype=float), np.asarray(samples, dtype=float)
    if spread == "quartiles":
        low, centre, high = np.quantile(samples, [0.25, 0.5, 0.75], axis=0)
    else:
        centre, half = samples.mean(axis=0), samples.std(axis=0, ddof=1)
        low, high = centre - half, centre + half
    line, = axes.plot(x, centre, label=label, color=colour)
    hidden = f"_{label}" if label else None  # named in the figure's table, not in the legend
    shade = line.get_color()
    axes.fill_between(x, low, high, color=shade, alpha=0.2, linewidth=0, label=hidden)


def swept_bands(
    axes: Axes,
    x: ArrayLike,
    values: Sequence[float],
    samples: Iterable[ArrayLike],
    letter: str,
) -> None:
    """One band (mean ± one standard deviation) for each value of a swept parameter.

    ``letter`` is the parameter's name in the legend.
    """
    for colour, value, one in zip(ramp(len(values)), values, samples, strict=True):
        labelled_band(axes, x, one, label=f"{letter} = {value:g}", colour=colour)


def annotate(
    axes: Axes, x: float, y: float, text: str, colour: Colour, *, ha: str = "left"
) -> None:
    """Write the name of a curve beside it, in place of a legend.

    It has the curve's ``colour``, darker, to be read on white; ``ha`` says which end of the text is
    at (x, y).
    """
    axes.text(
        x,
        y,
        text,
        color=[0.7 * part for part in to_rgb(colour)],
        ha=ha,
        va="center",
        fontsize=9,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
    )


def name_ends(
    axes: Axes,
    x: float,
    ends: ArrayLike,
    values: Sequence[float],
    letter: str,
    *,
    gap: float,
) -> None:
    """Name the curves of a swept parameter at their ends, in the colours of ``swept_bands``.

    ``x`` is where the names stand and ``ends`` the heights at which the curves end. Curves that end
    within :data:`NEAR` of the next share one text, and texts stand ``gap`` apart; ``letter`` stands
    before the highest.
    """
    heights = np.asarray(ends, dtype=float)
    order = heights.argsort().tolist()
    groups = [[order[0]]]
    for before, one in itertools.pairwise(order):
        if heights[one] - heights[before] < NEAR:
            groups[-1].append(one)
        else:
            groups.append([one])
    height = -math.inf
    for group in groups:
        height = max(float(heights[group].mean()), height + gap)
        text = spans([index in group for index in range(len(values))], values)
        named = f"{letter} = {text}" if group is groups[-1] else text
        annotate(axes, x, height, named, ramp(len(values))[group[-1]])


def spans(chosen: Sequence[bool], values: Sequence[float]) -> str:
    """The chosen values as text, three and more in a row as first–last.

    >>> spans([True, True, True, False, True], [0.1, 0.3, 1.0, 3.0, 10.0])
    '0.1–1, 10'
    """
    texts: list[str] = []
    for inside, run in itertools.groupby(range(len(values)), key=lambda i: chosen[i]):
        row = [f"{values[i]:g}" for i in run]
        if inside:
            texts += row if len(row) < 3 else [f"{row[0]}–{row[-1]}"]
    return ", ".join(texts)


def plain_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Ticks of a logarithmic axis as plain numbers, 0.5 and not a power of ten, and no others."""
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)
