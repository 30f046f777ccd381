"""The curriculum: masked prompts by hand, and a whole training against the plain one."""

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.regression import curriculum, transformer_training
from iclutils.regression.curriculum import Curriculum, masked
from iclutils.regression.fleet import draw_fleet, listed_tasks
from iclutils.regression.transformers import Architecture, forward, losses, tokens_of


def drawn(n=6, d=4, ell=8, tasks=3):
    fleet = draw_fleet([n], d, ell, 0.1, 0, tasks=tasks, first=2)
    return fleet, listed_tasks(tasks, d, 0, 2)


def test_masked_prompts_have_the_labels_of_the_masked_task():
    fleet, tasks = drawn()
    prompts = tokens_of(fleet, torch.float64)
    own = tasks[torch.arange(6) % 3]
    seen = masked(prompts, own, 2, 3)
    assert tuple(seen.tokens.shape) == (1, 6, 4, 3)
    places = [0, 1, 2, 8]
    x = prompts.tokens[0][:, places, :4]
    labels = torch.cat([prompts.tokens[0, :, :3, -1], prompts.y[0][:, None]], 1)
    noise = labels - torch.einsum("ntd,nd->nt", x, own)
    anew = torch.einsum("ntd,nd->nt", x[..., :2], own[:, :2]) + noise
    # sums of four terms of order one
    assert torch.allclose(seen.tokens[0, :, :3, -1], anew[:, :3], atol=1e-12)
    assert torch.allclose(seen.y[0], anew[:, 3], atol=1e-12)
    assert torch.equal(seen.tokens[0, :, 3, -1], torch.zeros(6, dtype=torch.float64))
    assert torch.equal(seen.tokens[0, ..., :2], x[..., :2])
    whole = masked(prompts, own, 4, 8)
    assert torch.equal(whole.tokens, prompts.tokens)
    assert torch.equal(whole.y, prompts.y)


def test_leaving_zeros_out_changes_no_answer():
    architecture = Architecture(4, 2, 1, width=24)
    weights = architecture.initial_weights(0, [0], torch.float64)
    fleet, tasks = drawn()
    seen = masked(tokens_of(fleet, torch.float64), tasks[torch.arange(6) % 3], 2, 6).tokens
    zeros = torch.zeros(*seen.shape[:-1], 2, dtype=torch.float64)
    padded = torch.cat([seen[..., :2], zeros, seen[..., 2:]], -1)
    few = curriculum._on_active(weights, 2)
    expected = forward(architecture, weights, padded)
    found = forward(Architecture(2, 2, 1, width=24), few, seen)
    assert torch.allclose(found, expected, atol=1e-10)  # norms of rounding 1e-16


def test_with_all_coordinates_it_is_plain_training(monkeypatch):
    architecture = Architecture(4, 2, 1, width=8)
    fleet, tasks = drawn(n=20)
    [found] = curriculum.train(
        architecture, fleet, tasks, 0, Curriculum(4, 1, 30), [30], batch=5, cooldown=0.5
    )
    named = stream(0, "curriculum minibatches", 4, 20, 0)
    monkeypatch.setattr(transformer_training, "stream", lambda *role: named)
    [expected] = transformer_training.train(architecture, fleet, 0, [30], batch=5, cooldown=0.5)
    for name, w in expected.items():
        assert torch.allclose(found[name], w, atol=1e-5), name  # single precision, 30 steps


def test_it_learns_stage_by_stage_and_keeps_its_checkpoints():
    architecture = Architecture(4, 2, 1, width=16)
    fleet, tasks = drawn(n=100)
    plan = Curriculum(2, 20, 100)
    early, late = curriculum.train(
        architecture, fleet, tasks, 0, plan, [1, 140], batch=20, learning_rate=5e-3
    )
    again, _ = curriculum.train(
        architecture, fleet, tasks, 0, plan, [1, 140], batch=20, learning_rate=5e-3
    )
    assert all(torch.equal(w, again[name]) for name, w in early.items())
    # a coordinate that is not active yet has the embedding it started with, but for the decay
    start = architecture.initial_weights(0, [0])["embed"]
    assert torch.allclose(early["embed"][:, 2:4], start[:, 2:4], atol=1e-5)
    assert not torch.allclose(early["embed"][:, :2], start[:, :2], atol=1e-3)
    assert bool((losses(architecture, late, fleet) < losses(architecture, early, fleet)).all())


def test_bad_input_is_refused():
    architecture = Architecture(4, 2, 1)
    fleet, tasks = drawn()
    two = draw_fleet([6, 6], 4, 8, 0.1, 0, tasks=3)
    with pytest.raises(ValueError, match="first"):
        Curriculum(1, 1, 1)
    with pytest.raises(ValueError, match=r"fleet\.z"):
        curriculum.train(architecture, two, tasks, 0, Curriculum(2, 1, 1), [1], batch=2)
    with pytest.raises(ValueError, match="batch"):
        curriculum.train(architecture, fleet, tasks, 0, Curriculum(2, 1, 1), [1], batch=7)
    plan = Curriculum(2, 5, 5)
    for checkpoints in ([0, 9], [16], [9, 3], []):
        with pytest.raises(ValueError, match="checkpoints must"):
            curriculum.train(architecture, fleet, tasks, 0, plan, checkpoints, batch=2)
    with pytest.raises(ValueError, match=r"device must be .*'nowhere'"):
        curriculum.train(architecture, fleet, tasks, 0, plan, [15], batch=2, device="nowhere")
    with pytest.raises(RuntimeError, match=r"learning_rate must be smaller; with 1e\+30"):
        curriculum.train(architecture, fleet, tasks, 0, plan, [15], batch=2, learning_rate=1e30)
    with pytest.raises(ValueError, match="active"):
        masked(tokens_of(fleet), tasks[torch.arange(6) % 3], 5, 3)
