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
X = np.linspace(-1, 1, 9)


class Measured(NamedTuple):
    value: float
    half_width: float


def rows(ax):
    """Return the table's rows, empty columns left out of each."""
    read = csv.DictReader(io.StringIO(table.csv_text(ax.get_figure())))
    return [{key: value for key, value in row.items() if value} for row in read]


def numbers(ax, *names):
    """Return the numbers of some columns, a tuple a row; None where a row has none."""
    return [tuple(float(row[name]) if name in row else None for name in names) for row in rows(ax)]


def test_a_curve_has_the_colour_of_its_role_and_its_numbers_in_the_table(ax):
    figures.curve(ax, [1, 2], [3.0, float("nan")], "loss", "target", ls="--")
    (line,) = ax.lines
    assert (line.get_color(), line.get_linestyle()) == (figures.COLOURS["target"], "--")
    common = {"panel": "1", "series": "loss", "kind": "line", "colour": "#d55e00"}
    assert rows(ax) == [common | {"x": "1", "y": "3"}, common | {"x": "2"}]


ESTIMATES = [Measured(3.0, 0.5), Measured(4.0, 1.0)]
AB = ["a", "b"]
RUNS = np.array([[3, 4], [6, 7]])  # a table of points has a row for each place
DRAWINGS = [  # what draws, its numbers and options; its kind and some columns of the table
    ("points", ([1, 2], ESTIMATES), {}, "points with bars: y_low y_high", [(2.5, 3.5), (3, 5)]),
    ("points", ([1], [3]), {"error": [[0.5], [2]]}, "points with bars: y_low y_high", [(2.5, 5)]),
    ("points", (ESTIMATES[0], 1), {}, "points with bars: x x_low x_high y", [(3, 2.5, 3.5, 1)]),
    ("points", ([1, 2], RUNS), {}, "points: x y", [(1, 3), (2, 6), (1, 4), (2, 7)]),
    ("horizontal", (0.5,), {}, "horizontal line: x y", [(None, 0.5)]),
    ("vertical", (3,), {"ymax": 0.1}, "vertical line: x y", [(3, None)]),
    ("bars", (AB, [1, -2]), {"bottom": [0, 5]}, "bar: x y_low y_high", [(0, 0, 1), (1, 3, 5)]),
    ("between", ([0, 1], [2, 2], [1, 3]), {}, "band: x y_low y_high", [(0, 1, 2), (1, 2, 3)]),
    ("shade", (-1, 1), {}, "span: x_low x_high y_low", [(-1, 1, None)]),
    ("box", (1, 2, 3, 4, "word"), {}, "span: x_low x_high y_low y_high", [(1, 4, 2, 6)]),
    ("intervals", ([5], [1], [2]), {}, "interval: x y_low y_high", [(5, 1, 2)]),
    ("cloud", ([1, 2], [3, 4]), {"s": [5, 6]}, "points: x y value", [(1, 3, None), (2, 4, None)]),
    ("cloud", ([1], [2]), {"values": [0.5]}, "points: x y value", [(1, 2, 0.5)]),
]


@pytest.mark.parametrize(("name", "data", "options", "columns", "expected"), DRAWINGS)
def test_what_is_drawn_is_in_the_table(ax, name, data, options, columns, expected):
    getattr(figures, name)(ax, *data, "series", "exact", **options)
    kind, names = columns.split(": ")
    assert {(row["kind"], row["series"]) for row in rows(ax)} == {(kind, "series")}
    assert numbers(ax, *names.split()) == expected


def test_what_is_drawn_is_what_the_table_has(ax):
    figures.points(ax, [1], [Measured(3.0, 0.5)], "loss", (1.0, 0.5, 0.0))
    (bar,) = ax.containers[0].lines[2][0].get_segments()
    assert bar[:, 1].tolist() == [2.5, 3.5]
    figures.bars(ax, ["a", "b"], [1, 2], "gain", "exact")
    assert [row.get("x_name") for row in rows(ax)] == [None, "a", "b"]
    figures.cloud(ax, [1], [2], "examples", "target", s=5)
    figures.cloud(ax, [1], [2], "weights", "target", values=[0.5])
    colours = [row.get("colour") for row in rows(ax)]
    assert (colours[0], colours[-2:]) == ("#ff8000", ["#d55e00", None])


@pytest.mark.parametrize(
    ("spread", "middle", "low", "high"),
    [
        ("sd", 3.0, 3 - statistics.stdev(SAMPLES[:, 0]), 3 + statistics.stdev(SAMPLES[:, 0])),
        ("quartiles", 2.0, 1.5, 4.0),
    ],
)
def test_a_band_is_a_middle_and_its_spread(ax, spread, middle, low, high):
    figures.band(ax, [0, 1], SAMPLES, "loss", "exact", spread=spread)
    line, _, edges, _ = numbers(ax, "y", "y_low", "y_high")
    assert [row["kind"] for row in rows(ax)] == ["line", "line", "band", "band"]
    assert line[0] == middle
    assert edges[1:] == pytest.approx((low, high))
    vertices = ax.collections[0].get_paths()[0].vertices
    assert vertices[:, 1].max() == pytest.approx(high)


def test_a_map_has_a_value_at_each_place_and_contours_have_their_level(ax):
    figures.heat(ax, [1, 2, 3], [10, 20], [[1, 2, 3], [4, 5, 6]], "weight", vmin=0)
    expected = [(1, 10, 1), (2, 10, 2), (3, 10, 3), (1, 20, 4), (2, 20, 5), (3, 20, 6)]
    assert numbers(ax, "x", "y", "value") == expected
    figures.contours(ax, X, X, X[None] + 0 * X[:, None], "equal", [0.25])
    level = {(round(x, 6), value) for x, value in numbers(ax, "x", "value")[6:]}
    assert level == {(0.25, 0.25)}


def test_swept_bands_are_named_by_their_values(ax):
    figures.sweep(ax, [0, 1], [0.5, 2.0], [SAMPLES, SAMPLES + 1], "L")
    assert list(dict.fromkeys(row["series"] for row in rows(ax))) == ["L = 0.5", "L = 2"]
    assert [line.get_color() for line in ax.lines] == figures.ramp(2)


def test_an_axis_has_a_name_a_scale_and_ticks_in_numbers_words_or_powers(ax):
    figures.axis(ax, x=("n", "log", [0.5, 1, 20]), y=("loss", "log", [1e-6, 1.0]), xlim=(0.2, 30))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.5", "1", "20"]
    assert not ax.get_xticks(minor=True).size
    assert "10^{-6}" in ax.get_yticklabels()[0].get_text()
    figures.axis(ax, x=("n", "log", {0.5: "half"}))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["half"]
    figures.curve(ax, [1], [2], "one", "exact")
    assert (rows(ax)[0]["x_axis"], rows(ax)[0]["y_axis"]) == ("n", "loss")


def test_a_name_that_panels_share_is_written_once_and_noted_for_all():
    _, axes = figures.panels(2, 2, sharex=True, sharey="row")
    figures.axis(axes, x="n", y="loss")
    for ax in axes:
        figures.curve(ax, [1], [1], "one", "exact")
    assert [ax.get_xlabel() for ax in axes] == ["", "", "n", "n"]
    assert [ax.get_ylabel() for ax in axes] == ["loss", "", "loss", ""]
    assert {(row["panel"], row["x_axis"], row["y_axis"]) for row in rows(axes[0])} == {
        (str(panel), "n", "loss") for panel in range(1, 5)
    }


def test_a_table_leaves_out_what_nothing_has_and_colour_bars(ax):
    assert table.csv_text(ax.get_figure()).strip() in ("", '""'), "a figure without series"
    ax.get_figure().colorbar(figures.heat(ax, [1], [1], [[2.0]], "a map\nof weights"))
    text = table.csv_text(ax.get_figure())
    assert text.splitlines() == ["panel,series,kind,x,y,value", "1,a map of weights,map,1,1,2"]


def test_intervals_are_shaded_and_named(ax):
    figures.shade_intervals(ax, [0, 1, 3], ["I", "II"])
    assert [text.get_position()[0] for text in ax.texts] == [0.5, 2.0]
    top = ax.get_window_extent().y1
    assert all(top < text.get_window_extent().y0 < top + 10 for text in ax.texts)
    assert numbers(ax, "x_low", "x_high") == [(0, 1), (1, 3)]
    assert ax.get_xlim() == (0, 3)
