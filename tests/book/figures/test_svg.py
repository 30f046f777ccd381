"""A figure as SVG: the same bytes each time, at the width that it states."""

from iclutils.book import figures
from iclutils.book.figures.svg import as_svg


def drawing():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([1, 2], [1, 2], label="a")
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


def test_maps_are_pictures_inside_it():
    figure, (axes,) = figures.panels(1, 1)
    axes.pcolormesh([[1.0, 2.0], [3.0, 4.0]])
    text, _ = as_svg(figure)
    assert "<image" in text
