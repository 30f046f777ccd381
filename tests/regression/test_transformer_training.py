"""Training a fleet of transformers: against AdamW on a single model, and each model apart."""

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.regression import transformer_training
from iclutils.regression.fleet import Fleet, draw_fleet
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
