"""What is too small, hidden or cut off is named; what can be read is not."""

import pytest

from claimbook import figures
from claimbook.figures import legibility


def test_the_books_style_can_be_read_on_a_phone(drawing):
    found = legibility.lettering(drawing())
    assert found["smallest"] >= legibility.SMALLEST
    assert found["width"] == figures.WIDTH
    assert found["faults"] == []


@pytest.mark.parametrize(("points", "readable"), [(5, False), (6, False), (8.5, True)])
def test_lettering_is_judged_by_its_size_on_a_phone(drawing, points, readable):
    """A figure of full width is shown at about two thirds there, and a point is 4/3 pixels."""
    figure = drawing()
    figure.axes[0].text(1.5, 1.2, "small", fontsize=points)
    assert bool(legibility.lettering(figure)["smallest"] >= legibility.SMALLEST) == readable


def test_what_cannot_be_read_is_named():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([0, 1], [0, 1], label="diagonal")
    axes.errorbar([0.9], [0.5], [0.6], fmt="none", color="black", label="_bar")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.legend(loc="upper right")
    axes.text(0.2, 0.2, "one over", fontsize=5)
    axes.text(0.21, 0.2, "another")
    axes.text(0.9, 0.3, "runs out of the picture").set_in_layout(False)
    found = legibility.lettering(figure)
    # given with two decimals
    assert found["smallest"] == pytest.approx(5 * 350 / (72 * figures.WIDTH), abs=0.01)
    assert set(found["faults"]) == {
        "'one over' and 'another' overlap",
        "'runs out of the picture' is cut off",
        "panel 1: the legend covers diagonal",
        "panel 1: the legend covers a line or bar",
    }


def test_ticks_out_of_view_are_no_words():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([0, 10], [0, 1])
    axes.set_xticks([0, 5, 10])
    axes.set_xlim(4, 6)
    figure.draw_without_rendering()
    seen = {text.get_text() for text in legibility.words(figure)}
    assert "5" in seen
    assert "10" not in seen


def test_a_cloud_is_dense_and_a_few_points_are_not():
    _, (axes,) = figures.panels(1, 1)
    few = axes.scatter(range(10), range(10))
    cloud = axes.scatter(range(2000), range(2000))
    mesh = axes.pcolormesh([[1.0, 2.0]])
    assert [legibility.dense(artist) for artist in (few, cloud, mesh)] == [False, True, True]
