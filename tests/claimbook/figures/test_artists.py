"""Which axes show data, and what artists and maps are called."""

import numpy as np
import pytest

from claimbook import figures
from claimbook.figures import artists

CELLS = np.arange(6.0).reshape(2, 3)


def test_colour_bars_and_hidden_panels_show_no_data():
    figure, (left, middle, right) = figures.panels(1, 3)
    figure.colorbar(left.imshow(CELLS), ax=left)
    right.set_visible(False)
    assert artists.data_axes(figure) == [left, middle]


@pytest.mark.parametrize("location", ["left", "right", "top", "bottom"])
def test_a_map_is_called_by_its_bar_wherever_that_stands(location):
    figure, (axes,) = figures.panels(1, 1)
    image = axes.imshow(CELLS)
    figure.colorbar(image, ax=axes, location=location, label="attention")
    assert artists.colour_bar_label(image) == "attention"


@pytest.mark.parametrize(
    ("style", "joined"),
    [("-", True), ("--", True), (":", True), ("", False), (" ", False), ("none", False)],
)
def test_points_without_a_line_are_not_joined(style, joined):
    _, (axes,) = figures.panels(1, 1)
    (line,) = axes.plot([1, 2], [1, 2], marker="o", linestyle=style)
    assert artists.is_joined(line) == joined
    (again,) = axes.plot([1, 2], [1, 2], f"o{style.strip().replace('none', '')}")
    assert artists.is_joined(again) == joined


def test_a_map_is_called_by_its_own_colour_bar_or_by_one_that_means_the_same():
    figure, (left, middle, right) = figures.panels(1, 3)
    one = left.imshow(CELLS, cmap="Reds", vmin=0, vmax=5)
    same = middle.imshow(CELLS / 2, cmap="Reds", vmin=0, vmax=5)
    other = right.imshow(CELLS, cmap="Reds", vmin=0, vmax=6)
    figure.colorbar(one, ax=[left, middle], label="attention")
    names = [artists.colour_bar_label(image) for image in (one, same, other)]
    assert names == ["attention", "attention", ""]


def test_each_of_two_colour_bars_names_its_own_map():
    figure, (left, right) = figures.panels(1, 2)
    images = [axes.imshow(CELLS, cmap="Reds") for axes in (left, right)]
    for image, name in zip(images, ("left", "right"), strict=True):
        figure.colorbar(image, ax=image.axes, label=name)
    assert [artists.colour_bar_label(image) for image in images] == ["left", "right"]


def test_a_name_that_matplotlib_gave_is_none():
    _, (axes,) = figures.panels(1, 1)
    lines = [axes.plot([1], [1], label=name)[0] for name in (None, "_", "_hidden", "shown")]
    assert [artists.label(line) for line in lines] == ["", "", "_hidden", "shown"]


def test_masked_values_are_no_numbers():
    found = artists.floats(np.ma.masked_greater([1, 2, 3], 2))
    assert found[:2].tolist() == [1.0, 2.0]
    assert np.isnan(found[2])
