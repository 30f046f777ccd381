"""One visual language: the style, the colours of recurring quantities, panels."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from claimbook.figures.svg import show_as_svg

# inches; a phone shows this in 350 CSS pixels, where 8.1 pt are the 7.5 that svg.SMALLEST asks for
WIDTH = 5.2

# seaborn's palette that colour-blind readers can tell apart; orange and brown are darker here, so
# that every line has the contrast of 3 with a white page that WCAG asks for
BLUE = "#0173b2"
ORANGE = "#c08000"
GREEN = "#029e73"
VERMILION = "#d55e00"
PINK = "#cc78bc"
BROWN = "#94694b"
GREY = "#949494"
BLACK = "#222222"
CYCLE = [BLUE, ORANGE, GREEN, VERMILION, PINK, BROWN, GREY]  # of curves that are given no colour

# The same quantity has the same colour in all chapters. The palette has fewer colours than the book
# has quantities, so those of different chapters share some; where two that share one meet
# (chapter 7), the style of the line tells them apart.
COLOURS = {
    "exact": BLACK,
    # chapters 1 to 4: attention units, bias and variance, classes of functions
    "softmax": BLUE,
    "linear": ORANGE,
    "signal": GREEN,
    "noise": VERMILION,
    "affine": PINK,
    "relu": BLUE,
    "cosine": BROWN,
    # chapter 5: the errors on new and on seen tasks, and the rival that knows the seen ones
    "ICL": BLUE,
    "IDG": ORANGE,
    "dMMSE": GREY,
    # chapter 6: features
    "dominant": BLUE,
    "target": VERMILION,
    "other": GREY,
}

SETTINGS = {
    "figure.figsize": (WIDTH, 3.2),
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 9.5,
    "axes.labelsize": 9.5,
    "axes.titlesize": 9.5,
    "figure.labelsize": 9.5,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "grid.linewidth": 0.8,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "axes.labelpad": 3,
    "axes.titlepad": 4,
    "legend.handlelength": 1.6,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.4,
    "figure.constrained_layout.use": True,
    "axes.grid.which": "major",
    "grid.alpha": 0.5,
    "legend.framealpha": 0.85,
    "svg.hashsalt": "iclutils",  # the same figure gives the same bytes
    "svg.fonttype": "path",
}


def use_style() -> None:
    """Set the book's plotting style; every chapter calls it once, in its first cell.

    In a notebook, figures are then shown as SVG, and each carries the table of what it shows
    (:func:`claimbook.figures.svg.as_svg`).
    """
    import seaborn  # half a second, which only who draws should wait

    seaborn.set_theme(style="whitegrid", context="notebook", palette=CYCLE, rc=SETTINGS)
    show_as_svg()


def ramp(count: int) -> list[tuple[float, float, float]]:
    """Return ``count`` colours from light to dark, for a swept parameter (L, σ, n, d, K)."""
    import seaborn

    return [(red, green, blue) for red, green, blue in seaborn.color_palette("flare", count)]


def panels(
    rows: int, columns: int, *, height: float = 2.3, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """Make a grid of panels at the book's width; return the figure and a flat list.

    ``height`` of each row is in inches, ``sharex`` and ``sharey`` are those of ``subplots``. Two
    columns are what a phone can show with axes; three and more are for maps without tick labels.
    """
    size = WIDTH, height * rows
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, **shared)
    return figure, list(axes.flat)
