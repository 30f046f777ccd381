"""Figures of two runs: what another machine may change in them, and what it may not."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from claimbook.check import figure_snapshot
from claimbook.check.figure_snapshot import PLACES, Series

BLUE, RED = "#0173b2", "#de8f05"
X = [0, 2, 4, 6, 8]


def series(panel, title, name, kind, colour, points=9, **at):
    words = {"title": title, "series": name, "kind": kind, "colour": colour}
    return Series(panel=panel, points=points, **words, **at)


FIGURE = [
    series(1, "Loss", "theory", "line", RED, x=X, y=[1, 2, 3, 4, 5]),
    series(
        1, "Loss", "trained", "points with bars", BLUE, points=2,
        x=[2, 4], y=[2, 3], y_low=[1.9, 2.5], y_high=[2.1, 3.5],
    ),
    series(2, "Error", "trained", "line", BLUE, x=X, y=[9, 5, 4, 3, 3]),
    series(2, "Error", "linear", "line", RED, x=X, y=[9, 9, 9, 9, 9]),
    series(2, "Error", "some", "points", BLUE, x=X, y=[9, 5, 4, 3, 3]),
    series(2, "Error", "short", "line", BLUE, x=[0, 1, 2, 3, 4], y=[9, 5, 4, 3, 3]),
    series(
        2, "Error", "trained", "band", BLUE, x=X, y_low=[8, 4, 3, 2, 2], y_high=[10, 6, 5, 4, 4]
    ),
    series(3, "Map", "", "map", BLUE, points=1, x=[0], y=[1], value=[0.5]),
]


def differences(name, axis, values):
    (place,) = [i for i, one in enumerate(FIGURE) if name in one.name]
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
        ("2 · Error · trained · line", "y", "9 5.15 4 3 3", True),  # a tenth of the band
        ("2 · Error · trained · line", "y", "9 5.4 4 3 3", False),
        ("2 · Error · trained · band", "y_low", "8 4.15 3 2 2", True),
        ("2 · Error · trained · band", "y_low", "8 4.4 3 2 2", False),
        ("linear", "y", "9 9.19 9 9 9", False),  # the band has another colour
        ("some", "y", "9 5.15 4 3 3", False),  # points are no line
        ("short", "y", "9 5.15 4 3 3", False),  # the band has other places
        ("3 · Map", "value", "0.6", False),
        ("3 · Map", "value", "nan", False),
    ],
)
def test_what_chance_may_move(name, axis, values, same):
    assert bool(differences(name, axis, values)) is not same


def test_bars_without_an_end_have_no_length():
    one = series(1, "", "", "points with bars", BLUE, y_low=[None, 1], y_high=[2, math.inf])
    assert figure_snapshot.lengths(one, "y").tolist() == [0.0, 0.0]
    assert figure_snapshot.lengths(one, "x").tolist() == []


def test_as_many_rooms_as_places():
    for one in FIGURE:
        assert len(figure_snapshot.chances(FIGURE, one, "y")) == min(one.points, PLACES)


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [(1.0, 1.1, True), (1.0, 1.2, False), (math.nan, 1.0, False), (1.0, math.nan, False),
     (math.nan, math.nan, True), (math.inf, math.inf, True), (math.inf, -math.inf, False)],
)
def test_what_is_no_number_is_compared_as_it_is(expected, found, same):
    apart = figure_snapshot.distance(np.array([expected]), np.array([found]), 0.11)
    assert (apart <= 1) is same
