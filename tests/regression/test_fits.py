"""Recorded errors over the number of prompts: what is fitted, and where the top is."""

import math

import pytest

from iclutils.regression import fits

ROWS = [
    {
        "d": 5,
        "n": n,
        "sets": sets,
        "train": [[1.0] * sets, [t] * sets],
        "icl": [[1.0] * sets, [e] * sets],
    }
    for n, sets, t, e in ((10, 3, 1e-4, 1.0), (20, 2, 1e-3, 10.0), (40, 3, 1e-1, 1.0))
][::-1]


def test_curves_rise_in_n_and_keep_the_sets_that_all_have():
    found = fits.curves(ROWS, d=5)
    assert found.numbers == [10, 20, 40]
    assert tuple(found.icl.shape) == (3, 2, 2)
    assert found.final.train[:, 0].tolist() == pytest.approx([-4, -3, -1])
    assert found.at(33) == 2
    assert found.only([9, 41]).numbers == [10, 40]


def test_what_is_fitted_and_the_top():
    final = fits.curves(ROWS, d=5).final
    found = fits.fitted(final, 1e-2)
    assert found.value == pytest.approx(30)  # the middle of −3 and −1, between 20 and 40
    assert found.se == 0
    assert fits.peak(final).value == pytest.approx(math.log(20))  # even in log n


def test_a_peak_that_moves():
    late = fits.curves(ROWS, d=5).final
    early = fits.Curves(late.numbers, late.train, late.icl.roll(1, 0) + late.icl)
    found = fits.moved(early, late)
    assert found.value == pytest.approx(fits.peak(late).value - fits.peak(early).value)
    with pytest.raises(ValueError, match="same numbers of prompts"):
        fits.moved(early.only([10, 20]), late)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="each n once"):
        fits.curves(ROWS, d=6)
    with pytest.raises(ValueError, match="each n once"):
        fits.curves(ROWS + ROWS, d=5)
    with pytest.raises(ValueError, match="noise"):
        fits.fitted(fits.curves(ROWS, d=5).final, 0)


def test_the_grid_s_part_in_what_is_fitted():
    """Straight logarithms leave nothing; a bend, a third of what a neighbour's absence moves."""
    straight = fits.curves([_row(n, -4 + n / 10) for n in (10, 20, 30, 40)], d=5)
    # records are read in single precision
    assert fits.grid_error(straight, 10**-1.5) == pytest.approx(0, abs=1e-6)
    bent = fits.curves([_row(n, log) for n, log in ((10, -4), (20, -3), (40, -1), (50, 3))], d=5)
    # the level −2 is crossed at 30; without 20, at 10 + 30·2/3 = 30; without 40, at 20 + 30/6 = 25
    assert fits.grid_error(bent, 1e-2) == pytest.approx(5 / 3)


def _row(n, log):
    return {"d": 5, "n": n, "sets": 2, "train": [10.0**log] * 2, "icl": [1.0] * 2}
