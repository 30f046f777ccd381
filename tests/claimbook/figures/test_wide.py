"""A figure of several rows, side by side on a wide screen: the same panels, with named axes."""

import re

import pytest
from matplotlib.colorbar import Colorbar

from claimbook import figures
from claimbook.figures import data, wide
from claimbook.figures.svg import as_svg


def grid(rows, columns, **shared):
    """Panels with a line, a title each, and names where a chapter writes them."""
    figure, axes = figures.panels(rows, columns, height=1.6, **shared)
    for i, panel in enumerate(axes):
        panel.plot([1, 2], [1, 2 + i], label="a")
        panel.set_title(f"t{i}")
    for panel in axes[::columns]:
        panel.set_ylabel("loss")
    for panel in axes[-columns:]:
        panel.set_xlabel("n")
    return figure, axes


def places(axes):
    """Row and column of each panel."""
    found = [panel.get_subplotspec() for panel in axes]
    return [(place.rowspan.start, place.colspan.start) for place in found]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (2, 2, [(0, 0), (0, 1), (0, 2), (0, 3)]),
        (3, 1, [(0, 0), (0, 1), (0, 2)]),
        (3, 2, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]),
    ],
)
def test_rows_become_columns(rows, columns, expected):
    figure, axes = grid(rows, columns)
    assert wide.lay_wide(figure)
    assert places(axes) == expected
    assert figures.WIDTH < figure.get_figwidth() <= wide.WIDEST


@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (2, 2), (3, 2)])
def test_panels_keep_their_height(rows, columns):
    """But for the names of axes, of which fewer stand under one another."""
    figure, axes = grid(rows, columns)

    def heights():
        figure.draw_without_rendering()
        return [panel.get_window_extent().height for panel in axes]

    before = heights()
    assert wide.lay_wide(figure)
    for old, new in zip(before, heights(), strict=True):
        assert 0.8 < new / old < 1.4


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (1, 3), (2, 4)])
def test_what_is_wide_stays(rows, columns):
    figure, _ = grid(rows, columns)
    assert not wide.lay_wide(figure)


def test_a_drawing_without_axes_stays():
    figure, axes = grid(2, 1)
    axes[0].axis("off")
    assert not wide.lay_wide(figure)
    assert "wide" not in as_svg(figure)[1]


def test_every_axis_is_named_by_itself_or_by_the_panel_that_shares_it():
    figure, axes = grid(2, 2, sharex=True, sharey=True)
    wide.lay_wide(figure)
    assert [panel.get_xlabel() for panel in axes] == ["n"] * 4
    assert [panel.get_ylabel() for panel in axes] == ["loss", "", "", ""]
    figure.draw_without_rendering()
    numbers = [[tick.label1.get_visible() for tick in panel.xaxis.get_major_ticks()]
               for panel in axes]
    assert all(all(shown) for shown in numbers)
    figure, axes = grid(3, 2, sharex=True)
    wide.lay_wide(figure)
    assert [panel.get_xlabel() for panel in axes] == ["", "n"] * 3
    assert [panel.get_ylabel() for panel in axes[::2]] == ["loss"] * 3


def test_a_name_of_the_whole_figure_is_not_repeated():
    figure, axes = grid(2, 2)
    for panel in axes:
        panel.set_xlabel("")
    figure.supxlabel("feature")
    wide.lay_wide(figure)
    assert not any(panel.get_xlabel() for panel in axes)


def test_a_colour_bar_stays_beside_the_panels():
    figure, axes = figures.panels(2, 2, sharex=True, sharey=True)
    for panel in axes:
        image = panel.imshow([[0.0, 1.0], [1.0, 0.0]])
    bar = figure.colorbar(image, ax=axes)
    assert isinstance(bar, Colorbar)
    wide.lay_wide(figure)
    figure.draw_without_rendering()
    assert bar.ax.get_position().x0 > max(panel.get_position().x1 for panel in axes)


def test_the_table_and_the_drawing_for_a_phone_are_those_of_before():
    figure, _ = grid(2, 2)
    table = data.csv_text(figure)
    narrow, with_it = as_svg(figure)
    assert with_it["csv"] == table
    assert f'width="{72 * figures.WIDTH:.1f}pt"' in narrow
    width = float(re.search(r'width="([\d.]+)pt"', with_it["wide"])[1])
    assert width == pytest.approx(72 * wide.WIDEST)
    assert with_it["lettering"]["faults"] == []
    assert with_it["lettering"]["smallest"] >= 7.5


def test_what_overlaps_side_by_side_is_said():
    figure, axes = grid(2, 1)
    for panel in axes:
        panel.set_title("a title as long as two panels are wide, and longer still than that")
    faults = as_svg(figure)[1]["lettering"]["faults"]
    assert any(fault.startswith("side by side: ") for fault in faults)
