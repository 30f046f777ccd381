"""Training: against a loop with one network and torch's own tools, and what a fleet shares."""

import pytest
import torch

from iclutils.transformer.models import Architecture, answers
from iclutils.transformer.samplers import Kinks, training_prompts
from iclutils.transformer.training import Schedule, train

KINKS = Kinks(2, 5, 1.0, (4.0,))
SMALL = Architecture(2, width=8, hidden=8)
SCHEDULE = Schedule(60, prompts=4, queries=2)


def test_a_network_of_a_fleet_is_trained_as_alone_with_torchs_tools():
    found = train(SMALL, KINKS, SCHEDULE, 0, [0, 1])
    weights = SMALL.initial_weights(0, [1]).requires_grad_()
    optimiser = torch.optim.AdamW([weights], betas=(0.9, 0.98), weight_decay=SCHEDULE.decay)
    losses = []
    for step, prompt in enumerate(training_prompts(KINKS, 2, 4, 60, 0, [1])):
        for group in optimiser.param_groups:
            group["lr"] = SCHEDULE.rate_at(step)
        said = answers(SMALL, weights, prompt.x, prompt.y / 4, prompt.query)
        loss = (said - prompt.target / 4).square().mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([weights], SCHEDULE.longest)
        optimiser.step()
        losses.append(float(loss.detach()))
    prompt = next(training_prompts(KINKS, 2, 4, 1, 1, [1]))
    said = [
        answers(SMALL, row.detach(), prompt.x, prompt.y / 4, prompt.query)
        for row in (found.weights[1:], weights)
    ]
    # single precision, 1e-7, grows over sixty steps; the bias of the keys changes no answer, and
    # AdamW makes steps of the rounding of its gradient
    assert torch.allclose(said[0], said[1], atol=1e-3)
    assert float(found.losses[0, 1]) == pytest.approx(sum(losses[:50]) / 50, rel=1e-3)


def test_the_start_of_a_training_is_the_training_that_ends_early():
    whole = train(SMALL, KINKS, Schedule(100, prompts=4, queries=2), 0, [3])
    begun = train(SMALL, KINKS, Schedule(100, prompts=4, queries=2), 0, [3], until=50)
    assert len(whole.losses) == 2
    assert torch.equal(begun.losses[0], whole.losses[0])


def test_the_rate_rises_and_falls():
    rates = [Schedule(200, rate=0.1).rate_at(step) for step in range(200)]
    top = rates.index(max(rates))
    assert top in (19, 20)
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert rates[-1] < 1e-4


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="steps must be at least 1"):
        train(SMALL, KINKS, Schedule(0), 0, [0])
    with pytest.raises(ValueError, match="rate must be finite"):
        train(SMALL, KINKS, Schedule(10, rate=0.0), 0, [0])
    with pytest.raises(ValueError, match="warmup must be finite"):
        train(SMALL, KINKS, Schedule(10, warmup=2.0), 0, [0])
    with pytest.raises(ValueError, match=r"until must be in 1\.\.10"):
        train(SMALL, KINKS, Schedule(10), 0, [0], until=11)
    with pytest.raises(RuntimeError, match="rate must be smaller"):
        train(SMALL, KINKS, Schedule(60, rate=1e30), 0, [0])
