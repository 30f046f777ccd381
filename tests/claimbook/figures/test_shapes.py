"""The recurring shapes draw what they say."""

import statistics

import numpy as np
import pytest

from claimbook import figures

SAMPLES = np.array([[1.0, 2.0], [2.0, 2.0], [6.0, 2.0]])  # three trials at two points, skewed


def test_a_band_is_the_mean_and_its_standard_deviation():
    _, (axes,) = figures.panels(1, 1)
    figures.band(axes, [0, 1], SAMPLES, label="loss")
    (line,) = axes.lines
    (band,) = axes.collections
    points = [column.tolist() for column in SAMPLES.T]
    assert line.get_ydata().tolist() == [statistics.mean(point) for point in points]
    mean, half = statistics.mean(points[0]), statistics.stdev(points[0])
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(mean - half)
    assert heights.max() == pytest.approx(mean + half)
    assert (line.get_label(), band.get_label()) == ("loss", "_loss")


def test_swept_bands_are_named_by_their_values():
    _, (axes,) = figures.panels(1, 1)
    figures.swept_bands(axes, [0, 1], [0.5, 2.0], [SAMPLES, SAMPLES + 1], "L")
    assert [line.get_label() for line in axes.lines] == ["L = 0.5", "L = 2"]
    colours = [line.get_color() for line in axes.lines]
    assert colours == figures.ramp(2)


def test_intervals_are_shaded_and_named():
    _, (axes,) = figures.panels(1, 1)
    figures.shade_intervals(axes, [0, 1, 3], ["I", "II"])
    assert [text.get_position()[0] for text in axes.texts] == [0.5, 2.0]
    top = axes.get_window_extent().y1
    assert all(top < text.get_window_extent().y0 < top + 10 for text in axes.texts)
    assert len(axes.patches) == 2
    assert axes.get_xlim() == (0, 3)


def test_a_legend_has_each_label_once():
    figure, (left, right) = figures.panels(1, 2)
    for axes in (left, right):
        axes.plot([1], [1], label="exact")
    right.plot([1], [2], label="trained")
    figures.legend(figure)
    (found,) = figure.legends
    assert [text.get_text() for text in found.get_texts()] == ["exact", "trained"]


def test_a_name_has_the_colour_of_its_curve_only_darker():
    _, (axes,) = figures.panels(1, 1)
    figures.annotate(axes, 1, 2, "rare", (1.0, 0.5, 0.0), ha="right")
    (text,) = axes.texts
    assert text.get_position() == (1, 2)
    assert text.get_color() == pytest.approx([0.7, 0.35, 0.0])
    assert text.get_horizontalalignment() == "right"


def test_ticks_are_plain_numbers_and_no_others():
    _, (axes,) = figures.panels(1, 1)
    axes.set(xscale="log", xlim=(0.2, 30))
    figures.plain_ticks(axes.xaxis, [0.5, 1, 20])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.5", "1", "20"]
    assert not axes.get_xticks(minor=True).size


def test_curves_that_end_together_share_a_name():
    _, (axes,) = figures.panels(1, 1)
    ends = np.array([0.0, 0.1, 0.2, 5.0, 5.5])
    figures.name_ends(axes, 3.0, ends, [0.1, 0.3, 1.0, 3.0, 10.0], "L", gap=1.0)
    named = {text.get_text(): text.get_position() for text in axes.texts}
    assert list(named) == ["0.1–1", "3", "L = 10"]
    assert named["3"] == (3.0, 5.0)
    assert named["L = 10"] == (3.0, 6.0)  # a gap above the one below
