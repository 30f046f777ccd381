"""A figure's table against what was drawn, its lettering against what is too small or hidden, the same bytes each time."""

import csv
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from iclutils import figure_data, figures, legibility


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        figures.use_style()
        yield
    plt.close("all")


def table(figure):
    return list(csv.DictReader(io.StringIO(figure_data.csv_text(figure))))


def series(figure, name, kind=None):
    return [row for row in table(figure) if row["series"] == name and kind in (None, row["kind"])]


def column(rows, name):
    return [float(row[name]) for row in rows]


def test_lines_points_and_reference_lines_are_read_back():
    figure, (left, right) = figures.panels(1, 2)
    left.plot([1, 2, 3], [0.1, 0.25, 1 / 3], color="C0", label="exact")
    left.plot([1, 3], [4, 5], "o", color="C1", label="_trained")
    right.axhline(2.5, color="C2", label="bound")
    right.axvline(7, color="C3")
    left.set(title="one", xlabel="n", ylabel="loss")
    found = series(figure, "exact")
    assert column(found, "x") == [1, 2, 3]
    assert column(found, "y") == pytest.approx([0.1, 0.25, 1 / 3], rel=1e-7)  # eight digits
    head = ("panel", "title", "x_axis", "y_axis", "kind")
    assert {tuple(row[name] for name in head) for row in found} == {("1", "one", "n", "loss", "line")}
    assert column(series(figure, "trained", "points"), "y") == [4, 5]
    bound, = series(figure, "bound")
    assert (bound["kind"], bound["x"], bound["y"]) == ("horizontal line", "", "2.5")
    crossing = next(row for row in table(figure) if row["kind"] == "vertical line")
    assert (crossing["x"], crossing["y"], crossing["panel"]) == ("7", "", "2")


def test_bands_and_bars_keep_both_ends():
    figure, (axes,) = figures.panels(1, 1)
    samples = torch.tensor([[1.0, 2.0, 6.0], [3.0, 2.0, 4.0]])
    figures.band(axes, [1, 2, 3], samples, label="rare", spread="quartiles")
    axes.errorbar([1, 2], [5.0, 6.0], [[0.5, 1.0], [2.0, 3.0]], fmt="o", label="trained", color="C4")
    axes.bar([0, 1], [1.0, 2.0], bottom=[0.5, 0.25], color="C5", label="part")
    band = series(figure, "rare", "band")  # named by its colour
    assert column(band, "y_low") == [1.5, 2.0, 4.5]
    assert column(band, "y_high") == [2.5, 2.0, 5.5]
    bars = series(figure, "trained", "points with bars")
    assert column(bars, "y_low") == [4.5, 5.0]
    assert column(bars, "y_high") == [7.0, 9.0]
    stack = series(figure, "part", "bar")
    assert column(stack, "y_low") == [0.5, 0.25]
    assert column(stack, "y_high") == [1.5, 2.25]


def test_spans_intervals_and_named_ticks():
    figure, (axes,) = figures.panels(1, 1)
    axes.axvspan(1, 2, color="C1", label="phase")
    axes.vlines([1, 3], [0, 1], [2, 5], color="C2", label="printed")
    axes.plot([0, 1], [5, 6], "k_", label="mark")
    axes.set_xticks([0, 1], ["affine", "ReLU\nb = 0"])
    phase, = series(figure, "phase")
    assert (phase["x_low"], phase["x_high"], phase["kind"]) == ("1", "2", "span")
    assert column(series(figure, "printed", "interval"), "y_high") == [2, 5]
    assert [row["x_name"] for row in series(figure, "mark")] == ["affine", "ReLU b = 0"]


@pytest.mark.parametrize("origin", ["upper", "lower"])
def test_maps_give_a_value_for_each_cell(origin):
    figure, (left, right) = figures.panels(1, 2)
    values = np.arange(6.0).reshape(2, 3)
    extent = (0.5, 3.5, 2.5, 0.5) if origin == "upper" else (0.5, 3.5, 0.5, 2.5)
    image = left.imshow(values, extent=extent, origin=origin, cmap="Reds")
    figure.colorbar(image, ax=left, label="attention")
    right.pcolormesh([1.0, 2.0, 3.0], [10.0, 20.0], values, shading="gouraud", cmap="Blues")
    cells = series(figure, "attention", "map")
    assert {(float(r["x"]), float(r["y"])): float(r["value"]) for r in cells} == {
        (x, y): values[y - 1, x - 1] for x in (1, 2, 3) for y in (1, 2)}
    mesh = [row for row in table(figure) if row["panel"] == "2"]
    assert {(float(r["x"]), float(r["y"])): float(r["value"]) for r in mesh} == {
        (x, y): values[i, j] for i, y in enumerate((10, 20)) for j, x in enumerate((1, 2, 3))}
    assert {row["panel"] for row in table(figure)} == {"1", "2"}  # the colour bar is no panel


def test_scatter_and_contour():
    figure, (left, right) = figures.panels(1, 2)
    left.scatter([1, 2], [3, 4], c=[0.5, 0.7])
    right.contour([0, 1, 2], [0, 1], [[0, 1, 2], [0, 1, 2]], levels=[0.5, 1.5])
    points = [row for row in table(figure) if row["kind"] == "points"]
    assert [(float(r["x"]), float(r["y"]), float(r["value"])) for r in points] == [(1, 3, 0.5), (2, 4, 0.7)]
    lines = [row for row in table(figure) if row["kind"] == "contour"]
    assert all(float(row["x"]) == pytest.approx(float(row["value"])) for row in lines)
    assert {row["value"] for row in lines} == {"0.5", "1.5"}


def test_a_panel_takes_the_axis_label_of_its_row_or_column():
    _, axes = figures.panels(2, 2, sharex=True)
    for one in axes:
        one.plot([1, 2], [1, 2])
    axes[0].set_ylabel("upper")
    axes[2].set(ylabel="lower", xlabel="left")
    axes[3].set_xlabel("right")
    assert [(figure_data.axis_label(a, "x"), figure_data.axis_label(a, "y")) for a in axes] == [
        ("left", "upper"), ("right", "upper"), ("left", "lower"), ("right", "lower")]


def drawing():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([1, 2], [1, 2], label="a")
    axes.legend(loc="upper left")
    axes.set(xlabel="n", ylabel="loss", title=r"$w^*$")
    return figure


def test_the_same_figure_gives_the_same_bytes_and_its_stated_width():
    (first, with_it), (second, _) = figures.as_svg(drawing()), figures.as_svg(drawing())
    assert first == second
    assert "<dc:date>" not in first
    assert f'width="{72 * figures.WIDTH:.1f}pt"' in first
    assert with_it["csv"].startswith("panel,")
    assert with_it["lettering"] == {"width": figures.WIDTH, "smallest": with_it["lettering"]["smallest"], "faults": []}


def test_the_books_style_can_be_read_on_a_phone():
    assert legibility.lettering(drawing())["smallest"] >= legibility.SMALLEST


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
    assert found["smallest"] == pytest.approx(5 * 350 / (72 * figures.WIDTH), abs=0.01)
    assert set(found["faults"]) == {"'one over' and 'another' overlap", "'runs out of the picture' is cut off",
                                    "panel 1: the legend covers diagonal", "panel 1: the legend covers a line or bar"}


def test_ticks_out_of_view_are_no_words():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([0, 10], [0, 1])
    axes.set_xticks([0, 5, 10])
    axes.set_xlim(4, 6)
    figure.draw_without_rendering()
    seen = {text.get_text() for text in legibility.words(figure)}
    assert "5" in seen
    assert "10" not in seen
