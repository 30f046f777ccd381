"""What is drawn is read back: lines, points, bars, bands, spans, maps, contours."""

import numpy as np
import pytest

from claimbook import figures
from claimbook.figures.series import (
    colour_bar_label,
    data_axes,
    drawn,
    floats,
    is_joined,
    label,
)


def series(axes, name, kind=None):
    """The one series of this label (and kind)."""
    (found,) = (one for one in drawn(axes) if one.label == name and kind in (None, one.kind))
    return found


def column(found, name):
    return [point[name] for point in found.points]


def test_lines_points_and_reference_lines():
    _, (left, right) = figures.panels(1, 2)
    left.plot([1, 2, 3], [0.1, 0.25, 0.5], color="C0", label="exact")
    left.plot([1, 3], [4, 5], "o", color="C1", label="_trained")
    right.axhline(2.5, color="C2", label="bound")
    right.axvline(7, color="C3", label="_7")
    exact = series(left, "exact")
    assert exact.kind == "line"
    assert exact.colour == "#0173b2"
    assert column(exact, "x") == [1, 2, 3]
    assert column(exact, "y") == [0.1, 0.25, 0.5]
    assert column(series(left, "_trained", "points"), "y") == [4, 5]
    assert series(right, "bound", "horizontal line").points == [{"y": 2.5}]
    assert series(right, "_7", "vertical line").points == [{"x": 7}]


def test_bands_and_bars_keep_both_ends():
    _, (axes,) = figures.panels(1, 1)
    samples = [[1.0, 2.0, 6.0], [3.0, 2.0, 4.0]]
    figures.band(axes, [1, 2, 3], samples, label="rare", spread="quartiles")
    bars = [[0.5, 1.0], [2.0, 3.0]]
    axes.errorbar([1, 2], [5.0, 6.0], bars, fmt="o", label="trained", color="C4")
    axes.bar([0, 1], [1.0, 2.0], bottom=[0.5, 0.25], color="C5", label="part")
    band = series(axes, "_rare", "band")
    assert column(band, "y_low") == [1.5, 2.0, 4.5]
    assert column(band, "y_high") == [2.5, 2.0, 5.5]
    trained = series(axes, "trained", "points with bars")
    assert column(trained, "y") == [5.0, 6.0]
    assert column(trained, "y_low") == [4.5, 5.0]
    assert column(trained, "y_high") == [7.0, 9.0]
    part = series(axes, "part", "bar")
    assert column(part, "x") == pytest.approx([0, 1])  # the middles, whatever the width
    assert column(part, "y_low") == [0.5, 0.25]
    assert column(part, "y_high") == [1.5, 2.25]


def test_bars_along_both_axes_and_bars_without_points():
    _, (axes,) = figures.panels(1, 1)
    axes.errorbar([1], [5], yerr=[[1], [2]], xerr=[[0.5], [0.25]], fmt="o", label="both")
    axes.errorbar([1], [5], yerr=[[1], [2]], fmt="none", label="bar")
    assert series(axes, "both").points == [
        {"x": 1, "y": 5, "x_low": 0.5, "x_high": 1.25, "y_low": 4, "y_high": 7},
    ]
    assert series(axes, "bar").points == [{"x": 1, "y_low": 4, "y_high": 7}]


def test_spans_intervals_and_named_ticks():
    _, (axes,) = figures.panels(1, 1)
    axes.axvspan(1, 2, color="C1", label="phase")
    axes.vlines([1, 3], [0, 1], [2, 5], color="C2", label="printed")
    axes.plot([0, 1], [5, 6], "k_", label="mark")
    axes.set_xticks([0, 1], ["affine", "ReLU\nb = 0"])
    assert series(axes, "phase", "span").points == [{"x_low": 1, "x_high": 2}]
    assert column(series(axes, "printed", "interval"), "y_high") == [2, 5]
    assert column(series(axes, "mark"), "x_name") == ["affine", "ReLU b = 0"]


def test_ticks_that_are_numbers_are_no_names():
    _, (left, right) = figures.panels(1, 2)
    for axes in (left, right):
        axes.plot([10, 1000], [5, 6], label="line")
    left.set_xscale("log")
    right.set_xticks([10, 1000], ["10", "1000"])
    assert column(series(left, "line"), "x_name") == ["", ""]
    assert column(series(right, "line"), "x_name") == ["", ""]


@pytest.mark.parametrize("origin", ["upper", "lower"])
def test_images_give_a_value_for_each_cell(origin):
    figure, (axes,) = figures.panels(1, 1)
    values = np.arange(6.0).reshape(2, 3)
    rows = (2.5, 0.5) if origin == "upper" else (0.5, 2.5)
    image = axes.imshow(values, extent=(0.5, 3.5, *rows), origin=origin, cmap="Reds")
    figure.colorbar(image, ax=axes, label="attention")
    cells = {(one["x"], one["y"]): one["value"] for one in series(axes, "attention", "map").points}
    assert cells == {(x, y): values[y - 1, x - 1] for x in (1, 2, 3) for y in (1, 2)}


def test_meshes_give_a_value_for_each_corner_or_cell():
    _, (left, right) = figures.panels(1, 2)
    values = np.arange(6.0).reshape(2, 3)
    left.pcolormesh([1.0, 2.0, 3.0], [10.0, 20.0], values, shading="gouraud", label="corners")
    right.pcolormesh([0.5, 1.5, 2.5, 3.5], [5.0, 15.0, 25.0], values, label="cells")
    for axes, name in ((left, "corners"), (right, "cells")):
        cells = {(one["x"], one["y"]): one["value"] for one in series(axes, name, "map").points}
        assert cells == {(x, y): values[y // 10 - 1, x - 1] for x in (1, 2, 3) for y in (10, 20)}


def test_scatter_and_contour():
    _, (left, right) = figures.panels(1, 2)
    left.scatter([1, 2], [3, 4], c=[0.5, 0.7], label="valued")
    left.scatter([5], [6], color="C3", label="plain")
    right.contour([0, 1, 2], [0, 1], [[0, 1, 2], [0, 1, 2]], levels=[0.5, 1.5])
    valued = series(left, "valued", "points")
    assert valued.colour == ""
    assert valued.points == [{"x": 1, "y": 3, "value": 0.5}, {"x": 2, "y": 4, "value": 0.7}]
    assert series(left, "plain").colour == "#d55e00"
    (contour,) = drawn(right)
    assert contour.kind == "contour"
    assert column(contour, "x") == pytest.approx(column(contour, "value"))  # the field is x
    assert set(column(contour, "value")) == {0.5, 1.5}


# ---------------------------------------------------------------- names


CELLS = np.arange(6.0).reshape(2, 3)


def test_colour_bars_and_hidden_panels_show_no_data():
    figure, (left, middle, right) = figures.panels(1, 3)
    figure.colorbar(left.imshow(CELLS), ax=left)
    right.set_visible(False)
    assert data_axes(figure) == [left, middle]


@pytest.mark.parametrize("location", ["left", "right", "top", "bottom"])
def test_a_map_is_called_by_its_bar_wherever_that_stands(location):
    figure, (axes,) = figures.panels(1, 1)
    image = axes.imshow(CELLS)
    figure.colorbar(image, ax=axes, location=location, label="attention")
    assert colour_bar_label(image) == "attention"


@pytest.mark.parametrize(
    ("style", "joined"),
    [("-", True), ("--", True), (":", True), ("", False), (" ", False), ("none", False)],
)
def test_points_without_a_line_are_not_joined(style, joined):
    _, (axes,) = figures.panels(1, 1)
    (line,) = axes.plot([1, 2], [1, 2], marker="o", linestyle=style)
    assert is_joined(line) == joined
    (again,) = axes.plot([1, 2], [1, 2], f"o{style.strip().replace('none', '')}")
    assert is_joined(again) == joined


def test_a_map_is_called_by_its_own_colour_bar_or_by_one_that_means_the_same():
    figure, (left, middle, right) = figures.panels(1, 3)
    one = left.imshow(CELLS, cmap="Reds", vmin=0, vmax=5)
    same = middle.imshow(CELLS / 2, cmap="Reds", vmin=0, vmax=5)
    other = right.imshow(CELLS, cmap="Reds", vmin=0, vmax=6)
    figure.colorbar(one, ax=[left, middle], label="attention")
    names = [colour_bar_label(image) for image in (one, same, other)]
    assert names == ["attention", "attention", ""]


def test_a_name_that_matplotlib_gave_is_none():
    _, (axes,) = figures.panels(1, 1)
    lines = [axes.plot([1], [1], label=name)[0] for name in (None, "_", "_hidden", "shown")]
    assert [label(line) for line in lines] == ["", "", "_hidden", "shown"]


def test_masked_values_are_no_numbers():
    found = floats(np.ma.masked_greater([1, 2, 3], 2))
    assert found[:2].tolist() == [1.0, 2.0]
    assert np.isnan(found[2])
