"""What is too small, covered or cut off is named; what can be read is not."""

import pytest

from claimbook import figures
from claimbook.figures import svg


@pytest.mark.parametrize(("points", "readable"), [(5, False), (6, False), (8.5, True)])
def test_lettering_is_judged_by_its_size_on_a_phone(drawing, points, readable):
    """A figure of full width is shown at about two thirds there, and a point is 4/3 pixels."""
    figure = drawing()
    figure.axes[0].text(1.5, 1.2, "small", fontsize=points)
    assert bool(svg.lettering(figure)["smallest"] >= svg.SMALLEST) == readable


def test_what_cannot_be_read_is_named():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([0, 1], [0, 1], label="diagonal")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.text(0.2, 0.2, "one over", fontsize=5)
    axes.text(0.21, 0.2, "another")
    axes.text(0.9, 0.3, "runs out of the picture").set_in_layout(False)
    reading = svg.lettering(figure)
    # given with two decimals
    assert reading["smallest"] == pytest.approx(5 * 350 / (72 * figures.WIDTH), abs=0.01)
    assert set(reading["faults"]) == {
        "'one over' and 'another' overlap",
        "'runs out of the picture' is cut off",
    }


def test_ticks_out_of_view_are_no_words():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([0, 10], [0, 1])
    axes.set_xticks([0, 5, 10])
    axes.set_xlim(4, 6)
    figure.draw_without_rendering()
    seen = {text.get_text() for text in svg.words(figure)}
    assert "5" in seen
    assert "10" not in seen
