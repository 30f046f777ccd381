"""Newton's method and the accelerated fixed point: what they find, and that they say when not."""

import numpy as np
import pytest

from iclutils.regression.theory.roots import fixed_point, newton


def test_newton_finds_roots_of_very_different_sizes_at_once():
    """x² = c from the left of a falling convex function; quadratic convergence leaves rounding."""
    c = np.logspace(-200, 200, 9)
    found = newton(lambda x: (c / x**2 - 1, -2 * c / x**3), np.sqrt(c) / 3, name="x")
    assert found == pytest.approx(np.sqrt(c), rel=1e-14)


@pytest.mark.parametrize("start", [np.array([1e-30, 1.0]), np.array([np.nan, 1.0])])
def test_newton_raises_where_it_does_not_converge(start):
    with pytest.raises(RuntimeError, match=r"ν: the relative step is .* after 5 Newton steps"):
        newton(lambda x: (1 / x - 1, -1 / x**2), start, name="ν", max_iterations=5)


def test_a_linear_fixed_point_of_few_dimensions_is_found_in_few_rounds():
    """Three contractions, one of them slow: Anderson's method solves them as GMRES would."""
    rate = np.array([0.99, -0.5, 0.3])
    found = fixed_point(lambda x: rate * x + 1, np.zeros(3), name="x", tol=1e-10, max_rounds=6)
    # the change 1e-10 over 1 − 0.99
    assert found == pytest.approx(1 / (1 - rate), rel=1e-8)


def test_a_fixed_point_that_is_not_reached_raises():
    with pytest.raises(RuntimeError, match=r"x: the mean change is .* after 3 rounds"):
        fixed_point(lambda x: 2 * np.cos(3 * x), np.ones(4), name="x", tol=1e-9, max_rounds=3)
