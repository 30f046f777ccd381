"""Prompts of kinks: against the window's own sampler, their covariance, and their streams."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.transformer.samplers import (
    Kinks,
    Ramps,
    draw_for_networks,
    draw_kinks,
    training_prompts,
)


@pytest.mark.parametrize(("tasks", "d"), [(Kinks, 2), (Ramps, 2), (Kinks, 5)])
def test_the_labels_have_the_covariance_of_the_class(tasks, d):
    kinks = tasks(d, 2, 0.5, (1.0, 3.0))
    prompt = draw_kinks(kinks, 1, (60_000,), stream(0, "covariance"))
    t = (prompt.x @ prompt.query.mT).squeeze(-1)
    products = prompt.y * prompt.target
    off = products - kinks.covariance(t)
    for column in torch.cat([off, t * off, t**2 * off], 1).T:
        # four standard errors of the mean
        assert abs(float(column.mean())) < 4 * float(column.std()) / 60_000**0.5
    noise = prompt.y.square().mean() - kinks.covariance(torch.ones(())) - 0.25
    # squares of labels up to 6 have a standard deviation below 8
    assert abs(float(noise)) < 4 * 8 / 60_000**0.5


def test_a_ramp_is_affine_and_a_kink_is_not():
    for tasks, straight in ((Ramps, True), (Kinks, False)):
        prompt = draw_kinks(tasks(2, 1, 0.0, (4.0,)), 6, (50,), stream(0, "ramps"))
        affine = torch.cat([prompt.query, torch.ones(50, 6, 1).double()], -1)
        target = prompt.target.unsqueeze(-1)
        off = target - affine @ torch.linalg.lstsq(affine, target).solution
        # rounding, where the six places lie close together
        assert bool((off.abs().amax((1, 2)) < 1e-9).all()) == straight


def test_shuffled_labels_are_the_same_labels_elsewhere():
    plain = draw_kinks(Kinks(2, 7, 1.0, (4.0,)), 2, (5,), stream(0, "shuffled"))
    moved = draw_kinks(Kinks(2, 7, 1.0, (4.0,), shuffled=True), 2, (5,), stream(0, "shuffled"))
    assert torch.equal(plain.x, moved.x)
    assert torch.equal(plain.target, moved.target)
    assert not torch.equal(plain.y, moved.y)
    assert torch.equal(plain.y.sort(-1).values, moved.y.sort(-1).values)


def test_a_networks_prompts_do_not_depend_on_the_others():
    kinks = Kinks(3, 4, 1.0, (1.0,))
    both = draw_for_networks(kinks, 2, (6,), 0, "test", [0, 1])
    alone = draw_for_networks(kinks, 2, (6,), 0, "test", [1])
    assert torch.equal(both.y[1], alone.y[0])
    assert not torch.equal(both.y[0], both.y[1])
    batches = list(training_prompts(kinks, 2, 3, 60, 0, [0]))
    assert len(batches) == 60
    assert tuple(batches[0].x.shape) == (1, 3, 4, 3)
    assert batches[0].x.dtype == torch.float32
    first = list(training_prompts(kinks, 2, 3, 5, 0, [0]))
    assert torch.equal(batches[4].y, first[4].y)
    assert not torch.equal(batches[0].y, batches[50].y)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="the number of steepnesses must be at least 1"):
        Kinks(2, 4, 1.0, ())
    with pytest.raises(ValueError, match="steepness must be finite and in"):
        Kinks(2, 4, 1.0, (0.0,))
    with pytest.raises(ValueError, match="n must be at least 1"):
        Kinks(2, 0, 1.0, (1.0,))
    with pytest.raises(ValueError, match="d must be at least 2"):
        Kinks(1, 4, 1.0, (1.0,))
    with pytest.raises(ValueError, match="sigma must be finite"):
        Kinks(2, 4, -1.0, (1.0,))
