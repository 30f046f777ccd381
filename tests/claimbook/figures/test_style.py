"""The palette and the ramp."""

import ast
import re

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import rgb_to_hsv, to_hex

from claimbook.figures import style
from claimbook.pages import chapter_path, read_chapter, toc_chapters
from claimbook.site.pictures.dark import contrast


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


QUANTITIES = {  # of the chapters whose names begin so
    "01 02 03 04": {"exact", "softmax", "linear", "signal", "noise", "affine", "relu", "cosine"},
    "05": {"exact", "ICL", "IDG", "dMMSE"},
    "06": {"exact", "dominant", "target", "other"},
}


def strings(source):
    """The constants that are words in a cell's code."""
    return {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize(
    ("chapter", "quantities"),
    [
        (name, quantities)
        for name in toc_chapters()
        for numbers, quantities in QUANTITIES.items()
        if name[:2] in numbers.split()
    ],
)
def test_quantities_that_meet_in_a_cell_have_colours_of_their_own(chapter, quantities):
    """In chapter 7 those of all chapters meet: there the style of a line tells them apart."""
    for cell in read_chapter(chapter_path(chapter)).cells:
        if cell.cell_type == "code" and "COLOURS[" in cell.source:
            met = strings(cell.source) & quantities
            assert len({style.COLOURS[name] for name in met}) == len(met), met


def test_every_quantity_is_held_to_that():
    assert set.union(*QUANTITIES.values()) == style.COLOURS.keys()
