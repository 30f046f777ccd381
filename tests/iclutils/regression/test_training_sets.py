"""The prompts of a fleet: which are shared, which are not, and whose label is hidden."""

import pytest
import torch

from iclutils.regression.training_sets import draw_fleet


def test_a_set_keeps_its_prompts_whatever_the_others_are():
    alone = draw_fleet([7], 3, 4, 0.1, 0)
    beside = draw_fleet([7, 5], 3, 4, 0.1, 0)
    assert torch.equal(alone.z[0], beside.z[0])
    assert torch.equal(alone.y[0], beside.y[0])
    assert beside.mask.tolist() == [[1] * 7, [1] * 5 + [0, 0]]
    assert bool((beside.z[:, :, -1, -1] == 0).all()), "the query's label is not shown"


def test_the_hidden_label_is_the_querys():
    # without noise the task follows from the ℓ > d labels that are shown, and it answers the query
    fleet = draw_fleet([6], 3, 5, 0.0, 0)
    x, y = fleet.z[0, :, :3], fleet.z[0, :, 3]
    w = torch.linalg.lstsq(x[..., :-1].mT, y[:, :-1, None]).solution[..., 0]
    answers = (w * x[..., -1]).sum(1)
    # rounding of 1e-16 times the condition number of a 5 × 3 Gaussian matrix, below 1e4 for these
    assert torch.allclose(answers, fleet.y[0], atol=1e-10)


def test_fleets_share_tasks_but_not_prompts_between_roles():
    train = draw_fleet([8], 3, 200, 0.0, 0, tasks=1)
    test = draw_fleet([8], 3, 200, 0.0, 0, tasks=1, role="test")
    assert not torch.equal(train.z, test.z)
    found = [
        torch.linalg.lstsq(fleet.z[0, 0, :3, :-1].T, fleet.z[0, 0, 3, :-1]).solution
        for fleet in (train, test)
    ]
    # 200 tokens determine the task up to rounding, 1e-16; torch's default allows 1e-5
    assert torch.allclose(*found)


def test_tasks_take_turns():
    fleet = draw_fleet([5], 2, 50, 0.0, 0, tasks=2)
    x, y = fleet.z[0, :, :2, :-1], fleet.z[0, :, 2, :-1]
    w = torch.linalg.lstsq(x.mT, y[..., None]).solution[..., 0]
    # rounding, 1e-16 times a condition number of about 1
    assert torch.allclose(w[0], w[2], atol=1e-12)
    assert torch.allclose(w[1], w[3], atol=1e-12)
    assert not torch.allclose(w[0], w[1], atol=0.01)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="sizes must be at least 1"):
        draw_fleet([0], 3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="sizes must hold"):
        draw_fleet([], 3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="rho must be finite"):
        draw_fleet([3], 3, 3, -0.1, 0)
    with pytest.raises(ValueError, match="k must be at least 1"):
        draw_fleet([3], 3, 3, 0.1, 0, tasks=0)
