"""The palette and the ramp."""

import re

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import rgb_to_hsv, to_hex

from iclutils.book.figures import style
from iclutils.book.site.dark import contrast


def test_colours_are_the_palette_of_the_style():
    palette = {*style.CYCLE, style.BLACK}
    assert set(style.COLOURS.values()) <= palette
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in palette)
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [to_hex(colour) for colour in cycle] == style.CYCLE


@pytest.mark.parametrize("colour", [*style.CYCLE, style.BLACK])
def test_a_line_stands_out_from_the_page(colour):
    """WCAG 2.2, 1.4.11: graphics need a contrast of 3 with what they stand on."""
    assert contrast(colour, "#ffffff") >= 3


def test_a_ramp_goes_from_light_to_dark():
    brightness = [rgb_to_hsv(colour)[2] for colour in style.ramp(5)]
    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) == 5
