"""One visual language: the style, the colours of recurring quantities, and the few figure shapes that recur."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import seaborn as sns
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

WIDTH = 6.4  # inches; legible on a phone because fonts are set for this width

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
    """Set the book's plotting style; every chapter calls it once, in its first cell."""
    sns.set_theme(style="whitegrid", context="notebook", palette="colorblind", rc={
        "figure.figsize": (WIDTH, 3.8), "figure.dpi": 110, "savefig.dpi": 110, "font.size": 11,
        "axes.labelsize": 11, "axes.titlesize": 11, "legend.fontsize": 9, "xtick.labelsize": 10,
        "ytick.labelsize": 10, "lines.linewidth": 1.8, "axes.grid.which": "major", "grid.alpha": 0.5,
        "legend.framealpha": 0.85, "svg.hashsalt": "iclutils", "figure.constrained_layout.use": True})


def panels(rows: int, columns: int, *, height: float = 2.7, sharex: bool = False,
           sharey: bool = False) -> tuple[Figure, list[Axes]]:
    """A grid of panels at the book's width (wider than two columns scales up); returns the figure and a flat list."""
    width = WIDTH if columns <= 2 else WIDTH * 1.35
    figure, axes = plt.subplots(rows, columns, figsize=(width, height * rows), squeeze=False, sharex=sharex, sharey=sharey)
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
    axes.fill_between(x, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)


def stretches(axes: Axes, edges: Sequence[float], names: Sequence[str]) -> None:
    """Shade the stretches of the x axis between ``edges`` (P + 1, rising) and name each (``names``, P) above the frame."""
    for name, low, high, shade in zip(names, edges, edges[1:], ramp(len(names)), strict=False):
        axes.axvspan(low, high, color=shade, alpha=0.2, linewidth=0)
        axes.text((low + high) / 2, 1.02, name, ha="center", transform=axes.get_xaxis_transform(), fontsize=9)
    axes.set_xlim(edges[0], edges[-1])


def family(axes: Axes, x: Sequence[float] | torch.Tensor, values: Sequence[float], samples: torch.Tensor, letter: str) -> None:
    """One band (mean ± one standard deviation) for each value of a swept parameter; ``samples: (S, T, P)``, S ``values``."""
    for colour, value, one in zip(ramp(len(values)), values, samples, strict=True):
        band(axes, x, one, label=f"{letter} = {value:g}", colour=colour)


def stacked(rows: int, *, height: float = 2.7) -> tuple[Figure, list[Axes]]:
    """``rows`` panels in one column, with letters that are still legible where the figure is 350 pixels wide."""
    figure, axes = plt.subplots(rows, 1, figsize=(5.2, height * rows), squeeze=False)
    for ax in axes.flat:  # not by rc_context: around a kernel's first figure it switches the inline display off
        ax.xaxis.label.set_fontsize(13)
        ax.yaxis.label.set_fontsize(13)
        ax.tick_params(labelsize=12)
    return figure, list(axes.flat)


def name(axes: Axes, x: float, y: float, text: str, colour: str | tuple[float, float, float], *, ha: str = "left") -> None:
    """Write the name of a curve beside it, in its colour (darker, to be read on white), in place of a legend."""
    axes.text(x, y, text, color=[0.7 * part for part in to_rgb(colour)], ha=ha, va="center", fontsize=12,
              bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0})
