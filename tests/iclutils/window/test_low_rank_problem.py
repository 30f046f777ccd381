"""Population problems with low-rank tasks and their contexts."""

import pytest
import torch

from iclutils.window.covariates import Sphere, TwoSubspaces
from iclutils.window.theory.low_rank_problem import Case, contexts


def test_the_frame_of_a_case():
    case = Case(link="linear", d=5, k=2, n=3, sigma=0.1)
    torch.testing.assert_close(case.family.sum(0), torch.eye(5, dtype=torch.float64))
    torch.testing.assert_close(torch.cat([case.B, case.B_perp], 1), case.family.sum(0))
    assert isinstance(case.covariates, TwoSubspaces)
    assert isinstance(Case(link="linear", d=5, k=2, n=3, sigma=0.1, c_v=None).covariates, Sphere)


def test_tasks_are_evaluated_on_tokens_and_query():
    sample = Case(link="linear", d=4, k=2, n=6, sigma=0.3).contexts(60, seed=0)
    assert sample.x.shape == (10, 6, 4)
    # the cubature of the linear link is e₁, e₂ in the frame of B: the loss does not see its sign
    torch.testing.assert_close(sample.value, sample.x[..., :2].mT)
    torch.testing.assert_close(sample.target[:, 1], sample.query[:, 1])
    # that of the affine link is ±e₁, ±e₂
    shifted = Case(link="affine", d=4, k=2, n=6, sigma=0.3).contexts(60, seed=0)
    torch.testing.assert_close(shifted.value[:, 3], 2 - shifted.x[..., 1])


def test_settings_that_share_n_and_d_are_paired():
    first = Case(link="linear", d=4, k=2, n=6, sigma=0.3).contexts(60, seed=0)
    second = Case(link="cosine", d=4, k=2, n=6, sigma=0.0).contexts(60, seed=0)
    assert torch.equal(first.x, second.x)
    assert not torch.equal(
        first.x, Case(link="linear", d=4, k=2, n=6, sigma=0.3).contexts(60, seed=1).x
    )


def test_a_case_has_at_least_one_context():
    assert len(Case(link="linear", d=4, k=2, n=6, sigma=0.3).contexts(1, seed=0).x) == 1


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="k must be in"):
        Case(link="linear", d=3, k=4, n=2, sigma=0.0)
    with pytest.raises(ValueError, match="sigma must be"):
        Case(link="linear", d=3, k=2, n=2, sigma=-1.0)
    with pytest.raises(ValueError, match="k at most 2"):
        Case(link="cosine", d=4, k=3, n=2, sigma=0.0).contexts(10, seed=0)
    case = Case(link="linear", d=3, k=2, n=2, sigma=0.0)
    with pytest.raises(ValueError, match="count must be"):
        contexts(None, case.covariates, 2, 0.0, 0, 0)
