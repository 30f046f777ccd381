"""The dark theme's drawings: every colour stands out from the ground as it did from white."""

import re
from base64 import b64decode, b64encode
from io import BytesIO
from itertools import product

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from claimbook import figures
from claimbook.figures.svg import as_svg
from claimbook.files import ROOT
from claimbook.site.pictures import dark

BIT = 1.06  # rounding to 8 bits moves the contrast of a dark colour by up to so much
TONE = re.compile(r"\b(?:black|white|dark|light|pale|bright)(?:er|est)?\b", re.IGNORECASE)


def grid():
    """Colours from all over the cube."""
    steps = (0, 51, 102, 153, 204, 255)
    return [to_hex(np.array(one) / 255) for one in product(steps, repeat=3)]


def test_the_ground_is_that_of_the_pages():
    style = (ROOT / "book" / "_static" / "type.css").read_text(encoding="utf8")
    assert f'html[data-theme="dark"] {{ --pst-color-background: {dark.GROUND};' in style


def test_contrast_is_that_of_wcag():
    assert dark.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert dark.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    # of each part of a colour: 1.05 / (0.05 + its share of what is bright)
    for colour, share in (("#ff0000", 0.2126), ("#00ff00", 0.7152), ("#0000ff", 0.0722)):
        assert dark.contrast(colour, "#ffffff") == pytest.approx(1.05 / (0.05 + share))


def test_a_partner_has_the_contrast_that_the_table_says():
    wanted = np.log(dark.IN_LIGHT), np.log(dark.IN_DARK)
    for light, found in dark.partners_of(grid()).items():
        in_dark = np.exp(np.interp(np.log(dark.contrast(light, "#ffffff")), *wanted))
        assert 1 / BIT < dark.contrast(found, dark.GROUND) / in_dark < BIT, light


def test_what_is_read_in_light_is_read_in_dark():
    """WCAG asks for 3 of lines and for 4.5 of words; washes stay washes."""
    for light, found in dark.partners_of(grid()).items():
        before = dark.contrast(light, "#ffffff")
        after = dark.contrast(found, dark.GROUND)
        assert after >= min(before, 4.5) / BIT
        assert after >= 4.5 or before < 2.4
        assert after < 2 or before > 1.6


def test_the_ends_are_the_ground_and_nearly_white():
    found = dark.partners_of(["#ffffff", "#000000"])
    assert found["#ffffff"] == dark.GROUND
    assert dark.contrast(found["#000000"], dark.GROUND) > 15


def test_a_ramp_stays_a_ramp():
    ramp = [to_hex(colour) for colour in figures.ramp(7)]
    found = dark.partners_of(ramp)
    contrasts = [dark.contrast(found[one], dark.GROUND) for one in ramp]
    assert contrasts == sorted(contrasts)


def test_a_colour_keeps_its_hue():
    for light, found in dark.partners_of(["#0173b2", "#c08000", "#029e73", "#d55e00"]).items():
        assert strongest_part(light) == strongest_part(found)


def strongest_part(colour):
    """Which of red, green and blue is the most."""
    parts = [colour[1:3], colour[3:5], colour[5:7]]
    return parts.index(max(parts))


def test_a_drawing_is_the_same_in_other_colours():
    """Lines, words and the picture of a map alike; what has no colour of its own is black."""
    figure, (left, right) = figures.panels(1, 2)
    left.plot([1, 2], [1, 2], color="black", label="a")
    left.text(1, 1, "word", color="black")
    right.pcolormesh([[0.0, 1.0]], cmap="gray")
    svg, _ = as_svg(figure)
    found = dark.dark_svg(svg)
    assert f'<svg fill="{dark.partners_of(["#000000"])["#000000"]}"' in found
    assert "#000000" not in found
    assert "#ffffff" not in re.sub("base64,[^\"]*", "", found)
    assert found.count("<path") == svg.count("<path")
    before, after = (re.search(r"base64,\s*([^\"]+)", text)[1] for text in (svg, found))
    assert before != after


def test_a_picture_inside_keeps_its_transparency():
    out = BytesIO()
    pixels = np.array([[[255, 255, 255, 255], [0, 0, 0, 7]]], dtype=np.uint8)
    Image.fromarray(pixels).save(out, format="png")
    found = dark.dark_png(b64encode(out.getvalue()).decode())
    white, black = np.asarray(Image.open(BytesIO(b64decode(found))))[0]
    assert tuple(white) == (0x14, 0x18, 0x1E, 255)
    assert black[3] == 7
    assert min(black[:3]) > 200


def test_no_caption_speaks_of_a_tone():
    """What is black on white is white on black: captions name hues, places or names."""
    found = []
    for path in sorted((ROOT / "book" / "chapters").glob("*.md")):
        text = path.read_text(encoding="utf8")
        captions = re.findall(r"^ +caption: \|\n((?: {6}.*\n)+)", text, re.MULTILINE)
        assert len(captions) == text.count("caption: |"), f"{path.name}: not every caption was read"
        found += [(path.stem, *TONE.findall(caption)) for caption in captions]
    toned = [one for one in found if len(one) > 1]
    assert not toned, f"these captions speak of a tone, which changes in the dark: {toned}"


def test_the_explorers_have_the_colours_of_dark_figures():
    style = (ROOT / "book" / "_static" / "explorers.css").read_text(encoding="utf8")
    light, night = re.findall(r"(?::root|html\[data-theme=\"dark\"\]) \{([^}]*)\}", style)[:2]
    by_day, by_night = (dict(re.findall(r"--x-(\w+): (#\w+)", part)) for part in (light, night))
    partners = dark.partners_of(sorted(set(by_day.values())))
    for quantity, colour in by_day.items():
        shown = by_night.get(quantity, colour)
        assert shown in (colour, partners[colour]), quantity
        assert dark.contrast(shown, dark.GROUND) > 4.5, quantity
