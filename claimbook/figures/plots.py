"""One call a curve: it knows its colour, writes its label and notes its series for the table.

``kind`` is a role of :data:`claimbook.figures.style.COLOURS` or a colour, ``name`` the series in
the table. A label is written for ``at``, the place along the curve from 0 to 1
(:func:`claimbook.figures.labels.label`), and says ``text`` or else the name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from claimbook.figures.labels import label, text_style
from claimbook.figures.style import COLOURS, ramp
from claimbook.figures.table import Colour, note, notes_of

Axis = str | tuple[Any, ...]  # a name; then a scale, ticks


def colour_of(kind: Colour) -> Colour:
    """Return the colour of a role; a colour is its own."""
    return COLOURS.get(kind, kind) if isinstance(kind, str) else kind


def curve(
    ax: Axes,
    x: Any,
    y: Any,
    name: str,
    kind: Colour,
    *,
    at: float | None = None,
    text: str = "",
    **style: Any,
) -> None:
    """Draw a line through ``x`` and ``y``."""
    x, y, colour = floats(x), floats(y), colour_of(kind)
    ax.plot(x, y, color=colour, **style)
    note(ax, name, "line", colour, x=x, y=y)
    label(ax, text or name, colour, at, x, y)


def points(
    ax: Axes,
    x: Any,
    y: Any,
    name: str,
    kind: Colour,
    *,
    error: Any = None,
    x_error: Any = None,
    at: float | None = None,
    text: str = "",
    **style: Any,
) -> None:
    """Draw points, with bars where they have an error; ``ls="-"`` joins them.

    ``x`` and ``y`` are numbers or estimates, whose half-widths are the bars; ``error`` is a
    half-width of each ``y``, or a row of lower and one of upper lengths, ``x_error`` of each ``x``.
    A table of ``y`` has a row for each ``x``.
    """
    if getattr(y, "ndim", 1) == 2:
        x, y = np.tile(floats(x), y.shape[1]), floats(y).T.ravel()
    colour, bars, columns = colour_of(kind), {}, {}
    for which, values, lengths in (("x", x, x_error), ("y", y, error)):
        columns[which], half_widths = values_of(values)
        if lengths is not None or half_widths is not None:
            shape = 2, *columns[which].shape
            bar = np.broadcast_to(floats(half_widths if lengths is None else lengths), shape)
            bars[f"{which}err"] = bar
            columns[f"{which}_low"] = columns[which] - bar[0]
            columns[f"{which}_high"] = columns[which] + bar[1]
    looks: Any = {"marker": "o", "ms": 4, "ls": "none", "color": colour} | bars | style
    if bars:
        ax.errorbar(columns["x"], columns["y"], **looks)
    else:
        ax.plot(columns["x"], columns["y"], **looks)
    note(ax, name, "points with bars" if bars else "points", colour, **columns)
    label(ax, text or name, colour, at, columns["x"], columns["y"])


def band(
    ax: Axes,
    x: Any,
    samples: Any,
    name: str,
    kind: Colour,
    *,
    spread: str = "sd",
    at: float | None = None,
    text: str = "",
    **style: Any,
) -> None:
    """Draw the mean over trials (rows of ``samples``) and a band around it.

    ``spread`` is what the band shows, to be said in the caption: ``"sd"`` (± one standard deviation
    over trials) or ``"quartiles"`` (median and quartiles).
    """
    samples = floats(samples)
    if spread == "quartiles":
        low, centre, high = np.quantile(samples, [0.25, 0.5, 0.75], axis=0)
    else:
        centre, half = samples.mean(axis=0), samples.std(axis=0, ddof=1)
        low, high = centre - half, centre + half
    curve(ax, x, centre, name, kind, at=at, text=text, **style)
    between(ax, x, low, high, name, kind)


def between(
    ax: Axes,
    x: Any,
    low: Any,
    high: Any,
    name: str,
    kind: Colour,
    *,
    at: float | None = None,
    text: str = "",
    alpha: float = 0.2,
) -> None:
    """Shade what lies between two curves."""
    x, colour = floats(x), colour_of(kind)
    low, high = (np.broadcast_to(floats(edge), x.shape) for edge in (low, high))
    ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)
    note(ax, name, "band", colour, x=x, y_low=np.minimum(low, high), y_high=np.maximum(low, high))
    label(ax, text or name, colour, at, x, (low + high) / 2)


def sweep(ax: Axes, x: Any, values: Sequence[float], samples: Sequence[Any], letter: str) -> None:
    """Draw a band for each value of a swept parameter, named at its end."""
    for value, one, colour in zip(values, samples, ramp(len(values)), strict=True):
        band(ax, x, one, f"{letter} = {value:g}", colour, at=1)


def intervals(ax: Axes, x: Any, low: Any, high: Any, name: str, kind: Colour, **style: Any) -> None:
    """Draw an upright bar from ``low`` to ``high`` at each ``x``."""
    x, low, high, colour = floats(x), floats(low), floats(high), colour_of(kind)
    ax.vlines(x, low, high, color=colour, **style)
    note(ax, name, "interval", colour, x=x, y_low=low, y_high=high)


def horizontal(ax: Axes, y: float, name: str, kind: Colour, **looks: Any) -> None:
    """Draw a line at the height ``y`` along the whole panel; ``looks`` as of :func:`curve`."""
    _straight(ax, "y", y, name, kind, **looks)


def vertical(ax: Axes, x: float, name: str, kind: Colour, **looks: Any) -> None:
    """Draw a line at the place ``x`` along the whole panel; ``looks`` as of :func:`curve`."""
    _straight(ax, "x", x, name, kind, **looks)


def _straight(
    ax: Axes,
    which: str,
    position: float,
    name: str,
    kind: Colour,
    *,
    at: float | None = None,
    text: str = "",
    **style: Any,
) -> None:
    """Draw a line across an axis, ``which`` is ``"x"`` or ``"y"``, along the whole panel."""
    colour = colour_of(kind)
    draw, direction = (ax.axvline, "vertical") if which == "x" else (ax.axhline, "horizontal")
    draw(position, **{"color": colour, "lw": 1, "ls": ":"} | style)
    columns: Any = {which: position}
    note(ax, name, f"{direction} line", colour, **columns)
    label(ax, text or name, colour, at, **columns)


def bars(
    ax: Axes,
    x: Sequence[Any],
    heights: Any,
    name: str,
    kind: Colour,
    *,
    bottom: Any = 0.0,
    **style: Any,
) -> None:
    """Draw a bar of each height on the ``bottom``; at each ``x`` stands a number or a word."""
    colour, heights, bottom = colour_of(kind), floats(heights), floats(bottom)
    boxes = ax.bar(x, heights, bottom=bottom, color=colour, **style)
    middle = [box.get_x() + box.get_width() / 2 for box in boxes]
    words = x if isinstance(x[0], str) else None
    low, high = np.sort([bottom + 0 * heights, bottom + heights], axis=0)
    note(ax, name, "bar", colour, x=middle, x_name=words, y_low=low, y_high=high)


def shade(
    ax: Axes,
    low: float,
    high: float,
    name: str,
    kind: Colour,
    *,
    along: str = "x",
    alpha: float = 0.2,
) -> None:
    """Shade the panel from ``low`` to ``high`` of one of its axes."""
    colour = colour_of(kind)
    draw = ax.axvspan if along == "x" else ax.axhspan
    draw(low, high, color=colour, alpha=alpha, linewidth=0)
    edges: Any = {f"{along}_low": low, f"{along}_high": high}
    note(ax, name, "span", colour, **edges)


def shade_intervals(ax: Axes, edges: Sequence[float], names: Sequence[str]) -> None:
    """Shade the stretches between rising ``edges`` of the x axis; write their names above.

    There is one edge more than there are names.
    """
    for name, low, high, tone in zip(names, edges, edges[1:], ramp(len(names)), strict=False):
        shade(ax, low, high, name, tone)
        above = ax.get_xaxis_transform()
        ax.text((low + high) / 2, 1.02, name, ha="center", transform=above, fontsize=9)
    ax.set_xlim(edges[0], edges[-1])


def cloud(
    ax: Axes, x: Any, y: Any, name: str, kind: Colour, *, values: Any = None, **style: Any
) -> None:
    """Draw points of sizes of their own (``s``), or of the colours that their ``values`` have."""
    colour = colour_of(kind)
    face: Any = {"color": colour} if values is None else {"c": floats(values)}
    ax.scatter(floats(x), floats(y), **face | style)
    note(ax, name, "points", colour if values is None else "", x=x, y=y, value=values)


def box(
    ax: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    text: str,
    name: str,
    kind: Colour,
    *,
    alpha: float = 0.25,
    **style: Any,
) -> None:
    """Draw a box of a schematic, its lower left corner at (x, y), with ``text`` in its middle."""
    colour = colour_of(kind)
    looks: Any = {"facecolor": (colour, alpha), "edgecolor": colour} | style
    ax.add_patch(Rectangle((x, y), width, height, **looks))
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center")
    note(ax, name, "span", colour, x_low=x, x_high=x + width, y_low=y, y_high=y + height)


def heat(ax: Axes, x: Any, y: Any, values: Any, name: str, **style: Any) -> QuadMesh:
    """Draw a map of ``values``, a row for each of ``y``; return it for its colour bar."""
    x, y, values = floats(x), floats(y), floats(values)
    mesh = ax.pcolormesh(x, y, values, **{"shading": "nearest"} | style)
    ax.grid(False)
    across, up = np.meshgrid(x, y)
    note(ax, name, "map", x=across.ravel(), y=up.ravel(), value=values.ravel())
    return mesh


def contours(
    ax: Axes,
    x: Any,
    y: Any,
    values: Any,
    name: str,
    levels: Any,
    *,
    filled: bool = False,
    **style: Any,
) -> None:
    """Draw where ``values``, a row for each of ``y``, reach the ``levels``."""
    draw = ax.contourf if filled else ax.contour
    shown = draw(floats(x), floats(y), floats(values), levels, **style)
    paths = list(zip(shown.levels, shown.get_paths(), strict=False))
    pieces = [floats(path.vertices) for _, path in paths]
    vertices = np.concatenate(pieces)
    at = np.repeat([level for level, _ in paths], [len(piece) for piece in pieces])
    kind = "region from this value" if filled else "contour"
    note(ax, name, kind, x=vertices[:, 0], y=vertices[:, 1], value=at)


def remark(ax: Axes, corner: str, text: str, kind: Colour = "exact") -> None:
    """Write ``text`` into a corner of the panel, ``"upper left"`` or another."""
    height, side = corner.split()
    x = {"left": 0.03, "center": 0.5, "right": 0.97}[side]
    y = {"lower": 0.04, "center": 0.5, "upper": 0.96}[height]
    va = {"lower": "bottom", "upper": "top"}.get(height, "center")
    style = text_style(colour_of(kind))
    artist = ax.text(x, y, text, ha=side, va=va, transform=ax.transAxes, **style)
    artist.set_in_layout(False)


def axis(ax: Axes | Sequence[Axes], *, x: Axis = "", y: Axis = "", **more: Any) -> None:
    """Name the axes of a panel or of several, scale them, set their ticks.

    ``x`` and ``y`` are a name, or a name with ``"log"``, with ticks, or with both. Ticks are
    written as plain numbers; a mapping says in words what stands at each. A name that neighbours
    share is written once. All else is handed to ``Axes.set``.
    """
    for one in [ax] if isinstance(ax, Axes) else ax:
        for which, named in (("x", x), ("y", y)):
            name, *others = [named] if isinstance(named, str) else named
            if name:
                notes_of(one).names[which] = name
                one.set(**{f"{which}label": name if is_outer(one, which) else ""})
            for other in others:
                if isinstance(other, str):
                    one.set(**{f"{which}scale": other})
                else:
                    set_ticks(one, which, other)
        one.set(**more)


def is_outer(ax: Axes, which: str) -> bool:
    """Tell whether no panel below or to the left shares the axis."""
    spec = ax.get_subplotspec()
    shared = ax.get_shared_x_axes() if which == "x" else ax.get_shared_y_axes()
    if spec is None or len(shared.get_siblings(ax)) == 1:
        return True
    return spec.is_last_row() if which == "x" else spec.is_first_col()


def set_ticks(ax: Axes, which: str, ticks: Sequence[float] | Mapping[float, str]) -> None:
    """Set the ticks of an axis, as plain numbers or in words, and no others."""
    words = ticks if isinstance(ticks, Mapping) else {one: plain(one) for one in ticks}
    one = ax.xaxis if which == "x" else ax.yaxis
    one.set_ticks([], minor=True)
    if any("e" in word for word in words.values()) and not isinstance(ticks, Mapping):
        one.set_ticks(list(words))
    else:
        one.set_ticks(list(words), list(words.values()))


def plain(value: float) -> str:
    """Write a number as a tick shows it, with a minus sign."""
    return f"{value:g}".replace("-", "−")


def legend(figure: Figure, *, columns: int = 3) -> None:
    """Write one legend for all panels, above them, each label once."""
    handles: dict[str, Artist] = {}
    for ax in figure.axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=columns)


def values_of(y: Any) -> tuple[Any, Any]:
    """Return numbers, and the half-widths of estimates or None."""
    if hasattr(y, "half_width"):
        return np.atleast_1d(floats(y.value)), floats(y.half_width)
    if isinstance(y, Sequence) and hasattr(y[0], "half_width"):
        return floats([one.value for one in y]), floats([one.half_width for one in y])
    return np.atleast_1d(floats(y)), None


def floats(values: Any) -> Any:
    """Return an array of floats, a masked value as NaN."""
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
