"""The palette and the ramp."""

import re

import matplotlib.pyplot as plt
import pytest
import seaborn as sns
from matplotlib.colors import rgb_to_hsv

from iclutils.book.figures import style


def test_colours_are_the_palette_of_the_style():
    palette = {*sns.color_palette("colorblind").as_hex(), style.BLACK}
    assert set(style.COLOURS.values()) <= palette
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in style.COLOURS.values())
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"][0] == pytest.approx(
        sns.color_palette("colorblind")[0]
    )


def test_a_ramp_goes_from_light_to_dark():
    brightness = [rgb_to_hsv(colour)[2] for colour in style.ramp(5)]
    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) == 5
