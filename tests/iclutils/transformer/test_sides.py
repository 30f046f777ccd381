"""Sides of the query: what moves and what stays, and what a job says of networks and rivals."""

import math

import pytest
import torch

from iclutils.transformer import sides, storage
from iclutils.transformer.evaluation import angles
from iclutils.transformer.models import Architecture
from iclutils.transformer.samplers import Kinks
from iclutils.transformer.theory.kriging import softmax_weights

KINKS = Kinks(2, 8, 0.5, (4.0,))
NETWORKS = (3, 5)
PROMPTS = sides.draw_on_sides(KINKS, 40, 0, NETWORKS)


@pytest.fixture(scope="module")
def job():
    return sides.transformers_on_sides(
        n=8, sigma=0.5, L=4.0, steps=100, first=2, networks=2, keep=True, seed=0
    )


def test_distances_targets_and_softmax_weights_are_the_same_in_every_way():
    drawn = PROMPTS["as drawn"]
    for name in ("mirrored", *sides.SIDES):
        prompt = PROMPTS[name]
        torch.testing.assert_close(
            angles(prompt.x, prompt.query), angles(drawn.x, drawn.query), atol=1e-7, rtol=0
        )
        torch.testing.assert_close(prompt.target, drawn.target)
        torch.testing.assert_close(
            softmax_weights(5.0, prompt.x, prompt.query), softmax_weights(5.0, drawn.x, drawn.query)
        )


def test_the_four_nearest_lie_where_they_were_put_and_the_others_where_they_were():
    drawn = PROMPTS["as drawn"]
    for name, wanted in sides.SIDES.items():
        prompt = PROMPTS[name]
        angle = sides.signed_angles(prompt.x, prompt.query)
        order = angle.abs().argsort(-1)
        own = angle.gather(-1, order)[..., sides.FIFTH :][..., :1].sign()
        nearest = angle.gather(-1, order)[..., : sides.FIFTH]
        assert torch.equal(nearest.sign() * own, torch.tensor(wanted).expand(2, 40, 4).double())
        others = order[..., sides.FIFTH :]
        torch.testing.assert_close(prompt.y.gather(-1, others), drawn.y.gather(-1, others))


def test_labels_are_the_task_at_the_new_place_with_the_old_noise():
    # without noise and bend a task is a constant and a sine and cosine of the angle
    straight = sides.draw_on_sides(Kinks(2, 8, 0.0, (4.0,)), 200, 0, [0])
    drawn, other = straight["as drawn"], straight["mirrored"]
    angle = sides.signed_angles(drawn.x, drawn.query)
    torch.testing.assert_close(sides.signed_angles(other.x, other.query), -angle)
    near = angle.abs() < 0.02  # where nearly all tasks have no bend
    half = (drawn.y - other.y)[near] / 2
    slope = half / angle[near].sin()
    # E of the squared slope is L²/6
    assert float(slope.square().mean()) == pytest.approx(16 / 6, rel=0.5)
    noisy = sides.draw_on_sides(KINKS, 40, 0, [NETWORKS[1]])["as drawn"]
    torch.testing.assert_close(noisy.y[0], PROMPTS["as drawn"].y[1])


def test_a_side_is_counted_from_the_query():
    angle = torch.tensor([0.1, 0.3, -0.2, 0.2, -3.0])
    assert sides.ranks(angle).tolist() == [0, 2, 0, 1, 1]
    x = torch.tensor([[math.cos(a), math.sin(a)] for a in (0.5, 0.1, 0.2, -0.3, -0.4)])
    query = torch.tensor([[1.0, 0.0]])
    found = sides.signed_angles(sides.on_sides(x, query, sides.SIDES["across"]), query)
    torch.testing.assert_close(found, torch.tensor([0.5, -0.1, -0.2, -0.3, -0.4]))


def test_the_record_of_a_head_is_what_a_head_must_have(job):
    head = job["softmax"]
    assert head["in front"]["fifth"] == head["across"]["fifth"] == head["both sides"]["fifth"]
    for who in ("network", "softmax", "kriging"):
        for error, lean in zip(job[who]["error"], job[who]["lean"], strict=True):
            assert 0 <= lean < error * 1.2
    assert 0 < max(head["second"]) < min(head["first"])


def test_the_first_network_can_be_computed_again_from_the_record(job):
    architecture = Architecture(2)
    kinks = Kinks(2, 8, 0.5, (4.0,))
    prompts = sides.draw_on_sides(kinks, sides.TEST_PROMPTS, 0, [2])
    weights = storage.unpack(architecture, job["weights"])
    responses = sides.respond_on_sides(architecture, weights, kinks, job["w"], prompts)
    again = sides.describe(responses["network"], prompts)
    for what in ("error", "lean", "first"):
        # sixteen bits a weight, and five digits in the record
        assert again[what][0] == pytest.approx(job["network"][what][0], rel=5e-3, abs=1e-4)


def test_half_the_difference_and_the_mean_of_both_answers_make_the_error():
    drawn, other = PROMPTS["as drawn"], PROMPTS["mirrored"]
    weights = softmax_weights(5.0, drawn.x, drawn.query).squeeze(-2)
    e1, e2 = ((weights * p.y).sum(-1) - p.target[..., 0] for p in (drawn, other))
    parts = ((e1 + e2) / 2).square() + ((e1 - e2) / 2).square()
    torch.testing.assert_close((e1.square() + e2.square()) / 2, parts)


def test_numbers_are_read_by_steepness_rival_and_way(job):
    jobs = [
        {"L": 4.0, "first": 10, **job},
        {"L": 4.0, "first": 2, **job},
        {"L": 1.0, "first": 2, **job},
    ]
    found = sides.numbers_of(jobs, 4.0, "network", "fifth", "across")
    assert found.tolist() == job["network"]["across"]["fifth"] * 2
    assert sides.numbers_of(jobs, 1.0, "kriging", "ranked").shape == (2, sides.RANKS, 6)


@pytest.mark.parametrize("kinks", [Kinks(3, 8, 1.0, (4.0,)), Kinks(2, 4, 1.0, (4.0,))])
def test_prompts_without_sides_or_a_fifth_example_are_refused(kinks):
    with pytest.raises(ValueError, match="kinks must have"):
        sides.draw_on_sides(kinks, 2, 0, [0])
