"""A figure as SVG: the same bytes each time, at the width that it states; what cannot be read."""

import base64
import io
import re

import pytest
from PIL import Image

from claimbook import figures
from claimbook.figures import svg
from claimbook.figures.svg import as_svg

SHARP = 2 * 96  # dots an inch: two for each CSS pixel


def drawing():
    """Draw a line with a legend and a formula."""
    figure, (axes,) = figures.panels(1, 1)
    figures.curve(axes, [1, 2], [1, 2], "a", "exact", label="a")
    axes.legend(loc="upper left")
    axes.set(xlabel="n", ylabel="loss", title=r"$w^*$")
    return figure


def test_the_same_figure_gives_the_same_bytes_and_its_stated_width():
    (first, with_it), (second, _) = as_svg(drawing()), as_svg(drawing())
    assert first == second
    assert "<dc:date>" not in first
    assert f'width="{72 * figures.WIDTH:.1f}pt"' in first
    assert with_it["csv"].startswith("panel,")
    assert with_it["lettering"]["faults"] == []


def test_maps_are_pictures_inside_it(ax):
    ax.pcolormesh([[1.0, 2.0], [3.0, 4.0]])
    text, _ = as_svg(ax.get_figure())
    (image,) = re.findall(r"<image [^>]*>", text, re.DOTALL)
    wide = float(re.search(r'\bwidth="([\d.]+)"', image)[1])  # points
    encoded = re.search(r'base64,\s*([^"]+)"', image)[1]
    picture = Image.open(io.BytesIO(base64.b64decode(encoded)))
    assert picture.width / (wide / 72) > SHARP


def test_a_cloud_is_dense_and_a_few_points_are_not(ax):
    few, cloud = (ax.scatter(range(count), range(count)) for count in (10, 2000))
    assert [svg.is_dense(artist) for artist in (few, cloud)] == [False, True]


def test_what_cannot_be_read_is_named():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([0, 1], [0, 1], label="diagonal")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.text(0.2, 0.2, "one over", fontsize=5)
    axes.text(0.21, 0.2, "another")
    axes.text(0.9, 0.3, "runs out of the picture").set_in_layout(False)
    reading = svg.lettering(figure)
    # a figure of full width is shown 350 pixels wide on a phone; given with two decimals
    assert reading["smallest"] == pytest.approx(5 * 350 / (72 * figures.WIDTH), abs=0.01)
    assert set(reading["faults"]) == {
        "'one over' and 'another' overlap",
        "'runs out of the picture' is cut off",
    }


def test_ticks_out_of_view_are_no_words(ax):
    ax.plot([0, 10], [0, 1])
    ax.set_xticks([0, 5, 10])
    ax.set_xlim(4, 6)
    ax.get_figure().draw_without_rendering()
    seen = {text.get_text() for text in svg.words(ax.get_figure())}
    assert ("5" in seen, "10" in seen) == (True, False)
