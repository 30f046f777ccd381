"""A figure as SVG: the same bytes each time, at the width that it states."""

import base64
import io
import re

import numpy as np
from PIL import Image

from claimbook import figures
from claimbook.figures import svg
from claimbook.figures.svg import as_svg

SHARP = 2 * 96  # dots an inch: two for each CSS pixel


def test_the_same_figure_gives_the_same_bytes_and_its_stated_width(drawing):
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


def test_coordinates_are_matplotlibs_to_a_hundredth_of_a_point(drawing, monkeypatch):
    figure = drawing()
    short = svg.text_of(figure)
    monkeypatch.setattr(svg, "to_hundredths", lambda attribute: attribute[0])
    whole = svg.text_of(figure)
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
    assert number.sub("", short) == number.sub("", whole)
    short_numbers, exact = (np.array(number.findall(text), dtype=float) for text in (short, whole))
    assert np.abs(short_numbers - exact).max() <= 0.01
    assert len(short) < len(whole)


def test_a_cloud_is_dense_and_a_few_points_are_not(ax):
    few = ax.scatter(range(10), range(10))
    cloud = ax.scatter(range(2000), range(2000))
    mesh = ax.pcolormesh([[1.0, 2.0]])
    assert [svg.is_dense(artist) for artist in (few, cloud, mesh)] == [False, True, True]
