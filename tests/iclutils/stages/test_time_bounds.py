"""The printed times, and the length that a prompt needs."""

import math

import numpy as np
import pytest
import torch

from iclutils.randomness import stream
from iclutils.stages import attention, prompts, training
from iclutils.stages.theory import finite_prompts, meanfield, time_bounds


def test_the_bounds_are_the_printed_ones():
    assert time_bounds.dominant_bound(0.01) == pytest.approx(math.log(10) / 0.01)
    K, e = 50, 0.02
    wanted = K**2 * math.log(K) + K / e * math.log(K * e**-0.5)
    assert time_bounds.rare_bound(K, e) == pytest.approx(wanted)
    assert time_bounds.rare_bound(K, e, second=0) == pytest.approx(K**2 * math.log(K))
    assert time_bounds.rare_bound(K, e, power=3, second=0) == pytest.approx(K**3 * math.log(K))
    along = time_bounds.rare_bound([50, 100], np.array([0.02, 0.01]))
    assert along[0] == pytest.approx(wanted)


def test_at_its_length_as_many_prompts_lack_a_rare_feature_as_the_error_allows():
    rare = float(prompts.probabilities(20, 0.5)[1])
    assert (1 - rare) ** time_bounds.reach(20, 0.5, 0.1) == pytest.approx(0.2)


def test_the_theorem_grants_twice_the_error_and_the_floor():
    floor = math.exp(finite_prompts.log_floor(12, 0.5, 60).low)
    assert finite_prompts.granted(12, 0.5, 60, 0.1) == pytest.approx(2 * (0.1 + floor))


def test_a_step_may_move_a_weight_by_twice_what_it_moves_the_descent():
    assert meanfield.step_margin(1.0, 0.9) == meanfield.step_margin(0.9, 1.0)
    assert meanfield.step_margin(1.0, 0.9) == pytest.approx(0.202)


def test_the_error_on_fresh_prompts_is_that_of_the_layer():
    p = prompts.probabilities(6, 0.5)
    sharp = torch.zeros(6, 6, dtype=torch.float64).fill_diagonal_(60.0)
    targets = torch.arange(6)
    made = {"prompts": 4000, "generator": stream(0, "fresh error")}
    found = training.fresh_error(sharp[1:], p, 40, targets[1:], **made)
    exact = finite_prompts.saturated_error(6, 0.5, 40)
    # five standard errors: 6e-7 false alarms
    assert abs(found.value - exact) < 5 * found.se


def test_the_error_on_fresh_prompts_knows_that_columns_differ():
    p = prompts.probabilities(6, 0.5)
    theta = torch.zeros(4, 6, dtype=torch.float64)
    theta[2:, 1] = 2.0
    made = {"prompts": 4000, "generator": stream(0, "columns differ")}
    found = training.fresh_error(theta, p, 4000, torch.ones(4, dtype=torch.int64), **made)
    errors = attention.prompt_errors(
        theta, torch.stack([4000 * p]), torch.ones(4, dtype=torch.int64)
    )
    # long prompts hardly differ, so that four columns of two kinds are all there is
    assert found.se == pytest.approx(float(errors.std()) / 2, rel=0.05)
    assert found.dof < 3.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: time_bounds.dominant_bound(0.0), "error must be between 0 and 1"),
        (lambda: time_bounds.rare_bound(1, 0.1), "K must be at least 2"),
        (lambda: time_bounds.reach(20, 0.5, 0.501), "error must"),
        (lambda: time_bounds.reach(20, 0.5, 0.0), "error must"),
        (lambda: time_bounds.reach(1, 0.5, 0.1), "K must"),
        (lambda: finite_prompts.granted(12, 0.5, 60, 0.0), "error must"),
    ],
)
def test_what_is_out_of_range_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_growth_over_a_bound_is_the_difference_of_two_powers():
    points = np.array([10.0, 40.0, 1000.0])
    assert time_bounds.growth(points, 3 * points**2.5, 7 * points**2) == pytest.approx(0.5)
    assert time_bounds.growth(points, [5.0] * 3, 2 * points) == pytest.approx(-1)
