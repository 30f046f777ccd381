"""A figure's table: its columns, the names of its series, the labels that panels share."""

import csv
import io

import pytest

from claimbook import figures
from claimbook.figures import data


def table(figure):
    return list(csv.DictReader(io.StringIO(data.csv_text(figure))))


def test_a_row_has_its_panel_title_and_axes():
    figure, (left, right) = figures.panels(1, 2)
    left.plot([1, 2, 3], [0.1, 0.25, 1 / 3], color="C0", label="exact")
    left.set(title="one", xlabel="n", ylabel="loss")
    right.axvline(7, color="C3")
    exact = [row for row in table(figure) if row["series"] == "exact"]
    assert [float(row["x"]) for row in exact] == [1, 2, 3]
    # eight significant digits
    assert [float(row["y"]) for row in exact] == pytest.approx([0.1, 0.25, 1 / 3], rel=1e-7)
    for row in exact:
        assert (row["panel"], row["title"]) == ("1", "one")
        assert (row["x_axis"], row["y_axis"], row["kind"]) == ("n", "loss", "line")
    crossing = next(row for row in table(figure) if row["kind"] == "vertical line")
    assert (crossing["x"], crossing["y"], crossing["panel"]) == ("7", "", "2")


def test_columns_that_no_row_uses_are_left_out():
    figure, (axes,) = figures.panels(1, 1)
    axes.axhline(2.5, color="C2", label="bound")
    head, row = data.csv_text(figure).splitlines()
    assert head == "panel,series,kind,y,colour"
    assert row == "1,bound,horizontal line,2.5,#029e73"


def test_a_series_without_a_name_takes_that_of_its_colour():
    figure, (left, right) = figures.panels(1, 2)
    left.plot([1], [1], color="C0", label="exact")
    left.plot([1], [2], "o", color="C0")
    right.plot([1], [3], "o", color="C0")
    right.plot([1], [4], "o", color="C1")
    right.plot([1], [5], "o", color="C2", label="_not in the legend")
    right.plot([1], [6], "o", color="C2", label="_another")
    right.plot([1], [7], "o", color="C2")
    names = {float(row["y"]): row["series"] for row in table(figure)}
    assert names == {
        1: "exact",
        2: "exact",
        3: "exact",
        4: "",
        5: "not in the legend",
        6: "another",
        7: "",
    }


def test_a_panel_takes_the_axis_label_of_its_row_or_column():
    _, axes = figures.panels(2, 2, sharex=True)
    for one in axes:
        one.plot([1, 2], [1, 2])
    axes[0].set_ylabel("upper")
    axes[2].set(ylabel="lower", xlabel="left")
    axes[3].set_xlabel("right")
    labels = [(data.axis_label(one, "x"), data.axis_label(one, "y")) for one in axes]
    assert labels == [("left", "upper"), ("right", "upper"), ("left", "lower"), ("right", "lower")]


def test_a_label_of_the_whole_figure_is_every_panels():
    figure, axes = figures.panels(1, 2)
    figure.supxlabel("time")
    assert [data.axis_label(one, "x") for one in axes] == ["time", "time"]
    assert [data.axis_label(one, "y") for one in axes] == ["", ""]
