"""A figure read back from its axes: the numbers that it shows, as a table."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FuncFormatter

COLUMNS = ("panel", "title", "x_axis", "y_axis", "series", "kind", "x", "x_name", "x_low", "x_high", "y", "y_low", "y_high",
           "value", "colour")
Point = dict[str, Any]


def csv_text(figure: Figure) -> str:
    """Everything that ``figure`` shows as one tidy table: a row for each point, bar, band edge or cell of a map.

    Columns: the panel (from 1, in reading order), its title and axes; the series as its legend names it (a label that
    starts with ``_`` names a series here and not in the legend; a series without a label takes that of the one labelled
    series of its colour); the kind; ``x``, ``y``; ``x_low`` … ``y_high`` for bars, bands and spans (the caption says
    what they are); ``value`` for maps; the colour. A column that a figure does not use is left out.
    """
    found = list(rows(figure))
    used = [name for name in COLUMNS if any(row.get(name, "") != "" for row in found)] or list(COLUMNS)
    text = io.StringIO()
    writer = csv.DictWriter(text, used, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in found:
        writer.writerow({key: number(value) for key, value in row.items()})
    return text.getvalue()


def floats(values: Any) -> Any:
    """As an array of floats, a masked value as NaN."""
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)


def number(value: Any) -> Any:
    """Eight significant digits; text as it is."""
    return f"{float(value):.8g}" if isinstance(value, float | np.floating | np.integer) else value


def rows(figure: Figure) -> Iterator[Point]:
    """The rows of :func:`csv_text`."""
    shown = panels(figure)
    named = [(panel, colour, name) for panel, axes in enumerate(shown) for name, _, colour, _ in drawn(axes) if name]
    for panel, axes in enumerate(shown):
        head: Point = {"panel": panel + 1, "title": axes.get_title()}
        head |= {"x_axis": axis_label(axes, "x"), "y_axis": axis_label(axes, "y")}
        for own, kind, colour, points in drawn(axes):
            series = own or (namesake(colour, panel, named) if colour else "")
            for point in points:
                yield head | {"series": series.removeprefix("_"), "kind": kind, "colour": colour} | point


def panels(figure: Figure) -> list[Axes]:
    """The axes that show data (colour bars do not)."""
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>" and axes.get_visible()]


def namesake(colour: str, panel: int, named: Sequence[tuple[int, str, str]]) -> str:
    """The label of the one labelled series of this colour, in the panel or else in the figure; legends come first."""
    same = [(where, name) for where, c, name in named if c == colour]
    for some in ([(where, name) for where, name in same if name[0] != "_"], same):
        for names in ({name for where, name in some if where == panel}, {name for _, name in some}):
            if len(names) == 1:
                return names.pop()
    return ""


def axis_label(axes: Axes, which: str) -> str:
    """An axis' label, or the one that it shares with the panels beside or below it."""
    read = {"x": Axes.get_xlabel, "y": Axes.get_ylabel}[which]
    if read(axes):
        return read(axes)
    figure, place = axes.get_figure(), axes.get_subplotspec()
    assert isinstance(figure, Figure)
    over = figure.get_supxlabel() if which == "x" else figure.get_supylabel()
    if over or place is None:
        return over
    line = place.colspan if which == "x" else place.rowspan
    others = [o for o in panels(figure) if read(o) and (spec := o.get_subplotspec()) is not None]
    beside = [o for o in others if (spec := o.get_subplotspec()) and (spec.colspan if which == "x" else spec.rowspan) == line]
    labels = [read(o) for o in beside] or sorted({read(o) for o in others})
    return labels[0] if beside or len(labels) == 1 else ""


def label(artist: Any) -> str:
    """The name that an artist was given; a leading ``_`` only keeps it out of the legend."""
    text = str(artist.get_label() or "")
    return "" if re.fullmatch(r"_(child|container|line|collection|image)\d+|_nolegend_|_", text) else text


def drawn(axes: Axes) -> Iterator[tuple[str, str, str, list[Point]]]:
    """(label, kind, colour, points) of every series of one panel."""
    done: set[Artist] = set()
    for container in axes.containers:
        done.update(part for part in flat(container) if isinstance(part, Artist))
        if isinstance(container, ErrorbarContainer):
            yield errorbar(container)
        elif isinstance(container, BarContainer):
            boxes = [patch for patch in container.patches if isinstance(patch, Rectangle)]
            names = tick_names(axes)
            points = [{"x": (x := b.get_x() + b.get_width() / 2), "x_name": names.get(round(x, 6), ""),
                       "y_low": b.get_y(), "y_high": b.get_y() + b.get_height()} for b in boxes]
            yield label(container), "bar", to_hex(boxes[0].get_facecolor()), points
    for artist in [*axes.lines, *axes.collections, *axes.images, *axes.patches]:
        if artist in done or not artist.get_visible():
            continue
        if isinstance(artist, Line2D):
            yield curve(axes, artist)
        elif isinstance(artist, Collection):
            yield from collection(artist)
        elif isinstance(artist, AxesImage):
            yield label(artist) or bar_label(artist), "map", "", image_cells(artist)
        elif isinstance(artist, Rectangle):
            yield span(axes, artist)


def flat(parts: Any) -> Iterator[Any]:
    for part in parts if isinstance(parts, tuple | list) else [parts]:
        if isinstance(part, tuple | list):
            yield from flat(part)
        else:
            yield part


def tick_names(axes: Axes) -> dict[float, str]:
    """Words that stand at the ticks of the x axis instead of numbers."""
    form = axes.xaxis.get_major_formatter()
    if not isinstance(form, FixedFormatter | FuncFormatter):
        return {}
    words = {round(float(at), 6): " ".join(str(form(at, i)).split()) for i, at in enumerate(axes.get_xticks())}
    return {at: word for at, word in words.items() if not re.fullmatch(r"[-−+.\d]*", word)}


def curve(axes: Axes, line: Any) -> tuple[str, str, str, list[Point]]:
    x, y = (floats(v) for v in line.get_data(orig=False))
    along_x, along_y = line.get_transform().contains_branch_seperately(axes.transData)
    colour = to_hex(line.get_color())
    if along_x and along_y:
        names = tick_names(axes)
        points = [{"x": a, "y": b, "x_name": names.get(round(float(a), 6), "")} for a, b in zip(x, y, strict=True)]
        return label(line), "points" if line.get_linestyle() in ("None", "none", "", " ") else "line", colour, points
    if along_y:
        return label(line), "horizontal line", colour, [{"y": y[0]}]
    return label(line), "vertical line", colour, [{"x": x[0]}]


def errorbar(container: ErrorbarContainer) -> tuple[str, str, str, list[Point]]:
    line, _, bars = container.lines
    segments = {name: bars[i].get_segments() for i, name in enumerate(n for n in ("x", "y") if getattr(container, f"has_{n}err"))}
    colour = to_hex(line.get_color() if line is not None else floats(bars[0].get_edgecolor())[0])
    count = len(next(iter(segments.values())))
    x, y = (floats(v) for v in line.get_data(orig=False)) if line is not None else (None, None)
    points: list[Point] = []
    for i in range(count):
        point: Point = {} if x is None or y is None else {"x": float(x[i]), "y": float(y[i])}
        for name, ends in segments.items():
            across = ends[i][:, 0 if name == "x" else 1]
            point |= {f"{name}_low": float(min(across)), f"{name}_high": float(max(across))}
            if x is None:
                point["x" if name == "y" else "y"] = float(ends[i][0, 0 if name == "y" else 1])
        points.append(point)
    return label(container), "points with bars", colour, points


def collection(artist: Collection) -> Iterator[tuple[str, str, str, list[Point]]]:
    colours = [*floats(artist.get_facecolor()), *floats(artist.get_edgecolor())]
    colour = to_hex(colours[0]) if colours else ""
    if isinstance(artist, ContourSet):
        name = label(artist) or bar_label(artist)
        levels = zip(floats(artist.levels), artist.get_paths(), strict=False)
        points = [{"x": x, "y": y, "value": level} for level, path in levels for x, y in floats(path.vertices)]
        yield name, "region from this value" if artist.filled else "contour", "", points
    elif isinstance(artist, QuadMesh):
        yield label(artist) or bar_label(artist), "map", "", mesh_cells(artist)
    elif isinstance(artist, LineCollection):
        ends = [floats(s) for s in artist.get_segments()]
        points = [extent("x", s[:, 0]) | extent("y", s[:, 1]) for s in ends]
        yield label(artist), "interval", to_hex(floats(artist.get_edgecolor())[0]), points
    elif isinstance(artist, PathCollection):
        values = artist.get_array()
        points = [{"x": x, "y": y} for x, y in floats(artist.get_offsets())]
        if values is not None:
            points = [p | {"value": float(v)} for p, v in zip(points, values, strict=True)]
        yield label(artist), "points", "" if values is not None else colour, points
    elif isinstance(artist, PolyCollection):
        yield label(artist), "band", colour, [edge for path in artist.get_paths() for edge in band_edges(path.vertices)]


def extent(name: str, along: Any) -> Point:
    low, high = float(min(along)), float(max(along))
    return {name: low} if low == high else {f"{name}_low": low, f"{name}_high": high}


def band_edges(outline: Any) -> list[Point]:
    """``fill_between`` draws up one edge and back along the other: N points each and three that close the outline."""
    count = (len(outline) - 3) // 2
    low, high = outline[1:count + 1], outline[count + 2:2 * count + 2][::-1]
    return [{"x": a[0], "y_low": min(a[1], b[1]), "y_high": max(a[1], b[1])} for a, b in zip(low, high, strict=True)]


def span(axes: Axes, patch: Rectangle) -> tuple[str, str, str, list[Point]]:
    along_x, along_y = patch.get_transform().contains_branch_seperately(axes.transData)
    edges: Point = {}
    if along_x:
        edges |= {"x_low": patch.get_x(), "x_high": patch.get_x() + patch.get_width()}
    if along_y:
        edges |= {"y_low": patch.get_y(), "y_high": patch.get_y() + patch.get_height()}
    return label(patch), "span", to_hex(patch.get_facecolor()), [edges]


def bar_label(mappable: Any) -> str:
    """What the colour bar of a map says: its own, or that of a map with the same colours and limits."""
    bars = [axes._colorbar for axes in mappable.get_figure().axes if axes.get_label() == "<colorbar>"]
    for bar in bars:
        like = bar.mappable
        if like is mappable or (like.get_cmap() == mappable.get_cmap() and like.get_clim() == mappable.get_clim()):
            return bar.ax.get_ylabel() or bar.ax.get_xlabel()
    return ""


def image_cells(image: AxesImage) -> list[Point]:
    values = floats(image.get_array())
    left, right, bottom, top = image.get_extent()
    if image.origin == "upper":
        bottom, top = top, bottom
    height, width = values.shape[:2]
    x = left + (np.arange(width) + 0.5) * (right - left) / width
    y = bottom + (np.arange(height) + 0.5) * (top - bottom) / height
    return [{"x": x[j], "y": y[i], "value": values[i, j]} for i in range(height) for j in range(width)]


def mesh_cells(mesh: QuadMesh) -> list[Point]:
    corners, values = floats(mesh.get_coordinates()), floats(mesh.get_array())
    if values.shape != corners.shape[:2]:
        corners = (corners[:-1, :-1] + corners[1:, :-1] + corners[:-1, 1:] + corners[1:, 1:]) / 4
    at = corners.reshape(-1, 2)
    return [{"x": x, "y": y, "value": v} for (x, y), v in zip(at, values.ravel(), strict=True)]
