"""Figures of two runs: what another machine may change in them, and what it may not."""

import pytest

from iclutils.book.checker import drawn
from iclutils.book.checker.drawn import PLACES

BLUE, RED = "#0173b2", "#de8f05"
FIGURE = {
    f"1 · Loss · theory · line · {RED}": {"points": 9, "x": "0 2 4 6 8", "y": "1 2 3 4 5"},
    f"1 · Loss · trained · points with bars · {BLUE}": {
        "points": 2,
        "x": "2 4",
        "y": "2 3",
        "y_low": "1.9 2.5",
        "y_high": "2.1 3.5",
    },
    f"2 · Error · trained · line · {BLUE}": {"points": 9, "x": "0 2 4 6 8", "y": "9 5 4 3 3"},
    f"2 · Error · linear · line · {RED}": {"points": 9, "x": "0 2 4 6 8", "y": "9 9 9 9 9"},
    f"2 · Error · some · points · {BLUE}": {"points": 9, "x": "0 2 4 6 8", "y": "9 5 4 3 3"},
    f"2 · Error · short · line · {BLUE}": {"points": 9, "x": "0 1 2 3 4", "y": "9 5 4 3 3"},
    f"2 · Error · trained · band · {BLUE}": {
        "points": 9,
        "x": "0 2 4 6 8",
        "y_low": "8 4 3 2 2",
        "y_high": "10 6 5 4 4",
    },
    f"3 · Map · map · {BLUE}": {"points": 1, "x": "0", "y": "1", "value": "0.5"},
}


def differences(series, axis, values):
    (name,) = [name for name in FIGURE if series in name]
    other = FIGURE | {name: FIGURE[name] | {axis: values}}
    return list(drawn.figure_differences("fig-x", FIGURE, other))


@pytest.mark.parametrize(
    ("series", "axis", "values", "same"),
    [
        ("theory", "y", "1 2 3.05 4 5", True),  # rounding
        ("theory", "y", "1 2 3.2 4 5", False),  # a line without a band is not sampled
        ("with bars", "y", "2.09 3.45", True),  # within the bars
        ("with bars", "y", "2.2 3", False),  # outside of the first
        ("with bars", "y_high", "2.15 3.6", True),
        ("with bars", "y_high", "2.1 3.7", True),
        ("with bars", "y_high", "2.28 3.5", False),  # nearly twice as long
        ("with bars", "y_low", "2.05 2.5", False),  # a third as long
        ("with bars", "x", "2.1 4", False),
        ("trained · line", "y", "9 5.15 4 3 3", True),  # a tenth of the band
        ("trained · line", "y", "9 5.4 4 3 3", False),
        ("trained · band", "y_low", "8 4.15 3 2 2", True),
        ("trained · band", "y_low", "8 4.4 3 2 2", False),
        ("linear", "y", "9 9.19 9 9 9", False),  # the band has another colour
        ("some", "y", "9 5.15 4 3 3", False),  # points are no line
        ("short", "y", "9 5.15 4 3 3", False),  # the band has other places
        ("3 · Map", "value", "0.6", False),
        ("3 · Map", "value", "nan", False),
    ],
)
def test_what_chance_may_move(series, axis, values, same):
    assert bool(differences(series, axis, values)) is not same


def test_bars_without_an_end_have_no_length():
    one = {"points": 2, "y_low": "- 1", "y_high": "2 inf"}
    assert drawn.lengths(one, "y") == [0.0, 0.0]
    assert drawn.lengths(one, "x") == []


def test_as_many_rooms_as_places():
    for name, series in FIGURE.items():
        assert len(drawn.chances(FIGURE, name, "y")) == min(series["points"], PLACES)
