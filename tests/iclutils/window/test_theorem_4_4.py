"""The minimiser over all symmetric matrices in blocks, and what other mass costs."""

import math

import pytest
import torch
from scipy.optimize import minimize_scalar

from iclutils.window.theory import low_rank, theorem_4_4
from iclutils.window.theory.low_rank import Minimum
from iclutils.window.theory.low_rank_problem import Case

F64 = torch.float64


def test_blocks_of_a_matrix_made_by_hand():
    # M = [[4, 1, 0.4], [1, 6, 0], [0.4, 0, -0.5]] with k = 2, every entry with standard error 0.1
    theta = torch.tensor([4.0, 1.0, 0.4, 6.0, 0.0, -0.5], dtype=F64)
    variance = 0.01 * torch.eye(6, dtype=F64)
    seen = theorem_4_4.read_blocks(Minimum(theta, variance, 0.0, 1), 3, 2)
    assert seen.c == pytest.approx((5.0, 0.1 / math.sqrt(2), math.inf))
    # 4 − 5 and 6 − 5 have standard error 0.1/√2, so that they are farther from 0 than the 1
    assert abs(seen.anisotropy.value) == pytest.approx(0.2)
    assert seen.anisotropy.se == pytest.approx(0.1 / math.sqrt(2) / 5)
    assert seen.off_block == pytest.approx((0.4 / 5, 0.1 / 5, math.inf))
    assert seen.spurious == pytest.approx((-0.5 / 5, 0.1 / 5, math.inf))


def test_a_single_direction_has_no_anisotropy():
    theta = torch.tensor([4.0, 0.1, 0.2], dtype=F64)
    variance = 0.01 * torch.eye(3, dtype=F64)
    seen = theorem_4_4.read_blocks(Minimum(theta, variance, 0.0, 1), 2, 1)
    assert seen.anisotropy == (0.0, math.inf, math.inf)


def test_an_entry_along_any_two_directions():
    theta = torch.tensor([4.0, 1.0, 6.0], dtype=F64)
    variance = 0.01 * torch.eye(3, dtype=F64)
    found = Minimum(theta, variance, 0.0, 1)
    left = torch.tensor([1.0, 2.0], dtype=F64)
    right = torch.tensor([3.0, -1.0], dtype=F64)
    # 3·4 + (6 − 1)·1 − 2·6 and the root of 3² + 5² + 2², times 0.1
    seen = theorem_4_4.entry(found, left, right)
    assert seen == pytest.approx((5.0, 0.1 * math.sqrt(38), math.inf))


@pytest.mark.parametrize("bound", [None, 2.0])
def test_theorem_case_in_small_and_with_a_binding_bound(bound):
    case = Case(link="linear", d=3, k=2, n=2, sigma=0.0)
    seen = theorem_4_4.full_minimum(case, case.contexts(40000, 0), bound=bound).blocks
    if bound is None:
        assert seen.c.value > 2.5
    else:
        assert seen.c.value == pytest.approx(bound)
    for found in (seen.anisotropy, seen.off_block, seen.spurious):
        # 5 standard errors: 6e-7 false alarms for each of at most 6 entries
        assert abs(found.value) < 5 * found.se


def test_spurious_mass_costs():
    case = Case(link="linear", d=3, k=2, n=2, sigma=0.0)
    cost = theorem_4_4.spurious_cost(case, case.contexts(40000, 0), [1.0]).at(0)
    assert cost.value > 4 * cost.se
    assert cost.dof == 19999


def test_the_cost_of_spurious_mass_by_a_search_and_without_its_sign():
    case = Case(link="linear", d=3, k=1, n=4, sigma=0.5)
    sample = case.contexts(800, 0)
    basis, held = case.family

    def least(e):
        found = minimize_scalar(
            lambda c: float(low_rank.loss_at(sample, c * basis + e * held).mean()),
            bracket=(1.0, 3.0),
        )
        return found.fun

    cost = theorem_4_4.spurious_cost(case, sample, [1.0]).at(0).value
    # both minima are right to the rounding of a flat curve, 1e-8 in c and its square in the loss
    assert cost == pytest.approx((least(1.0) + least(-1.0)) / 2 - least(0.0), rel=1e-8)
    turned = theorem_4_4.spurious_cost(case, sample, [-1.0]).at(0)
    assert turned.value == pytest.approx(cost, rel=1e-12)


def test_the_relevant_minimum_is_the_one_of_the_family():
    case = Case(link="linear", d=3, k=1, n=4, sigma=0.5)
    sample = case.contexts(4000, 0)
    free = low_rank.minimise(sample, case.family, torch.tensor([1.0, 0.0], dtype=F64))
    c, e = free.theta.tolist()
    held = theorem_4_4.relevant_minimum(case, sample, e=e)
    # both are right to about 1e-5, the root of the decrement
    assert float(held.theta) == pytest.approx(c, rel=1e-4)


def test_the_cost_of_a_move_is_half_the_second_difference():
    case = Case(link="linear", d=3, k=1, n=4, sigma=0.5)
    sample = case.contexts(800, 0)
    basis, held = case.family
    cost = theorem_4_4.move_cost(sample, 2 * basis, 1e-3 * held)
    design = torch.stack([basis, held])
    theta = torch.tensor([2.0, 0.0], dtype=F64)
    phi = low_rank.logit_design(sample, design)
    _, hessian = low_rank.derivatives(sample, phi, phi @ theta)
    # rounding 1e-16 of the loss over the square of the step, and the next term of the series
    assert cost.value == pytest.approx(5e-7 * float(hessian[1, 1]), rel=1e-4)


def test_what_is_held_is_no_departure():
    case = Case(link="linear", d=3, k=2, n=2, sigma=0.0)
    seen = theorem_4_4.full_minimum(case, case.contexts(4000, 0), bound=2.0).blocks
    assert list(seen.departures(case)) == ["off_block", "spurious"]


def test_the_cases_are_on_their_side_of_the_hypotheses():
    assert all(case.sigma == 0 or case.n == 2 for case in theorem_4_4.INSIDE.values())
    assert all(case.sigma > 0 and case.n > 2 for case in theorem_4_4.OUTSIDE.values())
    for name, case in (theorem_4_4.INSIDE | theorem_4_4.OUTSIDE).items():
        said = dict(part.replace("σ", "sigma").split("=") for part in name.split(", "))
        assert {key: float(value) for key, value in said.items()} == {
            key: getattr(case, key) for key in said
        }


def test_bad_input_is_refused():
    ones = torch.ones(3, dtype=F64)
    found = Minimum(ones, torch.eye(3, dtype=F64), 0.0, 1)
    with pytest.raises(ValueError, match=r"minimum\.theta must have shape"):
        theorem_4_4.read_blocks(found, 3, 2)
    with pytest.raises(ValueError, match="left must have shape"):
        theorem_4_4.entry(found, ones, ones[:2])
    with pytest.raises(ValueError, match="p must be"):
        found.coefficient(3)


@pytest.mark.parametrize(
    ("link", "c_v", "pays"), [("quadratic", None, True), ("linear", 1.0, False)]
)
def test_spurious_mass_is_worth_something_for_squares_on_the_sphere_alone(link, c_v, pays):
    case = Case(link=link, d=4, k=2, n=30, sigma=0.01, c_v=c_v)
    found = theorem_4_4.worth(case, case.contexts(40000, 0))
    # two parameters on 1300 contexts lower the loss by about a thousandth even where e is useless
    assert (found.gain.value > 0.02 and found.gain.value > found.gain.half_width) == pays
    assert (abs(found.share) > 0.1) == pays


def test_the_slopes_of_lemmas_h3_and_h4_by_finite_differences():
    alpha = torch.tensor([2.0, 1.0, 0.5], dtype=F64)
    case = Case(link="linear", d=3, k=2, n=3, sigma=1.0)
    sample = case.contexts(3 * 500, 0)
    logits = 1.5 * low_rank.logit_design(sample, case.family[:1]).squeeze(-1)
    step = torch.tensor([1e-6, 0, 0], dtype=F64)

    def total(shift):
        return float(low_rank.losses(sample, logits + shift).mean())

    there = total(alpha.log() + step) - total(alpha.log() - step)
    here = total(step) - total(-step)
    found = theorem_4_4.term_slopes(1.5, alpha, 2, 500, 0)
    # rounding 1e-15 of the losses over a step of 1e-6
    assert float(found.value.sum()) == pytest.approx((there - here) / 2e-6, abs=1e-7)


def test_the_slope_of_lemma_h1_by_finite_differences_and_in_closed_form():
    alpha = torch.tensor([2.0, 1.0, 0.5], dtype=F64)
    case = Case(link="linear", d=3, k=2, n=3, sigma=0.0)
    sample = case.contexts(3 * 2000, 0)
    phi = low_rank.logit_design(sample, case.family[:1]).squeeze(-1)
    there, here = (
        float(low_rank.losses(sample, c * phi + alpha.log()).mean()) for c in (1 + 1e-5, 1 - 1e-5)
    )
    # rounding 1e-16 of the losses over a step of 1e-5
    slope = theorem_4_4.loss_slope(1.0, alpha, 2, 2000, 0)
    assert slope.value == pytest.approx((there - here) / 2e-5, abs=1e-8)
    at_zero = theorem_4_4.loss_slope(0.0, alpha, 2, 2000, 0)
    # 5 standard errors: 6e-7 false alarms
    assert abs(at_zero.value - theorem_4_4.slope_at_zero(alpha, 2)) < 5 * at_zero.se


def test_bad_input_is_refused_of_lemmas():
    ones = torch.ones(3, dtype=F64)
    with pytest.raises(ValueError, match="c must be"):
        theorem_4_4.term_slopes(-1.0, ones, 2, 10, 0)
    with pytest.raises(ValueError, match="alpha must be positive"):
        theorem_4_4.loss_slope(1.0, -ones, 2, 10, 0)
    with pytest.raises(ValueError, match="c must be"):
        theorem_4_4.loss_slope(-1.0, ones, 2, 10, 0)
    with pytest.raises(ValueError, match="k must be"):
        theorem_4_4.slope_at_zero(ones, 0)


@pytest.mark.parametrize("last", [0.0, -1e-9, math.nan])
def test_a_factor_of_zero_is_refused_as_a_negative_one_is(last):
    with pytest.raises(ValueError, match="alpha must be"):
        theorem_4_4.slope_at_zero(torch.tensor([1.0, last], dtype=torch.float64), 2)
