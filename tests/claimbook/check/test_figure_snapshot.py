"""Figures of two runs: what another machine may change in them, and what it may not."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from claimbook.check import figure_snapshot
from claimbook.check.figure_snapshot import Series

BLUE, RED = "#0173b2", "#de8f05"
X = [0, 2, 4, 6, 8]


def series(panel, title, name, kind, colour, points=9, **at):
    words = {"title": title, "series": name, "kind": kind, "colour": colour}
    return Series(panel=panel, points=points, **words, **at)


FIGURE = [
    series(1, "Loss", "theory", "line", RED, x=X, y=[1, 2, 3, 4, 5]),
    series(
        1,
        "Loss",
        "trained",
        "points with bars",
        BLUE,
        points=2,
        x=[2, 4],
        y=[2, 3],
        y_low=[1.9, 2.5],
        y_high=[2.1, 3.5],
    ),
    series(2, "Error", "trained", "line", BLUE, sampled=True, x=X, y=[3, 3, 4, 5, 9]),
    series(2, "Error", "linear", "line", BLUE, x=X, y=[9, 5, 4, 3, 3]),
    series(
        2, "Error", "_trained", "band", BLUE, sampled=True,
        x=X, y_low=[2, 2, 3, 4, 8], y_high=[4, 4, 5, 6, 10],
    ),
    series(2, "Error", "bounds", "band", RED, x=X, y_low=[1, 1, 2, 3, 8], y_high=[9, 9, 9, 9, 9]),
    series(3, "Map", "", "map", BLUE, points=1, x=[0], y=[1], value=[0.5]),
]


def differences(name, axis, values):
    (place,) = [i for i, one in enumerate(FIGURE) if name in str(one.key)]
    one = FIGURE[place]
    values = [float(word) for word in values.split()]
    other = [*FIGURE]
    other[place] = replace(one, **{axis: values})
    return [one for one in figure_snapshot.compare(FIGURE, other) if one[1] > 1]


@pytest.mark.parametrize(
    ("name", "axis", "values", "same"),
    [
        ("theory", "y", "1 2 3.05 4 5", True),  # rounding
        ("theory", "y", "1 2 3.2 4 5", False),  # a line without a band is not sampled
        ("with bars", "y", "2.09 3.45", True),  # within the bars
        ("with bars", "y", "2.2 3", False),  # outside of the first
        ("with bars", "y_high", "2.15 3.6", True),
        ("with bars", "y_high", "2.1 3.65", True),
        ("with bars", "y_high", "2.28 3.5", False),  # nearly twice as long
        ("with bars", "y_low", "2.05 2.5", False),  # a third as long
        ("with bars", "x", "2.1 4", False),
        ("2 · Error · trained · line", "y", "3 3 4 5.9 9", True),  # half of its band
        ("2 · Error · trained · line", "y", "3 3 4 6.1 9", False),
        ("2 · Error · trained · line", "x", "0 2 4 6.5 8", False),
        ("2 · Error · _trained · band", "y_low", "2 2 3 4.6 8", True),  # a third
        ("2 · Error · _trained · band", "y_low", "2 2 3 4.7 8", False),
        ("linear", "y", "9 5.15 4 3 3", False),  # the band has another name
        ("bounds", "y_low", "1 1 2.1 3 8", False),  # an area, without a line
        ("3 · Map", "value", "0.6", False),
        ("3 · Map", "value", "nan", False),
    ],
)
def test_what_chance_may_move(name, axis, values, same):
    assert bool(differences(name, axis, values)) is not same


def test_bars_without_an_end_have_no_length():
    one = series(1, "", "", "points with bars", BLUE, y_low=[None, 1], y_high=[2, math.inf])
    assert figure_snapshot.lengths(one, "y").tolist() == [0.0, 0.0]
    assert figure_snapshot.lengths(one, "x").tolist() == [0.0]


def table(y, width, line="trained", band="_trained"):
    """The table of a figure with a line, and a band around it."""
    rows = [f"1,Loss,steps,{line},line,{x},{one},,,{BLUE}" for x, one in enumerate(y)]
    edges = [f"{one - width},{one + width}" for one in y]
    rows += [f"1,Loss,steps,{band},band,{x},,{one},{BLUE}" for x, one in enumerate(edges)]
    return "\n".join(["panel,title,x_axis,series,kind,x,y,y_low,y_high,colour", *rows])


def test_a_chaotic_training_is_held_by_the_quantiles_of_its_line_and_band():
    """It may arrive a little later, but nowhere else; without its scatter it is held at places."""
    early, late, other = [9, 9, 5, 3, 2, 2, 2], [9, 9, 9, 5, 3, 2, 2], [9, 9, 9, 9, 9, 5, 3]
    for band in ("_trained", "other"):
        before = figure_snapshot.series_of(table(early, 1.0, band=band))
        assert [one.sampled for one in before] == [True if band == "_trained" else None] * 2
        again = figure_snapshot.series_of(table([*early[3:], *early[:3]], 1.0, band=band))
        moved = max(apart for _, apart, _ in figure_snapshot.compare(before, again))
        assert (moved == 0) is (band == "_trained")
    line, _ = figure_snapshot.series_of(table(early, 1.0))
    assert (line.points, line.x, line.y) == (7, [0, 2, 3, 4, 6], [2, 2, 3, 5, 9])
    before = figure_snapshot.series_of(table(early, 4.0))
    for y, red in ((late, False), (other, True)):
        found = figure_snapshot.compare(before, figure_snapshot.series_of(table(y, 4.0)))
        assert any(apart > 1 for _, apart, _ in found) is red


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_a_band_with_its_line_at_the_edge_is_an_area(edge):
    text = table([1, 2, 4], 1.0).replace(",line,0,1,", f",line,0,{1 + edge},")
    text = text.replace(",line,1,2,", f",line,1,{2 + edge},")
    text = text.replace(",line,2,4,", f",line,2,{4 + edge},")
    assert [one.sampled for one in figure_snapshot.series_of(text)] == [None if edge else True] * 2


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        (1.0, 1.1, True),
        (1.0, 1.2, False),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
        (math.nan, math.nan, True),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
    ],
)
def test_what_is_no_number_is_compared_as_it_is(expected, found, same):
    apart = figure_snapshot.distance(np.array([expected]), np.array([found]), 0.11)
    assert (apart <= 1) is same
