"""What finding the relevant subspace is worth: the order of the heads, and one head by hand."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.window import low_rank_benefit, low_rank_tasks
from iclutils.window.covariates import TwoSubspaces
from iclutils.window.evaluation import mean_errors
from iclutils.window.low_rank_tasks import LowRankLink
from iclutils.window.prompts import draw
from iclutils.window.theory import theorem_4_4
from iclutils.window.theory.low_rank_problem import Case


@pytest.fixture(scope="module")
def benefit():
    return low_rank_benefit.at_dimension(
        8, 20, noise=0.1, rates=(0.01, 0.1), trials=4, steps=200, tokens=2000, seed=3
    )


def test_a_head_that_is_told_the_subspace_is_best(benefit):
    for errors in benefit:
        means = dict(zip(low_rank_benefit.HEADS, errors.mean(1).tolist(), strict=True))
        assert means["told"] < 0.5 * min(means["all alike"], means["told another"])
        assert means["told"] < 1.1 * means["trained"]


def test_spurious_parts_of_one_size_are_longer(benefit):
    alike = low_rank_benefit.HEADS.index("all alike")
    shorter, longer = (errors[alike].mean() for errors in benefit)
    assert longer > shorter


def test_the_told_head_is_the_best_of_its_form(benefit):
    B = low_rank_tasks.random_subspaces(4, 8, 2, stream(3, "ch4", "d", 8))
    law = TwoSubspaces(B, low_rank_tasks.complement(B))
    prompt = draw(
        LowRankLink(B, "linear"), law, 20, 0.1, 1, (4, 1000), stream(3, "ch4", "benefit", 8)
    )
    case = Case(link="linear", d=8, k=2, n=20, sigma=0.1)
    c = theorem_4_4.relevant_minimum(case, case.contexts(2000, 3), start=10.0).theta
    errors = mean_errors((c * B @ B.mT)[:, None], prompt)[:, 0]
    told = benefit.fixed_length[low_rank_benefit.HEADS.index("told")]
    assert torch.allclose(told, errors, rtol=1e-9)
