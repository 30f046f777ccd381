"""Training a fleet of transformers: against AdamW on a single model, and each model apart."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression import transformer_training
from iclutils.regression.training_sets import Fleet, draw_fleet, listed_tasks
from iclutils.regression.transformer_training import Curriculum, masked
from iclutils.regression.transformers import Architecture, forward, losses, tokens_of


@pytest.mark.parametrize("cooldown", [0.0, 0.6])
def test_minibatches_are_tenths_and_match_plain_adamw(cooldown):
    architecture, n, steps = Architecture(3, 2, 1), 25, 3
    fleet = draw_fleet([n, n], 3, 3, 0.1, 0)
    [trained] = transformer_training.train(
        architecture, fleet, 0, [steps], learning_rate=0.01, cooldown=cooldown, dtype=torch.float64
    )
    # over 0.6 of three steps: the full rate, then 2/1.8 of it cut at one, then 1/1.8 of it
    rates = [0.01, 0.01, 0.01 / 1.8] if cooldown else [0.01] * steps
    tokens, y = tokens_of(fleet, torch.float64)
    for b in range(2):
        one = architecture.initial_weights(0, [b], torch.float64)
        parameters = [w.requires_grad_() for w in one.values()]
        optimiser = torch.optim.AdamW(parameters, weight_decay=1e-4)
        generator = stream(0, "minibatches", n)
        for rate in rates:
            optimiser.param_groups[0]["lr"] = rate
            chosen = torch.randperm(n, generator=generator)[:2]  # ⌊25/10⌋
            optimiser.zero_grad()
            error = forward(architecture, one, tokens[b : b + 1, chosen]) - y[b, chosen]
            error.square().mean().backward()
            optimiser.step()
        for name, w in one.items():
            # rounding of 1e-16; AdamW divides by the gradient's size, here above 1e-6
            assert torch.allclose(w[0], trained[name][b], atol=1e-9), name


def test_one_models_data_do_not_touch_another():
    architecture = Architecture(3, 2, 1)
    fleet, other = (draw_fleet([20, 20], 3, 3, 0.1, seed) for seed in (0, 1))
    mixed = Fleet(
        torch.stack([fleet.z[0], other.z[1]]),
        torch.stack([fleet.y[0], other.y[1]]),
        torch.stack([fleet.mask[0], other.mask[1]]),
    )
    first, second = (
        transformer_training.train(architecture, each, 0, [20], dtype=torch.float64)[0]
        for each in (fleet, mixed)
    )
    for name, w in first.items():
        # the same operations on the same numbers; batched products may round the last digits apart
        assert torch.allclose(w[0], second[name][0], atol=1e-12)
    assert not torch.allclose(first["Q 0"][1], second["Q 0"][1])


def test_training_is_deterministic_lowers_the_loss_and_keeps_its_checkpoints():
    architecture = Architecture(3, 1, 0)
    fleet = draw_fleet([20] * 4, 3, 3, 0.1, 0)
    rate = {"learning_rate": 5e-3}
    brief, long = transformer_training.train(architecture, fleet, 0, [10, 400], **rate)
    [again] = transformer_training.train(architecture, fleet, 0, [400], **rate)
    assert all(torch.equal(w, again[name]) for name, w in long.items())
    fell = losses(architecture, long, fleet) < losses(architecture, brief, fleet)
    assert bool(fell.all())


def test_bad_input_is_refused():
    architecture = Architecture(3, 1)
    fleet = draw_fleet([5, 6], 3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="fleet must hold sets of one size"):
        transformer_training.train(architecture, fleet, 0, [1])
    fleet = draw_fleet([5, 5], 3, 3, 0.1, 0)
    for checkpoints in ([3, 2], []):
        with pytest.raises(ValueError, match="checkpoints must be at least one number and rise"):
            transformer_training.train(architecture, fleet, 0, checkpoints)
    with pytest.raises(ValueError, match="cooldown must be finite"):
        transformer_training.train(architecture, fleet, 0, [3], cooldown=2)
    with pytest.raises(ValueError, match="learning_rate must be finite"):
        transformer_training.train(architecture, fleet, 0, [3], learning_rate=0)
    with pytest.raises(ValueError, match="batch must be in"):
        transformer_training.train(architecture, fleet, 0, [3], batch=1000)


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
    few = transformer_training._on_active(weights, 2)
    expected = forward(architecture, weights, padded)
    found = forward(Architecture(2, 2, 1, width=24), few, seen)
    assert torch.allclose(found, expected, atol=1e-10)  # norms of rounding 1e-16


def test_with_all_coordinates_it_is_plain_training(monkeypatch):
    architecture = Architecture(4, 2, 1, width=8)
    fleet, tasks = drawn(n=20)
    [found] = transformer_training.train_by_curriculum(
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
    early, late = transformer_training.train_by_curriculum(
        architecture, fleet, tasks, 0, plan, [1, 140], batch=20, learning_rate=5e-3
    )
    again, _ = transformer_training.train_by_curriculum(
        architecture, fleet, tasks, 0, plan, [1, 140], batch=20, learning_rate=5e-3
    )
    assert all(torch.equal(w, again[name]) for name, w in early.items())
    # a coordinate that is not active yet has the embedding it started with, but for the decay
    start = architecture.initial_weights(0, [0])["embed"]
    assert torch.allclose(early["embed"][:, 2:4], start[:, 2:4], atol=1e-5)
    assert not torch.allclose(early["embed"][:, :2], start[:, :2], atol=1e-3)
    assert bool((losses(architecture, late, fleet) < losses(architecture, early, fleet)).all())


def test_bad_input_is_refused_of_curriculum():
    architecture = Architecture(4, 2, 1)
    fleet, tasks = drawn()
    two = draw_fleet([6, 6], 4, 8, 0.1, 0, tasks=3)
    with pytest.raises(ValueError, match="first"):
        Curriculum(1, 1, 1)
    with pytest.raises(ValueError, match=r"fleet\.z"):
        transformer_training.train_by_curriculum(
            architecture, two, tasks, 0, Curriculum(2, 1, 1), [1], batch=2
        )
    with pytest.raises(ValueError, match="batch"):
        transformer_training.train_by_curriculum(
            architecture, fleet, tasks, 0, Curriculum(2, 1, 1), [1], batch=7
        )
    plan = Curriculum(2, 5, 5)
    for checkpoints in ([0, 9], [16], [9, 3], []):
        with pytest.raises(ValueError, match="checkpoints must"):
            transformer_training.train_by_curriculum(
                architecture, fleet, tasks, 0, plan, checkpoints, batch=2
            )
    with pytest.raises(ValueError, match=r"device must be .*'nowhere'"):
        transformer_training.train_by_curriculum(
            architecture, fleet, tasks, 0, plan, [15], batch=2, device="nowhere"
        )
    with pytest.raises(RuntimeError, match=r"learning_rate must be smaller; with 1e\+30"):
        transformer_training.train_by_curriculum(
            architecture, fleet, tasks, 0, plan, [15], batch=2, learning_rate=1e30
        )
    with pytest.raises(ValueError, match="active"):
        masked(tokens_of(fleet), tasks[torch.arange(6) % 3], 5, 3)
