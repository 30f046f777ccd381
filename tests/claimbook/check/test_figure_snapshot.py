"""Figures of two runs: what another machine may change in them, and what it may not."""

import math

import pytest
from msgspec.structs import replace

from claimbook.check.figure_snapshot import Series, entries_of, series_of

BLUE, RED = "#0173b2", "#de8f05"
X = [0, 2, 4, 6, 8]


def series(panel, title, name, kind, colour, points=9, **at):
    words = {"title": title, "series": name, "kind": kind, "colour": colour}
    return Series(panel=panel, points=points, **words, **at)


BARS = {"x": [2, 4], "y": [2, 3], "y_low": [1.9, 2.5], "y_high": [2.1, 3.5]}
BAND = {"x": X, "y_low": [2, 2, 3, 4, 8], "y_high": [4, 4, 5, 6, 10]}
AREA = {"x": X, "y_low": [1, 1, 2, 3, 8], "y_high": [9, 9, 9, 9, 9]}
FIGURE = [
    series(1, "Loss", "theory", "line", RED, x=X, y=[1, 2, 3, 4, 5]),
    series(1, "Loss", "trained", "points with bars", BLUE, points=2, **BARS),
    series(2, "Error", "trained", "line", BLUE, sampled=True, x=X, y=[3, 3, 4, 5, 9]),
    series(2, "Error", "linear", "line", BLUE, x=X, y=[9, 5, 4, 3, 3]),
    series(2, "Error", "_trained", "band", BLUE, sampled=True, **BAND),
    series(2, "Error", "bounds", "band", RED, **AREA),
    series(3, "Map", "", "map", BLUE, points=1, x=[0], y=[1], value=[0.5]),
]


def moved(expected, found):
    """How far the farthest axis moved; infinite where one of the two has another."""
    before, now = dict(entries_of(expected)), dict(entries_of(found))
    if before.keys() != now.keys():
        return math.inf
    return max(before[place].distance(now[place]) for place in before)


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
    (place,) = [i for i, one in enumerate(FIGURE) if name in one.name]
    other = [*FIGURE]
    other[place] = replace(FIGURE[place], **{axis: [float(word) for word in values.split()]})
    assert (moved(FIGURE, other) <= 1) is same


def test_bars_without_an_end_have_no_length():
    bars = {"y": [1, 1], "y_low": [None, 1], "y_high": [2, math.inf]}
    (_, entries), *_ = entries_of([series(1, "", "", "points with bars", BLUE, **bars)])
    assert entries.room.tolist() == [0.02, 0.02]  # rounding alone


def table(y, width, band="_trained", edge=0.0):
    """Make the table of a figure with a line, and a band around it, or at its ``edge``."""
    rows = [f"1,Loss,steps,trained,line,{x},{one + edge},,,{BLUE}" for x, one in enumerate(y)]
    ends = [f"{one - width},{one + width}" for one in y]
    rows += [f"1,Loss,steps,{band},band,{x},,{one},{BLUE}" for x, one in enumerate(ends)]
    return "\n".join(["panel,title,x_axis,series,kind,x,y,y_low,y_high,colour", *rows])


@pytest.mark.parametrize("band", ["_trained", "other"])
def test_a_chaotic_training_is_held_by_the_quantiles_of_its_line_and_band(band):
    """When it arrives does not matter; without its scatter it is held at places."""
    early = [9, 9, 5, 3, 2, 2, 2]
    before = series_of(table(early, 1.0, band))
    sampled = band == "_trained"
    assert [one.sampled for one in before] == [sampled or None] * 2
    again = series_of(table([*early[3:], *early[:3]], 1.0, band))
    assert (moved(before, again) == 0) is sampled
    values = [2, 2, 3, 5, 9] if sampled else [9, 5, 3, 2, 2]
    assert (before[0].points, before[0].x, before[0].y) == (7, [0, 2, 3, 4, 6], values)


@pytest.mark.parametrize("edge", [0.0, 1.0, -1.0])
def test_a_band_with_its_line_at_the_edge_is_an_area(edge):
    found = series_of(table([1, 2, 4], 1.0, edge=edge))
    assert [one.sampled for one in found] == [None if edge else True] * 2


def test_other_points_are_another_series():
    before = table([1, 2, 4], 1.0)
    assert moved(series_of(before), series_of(table([1, 2, 2, 4], 1.0))) == math.inf
    for old, new in (("trained,line", "theory,line"), ("Loss", "Gain"), (BLUE, RED)):
        assert moved(series_of(before), series_of(before.replace(old, new))) == math.inf
