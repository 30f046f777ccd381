"""The palette and the ramp, on a white page and as the dark theme shows them."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv, to_hex, to_rgb

from claimbook.figures import style
from claimbook.files import ROOT

LOOKS = ROOT / "book" / "_static"
LEAST = 3.5  # contrast of a line with its ground; WCAG asks for 3
# what the standard (Filter Effects) says of hue-rotate(180deg): twice the luminance less the colour
TURN = 2 * np.array([[0.213, 0.715, 0.072]] * 3) - np.eye(3)


def luminance(colour):
    colour = np.asarray(colour)
    parts = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return parts @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_are_the_palette_of_the_style_and_a_ramp_goes_from_light_to_dark():
    assert set(style.COLOURS.values()) <= {*style.CYCLE, style.BLACK}
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [to_hex(colour) for colour in cycle] == style.CYCLE
    brightness = [rgb_to_hsv(colour)[2] for colour in style.ramp(5)]
    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) == 5


def in_the_dark(colour):
    """Return the colour after the filter that the style names."""
    sheet = (LOOKS / "book.css").read_text(encoding="utf8")
    amount, degrees = re.search(
        r"img\.drawing \{ filter: invert\(([.\d]+)\) hue-rotate\((\d+)deg\); \}", sheet
    ).groups()
    assert degrees == "180"
    inverted = float(amount) + (1 - 2 * float(amount)) * np.array(to_rgb(colour))
    return (TURN @ inverted).clip(0, 1)


@pytest.mark.parametrize("colour", [*style.CYCLE, style.BLACK])
def test_a_line_stands_out_from_the_page_by_day_and_by_night(colour):
    """WCAG 2.2, 1.4.11: graphics need a contrast of 3 with what they stand on."""
    assert contrast(to_rgb(colour), to_rgb("white")) >= 3
    assert contrast(in_the_dark(colour), in_the_dark("white")) >= LEAST


def test_the_ground_is_nearly_that_of_the_pages_and_explorers_have_the_book_s_colours():
    sheet = (LOOKS / "type.css").read_text(encoding="utf8")
    ground = re.search(r'html\[data-theme="dark"\] \{ --pst-color-background: (#\w+);', sheet)[1]
    assert contrast(in_the_dark("white"), to_rgb(ground)) < 1.1
    sheet = (LOOKS / "explorers.css").read_text(encoding="utf8")
    light, night = re.findall(r"(?::root|html\[data-theme=\"dark\"\]) \{([^}]*)\}", sheet)[:2]
    by_day, by_night = (dict(re.findall(r"--x-(\w+): (#\w+)", part)) for part in (light, night))
    assert by_day == {name: style.COLOURS[name] for name in by_day}
    for quantity, colour in (by_day | by_night).items():
        assert contrast(to_rgb(colour), to_rgb(ground)) > 4.5, quantity
