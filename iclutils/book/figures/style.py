"""One visual language: the style, the colours of recurring quantities, and the few figure shapes that recur."""

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import seaborn as sns
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from iclutils import figure_data, legibility

WIDTH = 5.2  # inches; a phone shows this in 350 CSS pixels, where 8.1 pt are the 7.5 pixels that legibility asks for

# The same quantity has the same colour in all chapters (seaborn's colour-blind-safe palette).
COLOURS = {
    "softmax": "#0173b2",
    "linear": "#de8f05",
    "exact": "#222222",
    "signal": "#029e73",
    "noise": "#d55e00",
    "affine": "#cc78bc",
    "relu": "#0173b2",
    "cosine": "#ca9161",
    "ICL": "#0173b2",
    "IDG": "#de8f05",
    "dMMSE": "#949494",
    "dominant": "#0173b2",
    "target": "#d55e00",
    "other": "#949494",
}


def use_style() -> None:
    """Set the book's plotting style; every chapter calls it once, in its first cell.

    In a notebook, figures are then shown as SVG, and each carries the table of what it shows (:func:`as_svg`).
    """
    sns.set_theme(style="whitegrid", context="notebook", palette="colorblind", rc={
        "figure.figsize": (WIDTH, 3.2), "figure.dpi": 110, "savefig.dpi": 110, "font.size": 9.5,
        "axes.labelsize": 9.5, "axes.titlesize": 9.5, "legend.fontsize": 8.5, "legend.title_fontsize": 8.5,
        "figure.labelsize": 9.5, "xtick.labelsize": 8.5, "ytick.labelsize": 8.5, "lines.linewidth": 1.6, "lines.markersize": 5,
        "xtick.major.pad": 2, "ytick.major.pad": 2, "axes.labelpad": 3, "axes.titlepad": 4,
        "axes.grid.which": "major", "grid.alpha": 0.5, "grid.linewidth": 0.8, "legend.framealpha": 0.85,
        "legend.handlelength": 1.6, "legend.labelspacing": 0.3, "legend.columnspacing": 1.2, "legend.borderaxespad": 0.4,
        "svg.hashsalt": "iclutils", "svg.fonttype": "path", "figure.constrained_layout.use": True})
    show_as_svg()


def as_svg(figure: Figure) -> tuple[str, dict[str, Any]]:
    """A figure as SVG, and what goes with it: ``csv``, the table of what it shows, and ``lettering``, how it reads.

    The same figure gives the same bytes. Words are outlines, so that it looks the same on every machine; a reader who
    cannot see it has the alternative text and the table. Maps and clouds of points are pictures inside it.
    """
    with_it = {"csv": figure_data.csv_text(figure), "lettering": legibility.lettering(figure)}
    for dense in figure.findobj(legibility.dense):
        dense.set_rasterized(True)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, dpi=220)
    return re.sub(r' (?:d|x|y)="[^"]+"', to_hundredths, text.getvalue()), with_it


def to_hundredths(attribute: re.Match[str]) -> str:
    """Coordinates to a hundredth of a point: a third of the file is digits that no screen shows."""
    return re.sub(r"(\.\d\d)\d+", r"\1", attribute[0])


def show_as_svg() -> None:
    """In IPython, display figures through :func:`as_svg` alone; elsewhere do nothing."""
    from IPython.core.formatters import SVGFormatter
    from IPython.core.getipython import get_ipython

    class FigureFormatter(SVGFormatter):  # type: ignore[misc]
        """Not ``for_type``: Matplotlib's inline backend clears that whenever it is set up."""

        def __call__(self, shown: object) -> object:
            return as_svg(shown) if isinstance(shown, Figure) else super().__call__(shown)

    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        from matplotlib_inline.config import InlineBackend

        InlineBackend.instance(parent=shell).figure_formats = {"svg"}
        formatters = shell.display_formatter.formatters
        formatters["image/svg+xml"] = FigureFormatter(parent=shell.display_formatter)


def panels(rows: int, columns: int, *, height: float = 2.3, sharex: bool = False,
           sharey: bool = False) -> tuple[Figure, list[Axes]]:
    """A grid of panels at the book's width, each ``height`` inches high; returns the figure and a flat list.

    Two columns are what a phone can show with axes; three and more are for maps without tick labels.
    """
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, height * rows), squeeze=False, sharex=sharex, sharey=sharey)
    return figure, list(axes.flat)


def ramp(count: int) -> list[tuple[float, float, float]]:
    """``count`` colours of one ordered ramp, light to dark, for a swept parameter (L, σ, n, d, K)."""
    return [tuple(c) for c in sns.color_palette("flare", count)]


def band(axes: Axes, x: Sequence[float] | torch.Tensor, samples: torch.Tensor, *, label: str | None = None,
         colour: str | tuple[float, float, float] | None = None, spread: str = "sd") -> None:
    """Draw the mean over trials and a band; ``samples: (T, P)``, T trials at P points.

    ``spread`` is what the band shows, to be said in the caption: ``"sd"`` (± one standard
    deviation over trials), ``"ci"`` (± 4 standard errors) or ``"quartiles"`` (median and quartiles).
    """
    x = torch.as_tensor(x, dtype=torch.float64)
    if spread == "quartiles":
        low, centre, high = torch.quantile(samples.double(), torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64), dim=0)
    else:
        centre = samples.mean(0)
        half = samples.std(0) * (1.0 if spread == "sd" else 4.0 / samples.shape[0] ** 0.5)
        low, high = centre - half, centre + half
    drawn, = axes.plot(x, centre, label=label, color=colour)
    axes.fill_between(x, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0, label=f"_{label}" if label else None)


def stretches(axes: Axes, edges: Sequence[float], names: Sequence[str]) -> None:
    """Shade the stretches of the x axis between ``edges`` (P + 1, rising) and name each (``names``, P) above the frame."""
    for name, low, high, shade in zip(names, edges, edges[1:], ramp(len(names)), strict=False):
        axes.axvspan(low, high, color=shade, alpha=0.2, linewidth=0, label=f"_{name}")
        axes.text((low + high) / 2, 1.02, name, ha="center", transform=axes.get_xaxis_transform(), fontsize=9)
    axes.set_xlim(edges[0], edges[-1])


def family(axes: Axes, x: Sequence[float] | torch.Tensor, values: Sequence[float], samples: torch.Tensor, letter: str) -> None:
    """One band (mean ± one standard deviation) for each value of a swept parameter; ``samples: (S, T, P)``, S ``values``."""
    for colour, value, one in zip(ramp(len(values)), values, samples, strict=True):
        band(axes, x, one, label=f"{letter} = {value:g}", colour=colour)


def key(figure: Figure, place: Axes | None = None, *, columns: int = 3, title: str | None = None) -> None:
    """One legend for all panels, each label once: above them, or instead of the empty panel ``place``."""
    found = [pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    handles = {label: handle for handle, label in reversed(found)}
    labels = list(dict.fromkeys(label for _, label in found))
    shown = [handles[label] for label in labels]
    if place is None:
        figure.legend(shown, labels, loc="outside upper center", ncols=columns, title=title)
    else:
        place.axis("off")
        place.legend(shown, labels, loc="center", ncols=1, title=title)


def name(axes: Axes, x: float, y: float, text: str, colour: str | tuple[float, float, float], *, ha: str = "left") -> None:
    """Write the name of a curve beside it, in its colour (darker, to be read on white), in place of a legend."""
    axes.text(x, y, text, color=[0.7 * part for part in to_rgb(colour)], ha=ha, va="center", fontsize=9,
              bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0})
