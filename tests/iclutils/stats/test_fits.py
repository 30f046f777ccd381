"""Lines through estimates: slopes, exponents, crossings."""

import math

import numpy as np
import pytest
import torch

from iclutils import stats


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.mean_se(torch.zeros(1)),
        lambda: stats.mean_se(torch.tensor(1.0)),
        lambda: stats.line([0, 1], [0, 1]),
        lambda: stats.line([0, 1, 2], [0, 1, 2], [1, 1, 1]),
        lambda: stats.line([0, 1, 2], [0, 1, 2], [1, 1, 0], dof=9),
        lambda: stats.line([0, 1, 2], [0, 1, 2], dof=9),
        lambda: stats.line([1, 1, 1], [0, 1, 2]),
        lambda: stats.exponent([1, 2, 0], [1, 2, 3]),
        lambda: stats.steps(torch.zeros(3)),
        lambda: stats.mean_se(torch.tensor([1.0, math.nan])),
    ],
)
def test_bad_numbers_are_refused(call):
    with pytest.raises(ValueError, match=r"must|needs"):
        call()


def test_a_slope_s_degrees_of_freedom_are_those_of_the_points_that_carry_it():
    """A line through three points: the middle one carries nothing of the slope."""
    fit = stats.line([0, 1, 2], [0.0, 1.0, 2.0], [0.1, 0.1, 0.1], dof=9)
    assert fit.dof == pytest.approx(18)  # the ends share it: Welch's 2·9
    fit = stats.line([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0], [1e-6, 1e-6, 1e-6, 1.0], dof=9)
    assert fit.dof == pytest.approx(18, rel=1e-3)
    assert stats.line([0, 1, 2], [0.0, 1.0, 0.0], [1e-6] * 3, dof=9).dof == 1  # the scatter's


def test_curvature_is_not_taken_for_precision():
    x = torch.linspace(0, 1, 20, dtype=torch.float64)
    tight = stats.line(x, x, torch.full((20,), 1e-6, dtype=torch.float64), dof=9)
    curved = stats.line(x, x**3, torch.full((20,), 1e-6, dtype=torch.float64), dof=9)
    # scatter of order 0.1 around the line against errors of 1e-6: far more than a factor of 100
    assert curved.slope_se > 100 * tight.slope_se
    assert curved.dof == 18


def test_crossing_is_on_the_line_between_the_last_point_below_and_the_next():
    assert stats.crossing([1, 2, 4, 8], [0, 3, 1, 5], 2) == pytest.approx(5)
    for y in ([3, 4], [0, 1]):
        with pytest.raises(ValueError, match="y must rise from below to above the level 2"):
            stats.crossing([1, 2], y, 2)


def test_the_top_of_a_parabola():
    x = torch.linspace(0, 4, 9, dtype=torch.float64)
    y = 3 - 2 * (x - 1.7) ** 2
    assert stats.parabola_top(x, y) == pytest.approx(1.7)
    a, b, _ = np.polyfit(x, y + x.sin(), 2)
    assert stats.parabola_top(x, y + x.sin()) == pytest.approx(-b / (2 * a))
    # far from the top another curve: only the five points around it count
    bent = torch.where((x - 1.5).abs() > 1.1, y - 5, y)
    assert stats.parabola_top(x, bent, nearest=5) == pytest.approx(1.7)
    with pytest.raises(ValueError, match="to have a top"):
        stats.parabola_top(x, -y)
    for nearest in (4, 9):
        with pytest.raises(ValueError, match="nearest must be odd and fit"):
            stats.parabola_top(x, y, nearest=nearest)
    with pytest.raises(ValueError, match="number of points must be at least 3"):
        stats.parabola_top(x[:2], y[:2])
