"""The ground floor: argument checks, named streams, and statistics against what they estimate."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from iclutils import randomness, statistics, validation
from iclutils.randomness import stream
from iclutils.statistics import CONTRADICTED, SUPPORTED, UNDECIDED

# ------------------------------------------------------------------ validation


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: validation.positive("L", 0), ValueError, r"L must be finite and in \(0, inf\); got 0\.0"),
    (lambda: validation.positive("L", math.nan), ValueError, "L must be finite"),
    (lambda: validation.positive("L", math.inf), ValueError, "L must be finite"),
    (lambda: validation.positive("L", "1"), TypeError, "L must be a real number; got '1'"),
    (lambda: validation.positive("L", True), TypeError, "L must be a real number; got True"),
    (lambda: validation.nonnegative("σ", -0.1), ValueError, r"σ must be finite and in \[0, inf\); got -0\.1"),
    (lambda: validation.in_range("t", 1.0, -1, 1, open_high=True), ValueError, r"t must be finite and in \[-1, 1\)"),
    (lambda: validation.whole("n", 2.0), TypeError, "n must be a whole number; got 2.0"),
    (lambda: validation.whole("n", True), TypeError, "n must be a whole number"),
    (lambda: validation.whole("n", 0), ValueError, "n must be at least 1; got 0"),
    (lambda: validation.whole("n", 9, 1, 5), ValueError, r"n must be in 1\.\.5; got 9"),
    (lambda: validation.one_of("kind", "x", {"a": 1, "b": 2}), KeyError, r"kind must be one of \['a', 'b'\]; got 'x'"),
    (lambda: validation.finite("x", torch.tensor([1.0, math.nan, math.inf])), ValueError, "x must be finite; 2 of its 3"),
    (lambda: validation.finite("x", [1.0]), TypeError, "x must be a torch.Tensor; got list"),
    (lambda: validation.shape("x", torch.zeros(2, 3), "n d", d=4), ValueError, r"x must have shape \(n d\) with d = 4; got"),
    (lambda: validation.shape("x", torch.zeros(2, 3), "d d"), ValueError, r"x must have shape \(d d\)"),
    (lambda: validation.shape("x", torch.zeros(3), "... n d"), ValueError, r"got \(3,\)"),
    (lambda: validation.shape("x", torch.zeros(2, 3, 4), "n d"), ValueError, r"got \(2, 3, 4\)"),
    (lambda: validation.shape("x", 1.0, "n"), TypeError, r"x must be a torch.Tensor of shape \(n\); got float"),
])
def test_a_wrong_argument_is_named_with_what_is_allowed(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_right_arguments_pass_through():
    assert validation.positive("L", 2) == 2
    assert validation.whole("n", 3) == 3
    assert validation.shape("x", torch.zeros(7, 2, 3), "... n d", d=3) == {"n": 2, "d": 3}
    assert validation.shape("x", torch.zeros(2, 5), "2 d") == {"d": 5}


# ------------------------------------------------------------------ randomness


def draw(*name):
    return torch.randn(4, generator=stream(*name), dtype=torch.float64)


def test_a_stream_is_a_function_of_its_name_alone():
    first = draw(0, "tasks", 3)
    draw(0, "noise", 3)
    assert torch.equal(first, draw(0, "tasks", 3))


def test_other_names_give_other_streams():
    names = [(0, "a"), (1, "a"), (0, "b"), (0, "a", 0), (0, "a", 1), (0, "a", 0, 1), (0, "a", 10), (0, "a1"), (0, "a", "0")]
    assert len({float(draw(*name)[0]) for name in names}) == len(names)


def test_streams_are_uncorrelated():
    """400 streams of neighbouring names, 400 draws each: the largest |correlation| of a pair of neighbours.

    A correlation of 400 independent pairs has standard deviation 1/20; over 399 pairs the largest exceeds
    5 standard deviations with probability 2e-4.
    """
    draws = torch.stack([torch.randn(400, generator=stream(0, "x", i), dtype=torch.float64) for i in range(400)])
    assert float((draws[1:] * draws[:-1]).mean(1).abs().max()) < 5 / 20


@pytest.mark.parametrize(("name", "error"), [((-1, "a"), ValueError), ((0,), ValueError), ((0.0, "a"), TypeError),
                                             ((0, 1.5), TypeError), ((0, True), TypeError)])
def test_a_bad_name_is_refused(name, error):
    with pytest.raises(error):
        randomness.stream(*name)


# ------------------------------------------------------------------ statistics


@given(value=st.floats(-10, 10), bound=st.floats(-10, 10), se=st.floats(0.01, 1))
def test_comparisons_mirror_each_other(value, bound, se):
    up, down = statistics.greater(value, bound, se=se), statistics.less(value, bound, se=se)
    opposite = {SUPPORTED: CONTRADICTED, CONTRADICTED: SUPPORTED, UNDECIDED: UNDECIDED}
    assert down.outcome == opposite[up.outcome]
    assert up.half_width == down.half_width == statistics.Z * se
    assert bool(up) == (up.outcome == SUPPORTED)


def test_comparisons_have_three_outcomes():
    assert statistics.greater(1.0, 0.0, se=0.2).outcome == SUPPORTED
    assert statistics.greater(-1.0, 0.0, se=0.2).outcome == CONTRADICTED
    assert statistics.greater(0.5, 0.0, se=0.2).outcome == UNDECIDED
    assert statistics.greater(0.0, 0.0).outcome == UNDECIDED
    assert statistics.equal(1.0, 1.3, se=0.05, tol=0.1).outcome == SUPPORTED
    assert statistics.equal(1.0, 1.4, se=0.05, tol=0.1).outcome == CONTRADICTED
    assert statistics.within(1.0, 1.1, 2.0, se=0.03).outcome == SUPPORTED
    assert statistics.within(1.0, 1.2, 2.0, se=0.03).outcome == CONTRADICTED


@pytest.mark.parametrize("call", [
    lambda: statistics.equal(1.0, 1.0), lambda: statistics.equal(math.nan, 1.0, se=1), lambda: statistics.greater(1.0, se=-1),
    lambda: statistics.within(0, 2, 1), lambda: statistics.mean_se(torch.zeros(1)), lambda: statistics.mean_se(torch.tensor(1.0)),
    lambda: statistics.line([0, 1], [0, 1]), lambda: statistics.exponent([1, 2, 0], [1, 2, 3]),
    lambda: statistics.ordered(torch.zeros(3)), lambda: statistics.mean_se(torch.tensor([1.0, math.nan])),
])
def test_bad_numbers_are_refused(call):
    with pytest.raises(ValueError, match=r"must|needs"):
        call()


def test_the_standard_error_is_that_of_the_mean():
    """Over 4000 repetitions the mean misses 0 by more than 4 estimated standard errors (50 trials) in a handful.

    Student's t with 49 degrees of freedom: P(|t| > 4) = 2.1e-4, so 0.9 misses are expected; more than 8 has
    probability below 1e-5. The spread of the means agrees with the standard error within 5/sqrt(2*4000).
    """
    samples = torch.randn(50, 4000, generator=stream(0, "se"), dtype=torch.float64)
    mean, se = statistics.mean_se(samples)
    assert int((mean.abs() > 4 * se).sum()) <= 8
    assert float(mean.std()) == pytest.approx(1 / math.sqrt(50), rel=5 / math.sqrt(8000))


def test_pairing_removes_what_two_settings_share():
    shared = 10 * torch.randn(100, generator=stream(0, "shared"), dtype=torch.float64)
    samples = torch.stack([shared, shared + 1 + 0.1 * torch.randn(100, generator=stream(0, "own"), dtype=torch.float64)])
    assert [c.outcome for c in statistics.ordered(samples)] == [UNDECIDED]
    assert [c.outcome for c in statistics.ordered(samples, paired=True)] == [SUPPORTED]


def test_an_exact_power_is_found():
    x = torch.tensor([1.0, 2.0, 5.0, 9.0], dtype=torch.float64)
    fit = statistics.exponent(x, 3 * x**-0.7)
    assert fit.slope == pytest.approx(-0.7, abs=1e-12)
    assert fit.intercept == pytest.approx(math.log(3), abs=1e-12)
    assert fit.slope_se < 1e-12


def test_the_slopes_standard_error_covers_the_slope():
    """400 lines with known noise: the slope is within 4 standard errors of the truth in all but a few.

    P(|z| > 4) = 6e-5 where the propagated error counts; with scatter at 8 degrees of freedom Student's tail would
    give 1.6 of 400, and the larger of the two errors is taken. More than 6 has probability below 1e-2 even then.
    """
    x = torch.linspace(0, 1, 10, dtype=torch.float64)
    misses = 0
    for trial in range(400):
        y = 2 * x + 1 + 0.3 * torch.randn(10, generator=stream(0, "line", trial), dtype=torch.float64)
        fit = statistics.line(x, y, torch.full((10,), 0.3, dtype=torch.float64))
        misses += abs(fit.slope - 2) > 4 * fit.slope_se
    assert misses <= 6


def test_curvature_is_not_taken_for_precision():
    x = torch.linspace(0, 1, 20, dtype=torch.float64)
    tight = statistics.line(x, x, torch.full((20,), 1e-6, dtype=torch.float64))
    curved = statistics.line(x, x**3, torch.full((20,), 1e-6, dtype=torch.float64))
    assert curved.slope_se > 100 * tight.slope_se


def test_crossing_is_on_the_line_between_the_last_point_below_and_the_next():
    assert statistics.crossing([1, 2, 4, 8], [0, 3, 1, 5], 2) == pytest.approx(5)
    for y in ([3, 4], [0, 1]):
        with pytest.raises(ValueError, match="y must rise from below to above the level 2"):
            statistics.crossing([1, 2], y, 2)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    samples = torch.randn(3, 20, generator=stream(0, "jackknife"), dtype=torch.float64)
    value, se = statistics.jackknife(lambda s: float(s[1].mean()), samples)
    mean, expected = statistics.mean_se(samples[1])
    assert value == pytest.approx(float(mean))
    assert se == pytest.approx(float(expected))  # an identity, to rounding
    with pytest.raises(ValueError, match="trials must be at least 2"):
        statistics.jackknife(lambda s: 0.0, samples[:, :1])
