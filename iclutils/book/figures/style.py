"""One visual language: the style, and the colours of recurring quantities."""

from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler

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

# seaborn's 256 colours "flare", six digits each; seaborn itself would be a third of all that a page
# imports
FLARE = (
    "edb081edaf80edae7fedad7fedac7eedab7eecaa7deca97ceca87ceca77beca67beca57aeca479eca379eca278"
    "eca178eca077ec9f76eb9e76eb9d75eb9c75eb9b74eb9a73eb9973eb9972eb9872eb9771ea9671ea9570ea946f"
    "ea936fea926eea916eea906dea8f6cea8e6ce98d6be98c6be98b6ae98a6ae98969e98868e98768e98667e88567"
    "e88466e88366e88265e88165e88064e87f64e77e63e77d63e77c63e77b62e77a62e67961e67861e67760e67660"
    "e67560e5745fe5735fe5725fe5715ee5705ee46f5ee46e5ee46d5de46c5de36b5de36a5de3695de3685ce2675c"
    "e2665ce2655ce1645ce1635ce1625ce0615ce0605ce05f5cdf5f5cdf5e5cde5d5cde5c5cde5b5cdd5a5cdd595c"
    "dc585cdc575cdb565ddb565dda555dda545dd9535dd9525ed8525ed7515ed7505ed64f5fd64f5fd54e5fd44d60"
    "d44c60d34c60d24b60d24a61d14a61d04962d04962cf4862ce4763cd4763cc4663cc4664cb4564ca4564c94465"
    "c84465c84365c74366c64366c54266c44267c34167c24167c14168c14068c04068bf4069be3f69bd3f69bc3f69"
    "bb3f6aba3e6ab93e6ab83e6bb73d6bb63d6bb53d6bb43d6bb33c6cb23c6cb13c6cb13c6cb03b6daf3b6dae3b6d"
    "ad3b6dac3a6dab3a6daa3a6ea93a6ea8396ea7396ea6396ea5396ea4386fa3386fa2386fa1386fa1376fa0376f"
    "9f376f9e37709d36709c36709b36709a3670993570983570973570963570953470943470943471933471923371"
    "9133719033718f33718e32718d32718c32718b32718a3171893171883171873171873171863071853071843071"
    "833070822f70812f70802f707f2f707e2f707d2e707c2e707b2e707a2e70792e6f782e6f772d6f762d6f752d6f"
    "752d6f742d6e732c6e722c6e712c6e702c6e6f2c6d6e2c6d6d2b6d6c2b6d6b2b6c6a2b6c692b6c682a6c672a6b"
    "662a6b652a6b642a6a642a6a63296a62296a6129696029695f29695e28685d28685c28685b28675a2767592767"
    "5827665827665727665626665526655426655326655225645125645025644f24634f24634e24634d24634c2362"
    "4b2362"
)

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
    colours = [bytes.fromhex(FLARE[i : i + 6]) for i in range(0, len(FLARE), 6)]
    places = np.linspace(0, len(colours), count + 2)[1:-1]
    return [(r / 255, g / 255, b / 255) for r, g, b in (colours[int(place)] for place in places)]
