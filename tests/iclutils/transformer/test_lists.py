"""Networks and exact rivals on lists of tasks: their influences, and what a job says of them."""

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.regression import sweep_jobs
from iclutils.regression.transformers import Architecture
from iclutils.transformer import storage
from iclutils.transformer.evaluation import Response, influence
from iclutils.transformer.lists import (
    describe,
    draw_prompts,
    numbers_of,
    respond,
    transformer_on_list,
)
from iclutils.transformer.theory.lists import by_heart, ridge

TRAINING = {
    "d": 3,
    "width": 6,
    "blocks": 2,
    "alpha": 2,
    "tau": 10,
    "tasks": 2,
    "rho": 0.01,
    "network": 1,
    "first": 2,
    "stage": 5,
    "last": 30,
    "batch": 16,
    "rate": 1e-3,
    "cooldown": 0.3,
    "seed": 0,
}


@pytest.fixture(scope="module")
def job():
    return transformer_on_list(**TRAINING, keep=True)


@pytest.fixture(scope="module")
def prompts():
    return draw_prompts(3, 6, 0.5, 0, 0, 4)


def test_a_job_trains_the_network_of_the_talks_sweep_and_keeps_it(job):
    talk = sweep_jobs.transformer_by_curriculum(**TRAINING)
    for ours, theirs in (("new", "icl"), ("practised", "idg")):
        # single precision there, double here
        assert job[ours]["network"]["error"] == pytest.approx(talk[theirs][-1], rel=2e-3)
    architecture = Architecture(3, 2, dense=1, width=6)
    arrays = storage.unpack_arrays(architecture.shapes(), job["weights"])
    weights = {name: array.unsqueeze(0) for name, array in arrays.items()}
    prompts = draw_prompts(3, 6, 0.01, 0, 1, 2)
    best = ridge(prompts.x, prompts.y, prompts.query, 0.01)
    again = describe(respond(architecture, weights, prompts), best.influence, prompts)
    # sixteen bits a weight
    assert again == pytest.approx(job["practised"]["network"], rel=1e-2)
    assert "weights" not in transformer_on_list(**TRAINING | {"last": 10}, keep=False)


def test_the_influence_on_a_network_is_the_difference_of_its_answers():
    architecture = Architecture(3, 2, dense=1, width=6)
    prompts = draw_prompts(3, 6, 0.01, 0, 1, 2)
    weights = architecture.initial_weights(0, [0], torch.float64)
    found = respond(architecture, weights, prompts)
    step = 1e-5
    moved = [prompts.y.clone() for _ in range(2)]
    for y, sign in zip(moved, (1, -1), strict=True):
        y[:, 2] += sign * step
    ends = [respond(architecture, weights, prompts._replace(y=y)).answer for y in moved]
    # rounding 1e-15 over the step, and the step squared
    assert torch.allclose(found.influence[:, 2], (ends[0] - ends[1]) / (2 * step), atol=1e-8)


def test_rivals_have_the_influence_that_differentiation_finds(prompts):
    listed = normal(4, 3, generator=stream(0, "listed"))
    for rival, more in ((ridge, ()), (by_heart, (listed,))):
        by_formula = rival(prompts.x, prompts.y, prompts.query, 0.5, *more)

        def answer(y, rival=rival, more=more):
            return rival(prompts.x, y, prompts.query, 0.5, *more).answer

        found = influence(answer, prompts.y).influence
        # rounding
        assert torch.allclose(by_formula.influence, found, atol=1e-12)


def test_ridge_is_followed_and_a_list_of_one_task_is_not(prompts):
    best = ridge(prompts.x, prompts.y, prompts.query, 1e-9)
    said = describe(Response(*best), best.influence, prompts)
    assert said["looks"] == 1
    # six examples and no noise: all of three dimensions are seen
    assert said["follows"] == pytest.approx(1, abs=1e-3)
    heart = by_heart(prompts.x, prompts.y, prompts.query, 0.5, torch.ones(1, 3).double())
    said = describe(Response(*heart), best.influence, prompts)
    assert (said["looks"], said["follows"]) == (1e-6, 0)


def test_bad_input_is_refused(prompts):
    with pytest.raises(ValueError, match="rho must be finite and in"):
        ridge(prompts.x, prompts.y, prompts.query, 0.0)
    with pytest.raises(ValueError, match="query must have shape"):
        ridge(prompts.x, prompts.y, prompts.query[1:], 0.5)
    with pytest.raises(ValueError, match="listed must have shape"):
        by_heart(prompts.x, prompts.y, prompts.query, 0.5, torch.ones(2, 2))


def test_a_record_is_read_by_the_length_of_the_list():
    jobs = [{"tasks": k, "new": {"ridge": {"error": k + i}}} for i in (0, 1) for k in (10, 2)]
    found = numbers_of(jobs, "new", "error", "ridge")
    assert {k: one.tolist() for k, one in found.items()} == {2: [2, 3], 10: [10, 11]}
    few = draw_prompts(3, 6, 0.5, 0, 0, 4, count=5)
    assert few.x.shape == (5, 6, 3)
