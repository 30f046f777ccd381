"""One visual language: the style, and the colours of recurring quantities."""

from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.colors import LinearSegmentedColormap

from iclutils.book.figures.svg import show_as_svg

# inches; a phone shows this in 350 CSS pixels, where 8.1 pt are the 7.5 that legibility asks for
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

# seaborn's colours "flare" at even distances; seaborn itself would be a third of all that a page
# imports
FLARE = [
    *("#edb081", "#ec9f76", "#ea8f6c", "#e77e63", "#e46d5d", "#de5d5c", "#d64f5f", "#c94465"),
    *("#ba3e6a", "#aa3a6e", "#9a3670", "#8a3171", "#7a2e70", "#6a2b6c", "#5a2767", "#4b2362"),
]

THEME = {  # seaborn's theme "whitegrid" in the sizes of "notebook", where it is not matplotlib's
    "axes.axisbelow": True,
    "axes.edgecolor": ".8",
    "axes.grid": True,
    "axes.labelcolor": ".15",
    "axes.linewidth": 1.25,
    "font.sans-serif": [
        "Arial",
        "DejaVu Sans",
        "Liberation Sans",
        "Bitstream Vera Sans",
        "sans-serif",
    ],
    "grid.color": ".8",
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.facecolor": BLUE,
    "patch.force_edgecolor": True,
    "text.color": ".15",
    "xtick.bottom": False,
    "xtick.color": ".15",
    "xtick.major.size": 6,
    "xtick.major.width": 1.25,
    "xtick.minor.size": 4,
    "xtick.minor.width": 1,
    "ytick.left": False,
    "ytick.color": ".15",
    "ytick.major.size": 6,
    "ytick.major.width": 1.25,
    "ytick.minor.size": 4,
    "ytick.minor.width": 1,
}
SIZES = {
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
}
SPACES = {
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "axes.labelpad": 3,
    "axes.titlepad": 4,
    "legend.handlelength": 1.6,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.4,
    "figure.constrained_layout.use": True,
}
LOOKS = {
    "axes.grid.which": "major",
    "grid.alpha": 0.5,
    "legend.framealpha": 0.85,
    "svg.hashsalt": "iclutils",  # the same figure gives the same bytes
    "svg.fonttype": "path",
}


def use_style() -> None:
    """Set the book's plotting style; every chapter calls it once, in its first cell.

    In a notebook, figures are then shown as SVG, and each carries the table of what it shows
    (:func:`iclutils.book.figures.svg.as_svg`).
    """
    settings: dict[Any, Any] = THEME | SIZES | SPACES | LOOKS
    mpl.rcParams.update(settings)
    mpl.rcParams["axes.prop_cycle"] = cycler(color=CYCLE)
    show_as_svg()


def ramp(count: int) -> list[tuple[float, float, float]]:
    """``count`` colours from light to dark, for a swept parameter (L, σ, n, d, K)."""
    flare = LinearSegmentedColormap.from_list("flare", FLARE)
    inner = flare(np.linspace(0, 1, count + 2)[1:-1])
    return [(float(red), float(green), float(blue)) for red, green, blue, _ in inner]
