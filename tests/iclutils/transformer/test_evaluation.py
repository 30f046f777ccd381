"""Influence: of a softmax head, of a network against differences of its answers, and its shares."""

import math

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.transformer.evaluation import (
    angles,
    best_of_all,
    influence,
    near_share,
    profile,
    respond,
)
from iclutils.transformer.models import Architecture, answers
from iclutils.transformer.samplers import Kinks, draw_for_networks
from iclutils.window import attention


def test_the_influence_on_a_softmax_head_is_its_attention_and_sums_to_one():
    prompt = draw_for_networks(Kinks(3, 8, 1.0, (2.0,)), 1, (20,), 0, "head", [0])
    gamma = attention.weights(3.0 * torch.eye(3).double(), prompt.x, prompt.query)

    def head(y):
        return (y.unsqueeze(-2) @ gamma).squeeze(-2).squeeze(-1)

    J = influence(head, prompt.y).influence
    # rounding
    assert torch.allclose(J, gamma.squeeze(-1), atol=1e-14)
    assert torch.allclose(J.sum(-1), torch.ones(1, 20).double(), atol=1e-14)


def test_the_influence_on_a_network_is_the_difference_of_its_answers():
    kinks = Kinks(2, 6, 1.0, (4.0,))
    architecture = Architecture(2, width=8, hidden=16)
    weights = architecture.initial_weights(0, [0, 1]).double()
    weights = weights + 0.2 * normal(*weights.shape, generator=stream(0, "scatter"))
    prompt = draw_for_networks(kinks, 1, (7,), 0, "network", [0, 1])
    found = respond(architecture, weights, prompt, kinks.unit)
    step = 1e-5
    for i in range(6):
        ends = []
        for sign in (1, -1):
            y = prompt.y.clone()
            y[..., i] += sign * step
            said = answers(architecture, weights, prompt.x, y / kinks.unit, prompt.query)
            ends.append(kinks.unit * said[..., 0])
        slope = (ends[0] - ends[1]) / (2 * step)
        # rounding 1e-15 over the step, and the step squared
        assert torch.allclose(found.influence[..., i], slope, atol=1e-8)


def test_many_prompts_are_differentiated_part_by_part():
    kinks = Kinks(2, 4, 1.0, (1.0,))
    architecture = Architecture(2, width=8, hidden=0)
    weights = architecture.initial_weights(0, [0])
    prompt = draw_for_networks(kinks, 1, (600,), 0, "parts", [0])
    found = respond(architecture, weights, prompt, 1.0)
    assert tuple(found.answer.shape) == (1, 600)
    last = draw_for_networks(kinks, 1, (600,), 0, "parts", [0])
    again = respond(
        architecture, weights, type(last)(*(part[:, 590:] for part in vars(last).values())), 1.0
    )
    # single precision
    assert torch.allclose(found.influence[:, 590:], again.influence, atol=1e-5)


def test_the_best_answer_errs_less_than_kriging_where_tasks_are_kinked_and_as_much_where_flat():
    flat, steep = (Kinks(2, 24, 1.0, (L,)) for L in (0.01, 16.0))
    found = [
        best_of_all(
            kinks, draw_for_networks(kinks, 1, (150,), 0, "best", [0]), stream(0, "best's draws")
        )
        for kinks in (flat, steep)
    ]
    # nothing is known of so flat a task: both answer 0, to 1 % of its size
    assert found[0].over_kriging == pytest.approx(1, abs=0.01)
    assert 0.3 < found[1].over_kriging < 0.95
    # there influence is in proportion to the covariance, of which the near quarter has 30 %
    assert found[0].near == pytest.approx(0.302, abs=0.03)
    assert found[1].near > 0.5


def test_shares_and_profile_by_hand():
    x = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]], dtype=torch.float64)
    query = torch.tensor([[[1.0, 0.0]]], dtype=torch.float64)
    angle = angles(x, query)
    assert angle.tolist() == [[0.0, math.pi / 2, math.pi]]
    J = torch.tensor([[0.75, 0.5, -0.25]], dtype=torch.float64)
    assert float(near_share(J, angle)) == 0.75
    assert profile(J, angle).tolist() == [0.75, *[0.0] * 5, 0.5, *[0.0] * 4, -0.25]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="answer must be one for each prompt"):
        influence(lambda y: y.sum(), torch.ones(3, 2))
    prompt = draw_for_networks(Kinks(2, 4, 1.0, (1.0,)), 1, (2,), 0, "bad", [0])
    architecture = Architecture(2)
    weights = architecture.initial_weights(0, [0])
    with pytest.raises(ValueError, match="unit must be finite"):
        respond(architecture, weights, prompt, 0.0)
