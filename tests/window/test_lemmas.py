"""The derivatives in the lemmas behind Theorem 4.4, against finite differences."""

import pytest
import torch

from iclutils.window.theory import lemmas, lowrank
from iclutils.window.theory.contexts import Case

F64 = torch.float64


def test_the_slopes_of_lemmas_h3_and_h4_by_finite_differences():
    alpha = torch.tensor([2.0, 1.0, 0.5], dtype=F64)
    case = Case("linear", 3, 2, 3, 1.0)
    sample = case.contexts(3 * 500, 0)
    logits = 1.5 * lowrank.logit_design(sample, case.family[:1]).squeeze(-1)
    step = torch.tensor([1e-6, 0, 0], dtype=F64)

    def total(shift):
        return float(lowrank.losses(sample, logits + shift).mean())

    there = total(alpha.log() + step) - total(alpha.log() - step)
    here = total(step) - total(-step)
    found = lemmas.term_slopes(1.5, alpha, 2, 500, 0)
    # rounding 1e-15 of the losses over a step of 1e-6
    assert float(found.value.sum()) == pytest.approx((there - here) / 2e-6, abs=1e-7)


def test_the_slope_of_lemma_h1_by_finite_differences_and_in_closed_form():
    alpha = torch.tensor([2.0, 1.0, 0.5], dtype=F64)
    case = Case("linear", 3, 2, 3, 0.0)
    sample = case.contexts(3 * 2000, 0)
    phi = lowrank.logit_design(sample, case.family[:1]).squeeze(-1)
    there, here = (
        float(lowrank.losses(sample, c * phi + alpha.log()).mean()) for c in (1 + 1e-5, 1 - 1e-5)
    )
    # rounding 1e-16 of the losses over a step of 1e-5
    slope = lemmas.loss_slope(1.0, alpha, 2, 2000, 0)
    assert slope.value == pytest.approx((there - here) / 2e-5, abs=1e-8)
    at_zero = lemmas.loss_slope(0.0, alpha, 2, 2000, 0)
    # 5 standard errors: 6e-7 false alarms
    assert abs(at_zero.value - lemmas.slope_at_zero(alpha, 2)) < 5 * at_zero.se


def test_bad_input_is_refused():
    ones = torch.ones(3, dtype=F64)
    with pytest.raises(ValueError, match="c must be"):
        lemmas.term_slopes(-1.0, ones, 2, 10, 0)
    with pytest.raises(ValueError, match="alpha must be positive"):
        lemmas.loss_slope(1.0, -ones, 2, 10, 0)
    with pytest.raises(ValueError, match="c must be"):
        lemmas.loss_slope(-1.0, ones, 2, 10, 0)
    with pytest.raises(ValueError, match="k must be"):
        lemmas.slope_at_zero(ones, 0)
