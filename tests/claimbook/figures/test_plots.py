"""One call draws a curve in its colour and notes its numbers for the table."""

import csv
import io
import statistics
from typing import NamedTuple

import numpy as np
import pytest

from claimbook import figures
from claimbook.figures import table

SAMPLES = np.array([[1.0, 2.0], [2.0, 2.0], [6.0, 2.0]])  # three trials at two points, skewed


class Measured(NamedTuple):
    value: float
    half_width: float


@pytest.fixture
def ax():
    return figures.panels(1, 1)[1][0]


def rows(ax):
    """The table's rows, empty columns left out of each."""
    read = csv.DictReader(io.StringIO(table.csv_text(ax.get_figure())))
    return [{key: value for key, value in row.items() if value} for row in read]


def numbers(ax, *names):
    return [tuple(float(row[name]) for name in names) for row in rows(ax)]


def test_a_curve_has_the_colour_of_its_role_and_its_numbers_in_the_table(ax):
    figures.curve(ax, [1, 2], [3.0, float("nan")], "loss", "target", ls="--")
    (line,) = ax.lines
    assert (line.get_color(), line.get_linestyle()) == (figures.COLOURS["target"], "--")
    common = {"panel": "1", "series": "loss", "kind": "line", "colour": "#d55e00"}
    assert rows(ax) == [common | {"x": "1", "y": "3"}, common | {"x": "2"}]


def test_a_colour_is_its_own(ax):
    figures.curve(ax, [1], [1], "loss", (1.0, 0.5, 0.0))
    assert rows(ax)[0]["colour"] == "#ff8000"


def test_a_band_is_the_mean_and_its_standard_deviation(ax):
    figures.band(ax, [0, 1], SAMPLES, "loss", "exact")
    mean, spread = statistics.mean(SAMPLES[:, 0]), statistics.stdev(SAMPLES[:, 0])
    line, _, low, _ = rows(ax)
    assert (line["kind"], float(line["y"])) == ("line", mean)
    assert low["kind"] == "band"
    ends = [float(low[name]) for name in ("y_low", "y_high")]
    assert ends == pytest.approx([mean - spread, mean + spread])
    vertices = ax.collections[0].get_paths()[0].vertices
    assert vertices[:, 1].max() == pytest.approx(mean + spread)


def test_a_band_may_be_quartiles(ax):
    figures.band(ax, [0, 1], SAMPLES, "loss", "exact", spread="quartiles")
    line, _, low, _ = rows(ax)
    assert [float(line["y"]), float(low["y_low"]), float(low["y_high"])] == [2.0, 1.5, 4.0]


def test_points_have_the_bars_of_their_estimates(ax):
    figures.points(ax, [1, 2], [Measured(3.0, 0.5), Measured(4.0, 1.0)], "loss", "exact")
    assert numbers(ax, "x", "y", "y_low", "y_high") == [(1, 3, 2.5, 3.5), (2, 4, 3, 5)]
    assert {row["kind"] for row in rows(ax)} == {"points with bars"}
    bar = ax.containers[0].lines[2][0].get_segments()[0]
    assert bar[:, 1].tolist() == [2.5, 3.5]


def test_bars_may_be_lopsided_and_lie_along_x(ax):
    figures.points(ax, [1.0], [3.0], "loss", "exact", error=[[0.5], [2.0]])
    figures.points(ax, Measured(2.0, 0.25), 1.0, "place", "exact")
    upright, flat = rows(ax)
    assert (upright["y_low"], upright["y_high"]) == ("2.5", "5")
    assert (flat["x"], flat["x_low"], flat["x_high"], flat["y"]) == ("2", "1.75", "2.25", "1")


def test_a_table_of_points_has_a_row_for_each_place(ax):
    figures.points(ax, [1, 2], np.array([[3, 4, 5], [6, 7, 8]]), "runs", "exact")
    assert numbers(ax, "x", "y") == [(1, 3), (2, 6), (1, 4), (2, 7), (1, 5), (2, 8)]
    assert {row["kind"] for row in rows(ax)} == {"points"}


def test_lines_along_the_panel_have_one_number(ax):
    figures.horizontal(ax, 0.5, "chance", "exact")
    figures.vertical(ax, 3, "count", "exact", ymax=0.1)
    across, up = rows(ax)
    assert (across["kind"], across["y"], "x" in across) == ("horizontal line", "0.5", False)
    assert (up["kind"], up["x"], "y" in up) == ("vertical line", "3", False)


def test_bars_stand_on_one_another_and_have_words(ax):
    figures.bars(ax, ["a", "b"], [1.0, -2.0], "gain", "exact", bottom=[0.0, 5.0])
    first, second = rows(ax)
    assert (first["x_name"], first["y_low"], first["y_high"]) == ("a", "0", "1")
    assert (second["x_name"], second["y_low"], second["y_high"]) == ("b", "3", "5")


def test_a_map_has_a_value_at_each_place(ax):
    figures.heat(ax, [1, 2, 3], [10, 20], [[1, 2, 3], [4, 5, 6]], "weight", vmin=0)
    expected = [(1, 10, 1), (2, 10, 2), (3, 10, 3), (1, 20, 4), (2, 20, 5), (3, 20, 6)]
    assert numbers(ax, "x", "y", "value") == expected


def test_contours_have_their_level(ax):
    x = np.linspace(-1, 1, 9)
    figures.contours(ax, x, x, x[None] + 0 * x[:, None], "equal", [0.25])
    assert {(round(x, 6), value) for x, value in numbers(ax, "x", "value")} == {(0.25, 0.25)}


def test_areas_boxes_and_intervals_have_their_edges(ax):
    figures.between(ax, [0, 1], [2, 2], [1, 3], "area", "exact")
    figures.shade(ax, -1, 1, "stretch", "exact")
    figures.box(ax, 1, 2, 3, 4, "word", "token", "exact")
    figures.intervals(ax, [5], [1], [2], "range", "exact")
    area, _, stretch, box, interval = rows(ax)
    assert (area["y_low"], area["y_high"]) == ("1", "2")
    assert (stretch["x_low"], stretch["x_high"], "y_low" in stretch) == ("-1", "1", False)
    assert [box[name] for name in ("x_low", "x_high", "y_low", "y_high")] == ["1", "4", "2", "6"]
    assert [interval[name] for name in ("x", "y_low", "y_high")] == ["5", "1", "2"]


def test_swept_bands_are_named_by_their_values(ax):
    figures.sweep(ax, [0, 1], [0.5, 2.0], [SAMPLES, SAMPLES + 1], "L")
    assert list(dict.fromkeys(row["series"] for row in rows(ax))) == ["L = 0.5", "L = 2"]
    assert [line.get_color() for line in ax.lines] == figures.ramp(2)


def test_an_axis_has_a_name_a_scale_and_ticks(ax):
    figures.axis(ax, x=("n", "log", [0.5, 1, 20]), y="loss", xlim=(0.2, 30))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.5", "1", "20"]
    assert not ax.get_xticks(minor=True).size
    figures.curve(ax, [1], [2], "one", "exact")
    assert (rows(ax)[0]["x_axis"], rows(ax)[0]["y_axis"]) == ("n", "loss")


def test_ticks_may_be_words_or_powers_of_ten(ax):
    figures.axis(ax, x=("n", "log", {0.5: "half"}), y=("loss", "log", [1e-6, 1.0]))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["half"]
    assert "10^{-6}" in ax.get_yticklabels()[0].get_text()


def test_a_name_that_panels_share_is_written_once_and_told_of_all():
    figure, axes = figures.panels(2, 2, sharex=True, sharey="row")
    figures.axis(axes, x="n", y="loss")
    for ax in axes:
        figures.curve(ax, [1], [1], "one", "exact")
    assert [ax.get_xlabel() for ax in axes] == ["", "", "n", "n"]
    assert [ax.get_ylabel() for ax in axes] == ["loss", "", "loss", ""]
    read = list(csv.DictReader(io.StringIO(table.csv_text(figure))))
    assert {(row["x_axis"], row["y_axis"]) for row in read} == {("n", "loss")}


def test_a_legend_has_each_label_once():
    figure, (left, right) = figures.panels(1, 2)
    for ax in (left, right):
        figures.curve(ax, [1], [1], "one", "exact", label="exact")
    figures.curve(right, [1], [2], "two", "exact", label="trained")
    figures.legend(figure)
    (found,) = figure.legends
    assert [text.get_text() for text in found.get_texts()] == ["exact", "trained"]


def test_a_table_leaves_out_what_nothing_has_and_colour_bars():
    figure, (ax,) = figures.panels(1, 1)
    mesh = figures.heat(ax, [1], [1], [[2.0]], "a map\nof weights")
    figure.colorbar(mesh)
    text = table.csv_text(figure)
    assert text.splitlines() == ["panel,series,kind,x,y,value", "1,a map of weights,map,1,1,2"]


def test_a_figure_without_series_has_the_columns_alone():
    figure, _ = figures.panels(1, 1)
    assert table.csv_text(figure).strip() in ("", '""')


def test_intervals_are_shaded_and_named(ax):
    figures.shade_intervals(ax, [0, 1, 3], ["I", "II"])
    assert [text.get_position()[0] for text in ax.texts] == [0.5, 2.0]
    top = ax.get_window_extent().y1
    assert all(top < text.get_window_extent().y0 < top + 10 for text in ax.texts)
    assert numbers(ax, "x_low", "x_high") == [(0, 1), (1, 3)]
    assert ax.get_xlim() == (0, 3)


def test_a_cloud_has_sizes_or_values(ax):
    figures.cloud(ax, [1, 2], [3, 4], "examples", "target", s=[5, 6])
    figures.cloud(ax, [1], [2], "weights", "target", values=[0.5], cmap="coolwarm")
    plain, _, coloured = rows(ax)
    assert (plain["kind"], plain["colour"], "value" in plain) == ("points", "#d55e00", False)
    assert (coloured["value"], "colour" in coloured) == ("0.5", False)


def test_a_remark_stands_in_its_corner(ax):
    figures.remark(ax, "upper left", "first")
    figures.remark(ax, "lower right", "last")
    first, last = (text.get_window_extent() for text in ax.texts)
    middle = ax.get_window_extent()
    assert first.x1 < (middle.x0 + middle.x1) / 2 < last.x0
    assert last.y1 < (middle.y0 + middle.y1) / 2 < first.y0
