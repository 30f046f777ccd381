"""The series that a panel shows, read back from Matplotlib's artists: lines, bars, bands, maps."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import (
    Collection,
    LineCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.colorbar import Colorbar
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FuncFormatter

Point = dict[str, Any]
# the names that Matplotlib gives to an artist that was given none
UNNAMED = re.compile(r"_(child|container|line|collection|image)\d+|_nolegend_|_")


class Series(NamedTuple):
    """One series of a panel: its label, what is drawn, the colour (``""`` in a map), the points."""

    label: str
    kind: str
    colour: str
    points: list[Point]


def drawn(axes: Axes) -> Iterator[Series]:
    """Every series of one panel; what belongs to an error bar or a bar chart is read with it."""
    done: set[Artist] = set()
    for container in axes.containers:
        done.update(container.get_children())
        if isinstance(container, ErrorbarContainer):
            yield errorbar(container)
        elif isinstance(container, BarContainer):
            yield bars(axes, container)
    for artist in [*axes.lines, *axes.collections, *axes.images, *axes.patches]:
        if artist in done or not artist.get_visible():
            continue
        if isinstance(artist, Line2D):
            yield curve(axes, artist)
        elif isinstance(artist, Collection):
            yield from collection(artist)
        elif isinstance(artist, AxesImage):
            yield Series(map_label(artist), "map", "", image_cells(artist))
        elif isinstance(artist, Rectangle):
            yield span(axes, artist)


def map_label(artist: Any) -> str:
    """The name of a map, or of its colour bar."""
    return label(artist) or colour_bar_label(artist)


def tick_names(axes: Axes) -> dict[float, str]:
    """Words that stand at the ticks of the x axis instead of numbers."""
    formatter = axes.xaxis.get_major_formatter()
    if not isinstance(formatter, FixedFormatter | FuncFormatter):  # the others write numbers
        return {}
    names = {}
    for i, at in enumerate(axes.get_xticks()):
        word = " ".join(str(formatter(at, i)).split())
        if not re.fullmatch(r"[-−+.\d]*", word):
            names[round(float(at), 6)] = word
    return names


def bars(axes: Axes, container: BarContainer) -> Series:
    """A bar chart: the middle, lower and upper end of each bar."""
    boxes = [patch for patch in container.patches if isinstance(patch, Rectangle)]
    names = tick_names(axes)
    points = []
    for box in boxes:
        x = box.get_x() + box.get_width() / 2
        low = box.get_y()
        name = names.get(round(x, 6), "")
        points.append({"x": x, "x_name": name, "y_low": low, "y_high": low + box.get_height()})
    return Series(label(container), "bar", to_hex(boxes[0].get_facecolor()), points)


def curve(axes: Axes, line: Line2D) -> Series:
    """A line or its markers; a line that runs along an axis has one number alone."""
    x, y = map(floats, line.get_data(orig=False))
    along_x, along_y = line.get_transform().contains_branch_seperately(axes.transData)
    colour = to_hex(line.get_color())
    if not along_y:
        return Series(label(line), "vertical line", colour, [{"x": x[0]}])
    if not along_x:
        return Series(label(line), "horizontal line", colour, [{"y": y[0]}])
    names = tick_names(axes)
    points = [
        {"x": a, "y": b, "x_name": names.get(round(float(a), 6), "")}
        for a, b in zip(x, y, strict=True)
    ]
    return Series(label(line), "line" if is_joined(line) else "points", colour, points)


def errorbar(container: ErrorbarContainer) -> Series:
    """Points with bars: the point, if it is drawn, and both ends of its bars."""
    line, _, drawn_bars = container.lines
    names = [name for name in ("x", "y") if getattr(container, f"has_{name}err")]
    ends = {name: one.get_segments() for name, one in zip(names, drawn_bars, strict=True)}
    points: list[Point] = [{} for _ in ends[names[0]]]
    for name, segments in ends.items():
        for point, segment in zip(points, segments, strict=True):
            point |= bar_ends(name, segment)
    if line is None:
        colour = colour_of(drawn_bars[0])
    else:
        colour = to_hex(line.get_color())
        x, y = map(floats, line.get_data(orig=False))
        for point, a, b in zip(points, x, y, strict=True):
            point |= {"x": float(a), "y": float(b)}
    return Series(label(container), "points with bars", colour, points)


def bar_ends(name: str, segment: Any) -> Point:
    """The ends of one bar along the axis ``name``, and where it stands on the other axis."""
    along, across = (0, 1) if name == "x" else (1, 0)
    other = "y" if name == "x" else "x"
    low, high = sorted(float(end) for end in segment[:, along])
    return {f"{name}_low": low, f"{name}_high": high, other: float(segment[0, across])}


def collection(artist: Collection) -> Iterator[Series]:
    """Contours, meshes, intervals, clouds of points, bands; nothing for other collections."""
    if isinstance(artist, ContourSet):
        yield contours(artist)
    elif isinstance(artist, QuadMesh):
        yield Series(map_label(artist), "map", "", mesh_cells(artist))
    elif isinstance(artist, LineCollection):
        ends = [floats(segment) for segment in artist.get_segments()]
        points = [extent("x", one[:, 0]) | extent("y", one[:, 1]) for one in ends]
        yield Series(label(artist), "interval", colour_of(artist), points)
    elif isinstance(artist, PathCollection):
        yield cloud(artist)
    elif isinstance(artist, PolyCollection):
        outlines = [path.vertices for path in artist.get_paths()]
        points = [edge for outline in outlines for edge in band_edges(outline)]
        yield Series(label(artist), "band", colour_of(artist), points)


def colour_of(artist: Collection) -> str:
    """The first colour of a collection's faces, or else of its edges."""
    colours = [*floats(artist.get_facecolor()), *floats(artist.get_edgecolor())]
    return to_hex(colours[0]) if colours else ""


def contours(artist: ContourSet) -> Series:
    """The vertices of each level."""
    points = []
    for level, path in zip(floats(artist.levels), artist.get_paths(), strict=False):
        points += [{"x": x, "y": y, "value": level} for x, y in floats(path.vertices)]
    kind = "region from this value" if artist.filled else "contour"
    return Series(map_label(artist), kind, "", points)


def cloud(artist: PathCollection) -> Series:
    """A scatter plot; its points have a value each, or all one colour."""
    points: list[Point] = [{"x": x, "y": y} for x, y in floats(artist.get_offsets())]
    values = artist.get_array()
    if values is None:
        return Series(label(artist), "points", colour_of(artist), points)
    for point, value in zip(points, values, strict=True):
        point["value"] = float(value)
    return Series(label(artist), "points", "", points)


def extent(name: str, along: Any) -> Point:
    """From where to where something reaches along an axis, or the one place where it stands."""
    low = float(min(along))
    high = float(max(along))
    if low == high:
        return {name: low}
    return {f"{name}_low": low, f"{name}_high": high}


def band_edges(outline: Any) -> list[Point]:
    """The edges of a band at each of its N points.

    ``fill_between`` draws up one edge and back along the other, N points each, and three more that
    close the outline.
    """
    count = (len(outline) - 3) // 2
    one = outline[1:count + 1]
    other = outline[count + 2:2 * count + 2][::-1]
    points = []
    for (x, a), (_, b) in zip(one, other, strict=True):
        points.append({"x": x, "y_low": min(a, b), "y_high": max(a, b)})
    return points


def span(axes: Axes, patch: Rectangle) -> Series:
    """A shaded stretch of an axis, or a rectangle."""
    along_x, along_y = patch.get_transform().contains_branch_seperately(axes.transData)
    edges: Point = {}
    if along_x:
        edges |= {"x_low": patch.get_x(), "x_high": patch.get_x() + patch.get_width()}
    if along_y:
        edges |= {"y_low": patch.get_y(), "y_high": patch.get_y() + patch.get_height()}
    return Series(label(patch), "span", to_hex(patch.get_facecolor()), [edges])


def image_cells(image: AxesImage) -> list[Point]:
    """The middle and value of each pixel."""
    values = floats(image.get_array())
    left, right, bottom, top = image.get_extent()
    if image.origin == "upper":
        bottom, top = top, bottom
    height, width = values.shape[:2]
    x = left + (np.arange(width) + 0.5) * (right - left) / width
    y = bottom + (np.arange(height) + 0.5) * (top - bottom) / height
    return [
        {"x": x[j], "y": y[i], "value": values[i, j]} for i in range(height) for j in range(width)
    ]


def mesh_cells(mesh: QuadMesh) -> list[Point]:
    """The place and value of each cell, or of each corner where the values belong to corners."""
    places = floats(mesh.get_coordinates())
    values = floats(mesh.get_array())
    if values.shape != places.shape[:2]:
        left = places[:-1, :-1] + places[1:, :-1]
        places = (left + places[:-1, 1:] + places[1:, 1:]) / 4
    return [
        {"x": x, "y": y, "value": value}
        for (x, y), value in zip(places.reshape(-1, 2), values.ravel(), strict=True)
    ]


# ---------------------------------------------------------------- names and numbers of artists


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
