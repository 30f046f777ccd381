"""Training on letters: against a loop with torch's tools, and what is asked in its course."""

import pytest
import torch

from iclutils.transformer.letter_training import Descent, describe, train_on_letters
from iclutils.transformer.letters import Letters, draw_test_letters, training_letters
from iclutils.transformer.models import Architecture, answers

LETTERS = Letters(3, 90)
SMALL = Architecture(3, 1, width=8, hidden=8)


def answer(weights, prompt, labels=None):
    x, query = prompt.places()
    labels = prompt.labels if labels is None else labels
    return answers(SMALL, weights, x, labels, query, prompt.counts)


@pytest.mark.parametrize(
    ("optimiser", "make"),
    [
        ("gradient descent", lambda w: torch.optim.SGD([w], lr=0.05)),
        ("AdamW", lambda w: torch.optim.AdamW([w], 0.05, (0.9, 0.98), weight_decay=1e-4)),
    ],
)
def test_a_network_of_a_fleet_is_trained_as_alone_with_torchs_tools(optimiser, make):
    descent = Descent(optimiser, 0.05, 20, prompts=4, queries=3)
    found = train_on_letters(SMALL, LETTERS, descent, 0, [0, 1], points=2, tests=50)
    weights = SMALL.initial_weights(0, [1]).requires_grad_()
    down = make(weights)
    losses = []
    for prompt in training_letters(LETTERS, 3, 4, 20, 0, [1]):
        loss = (answer(weights, prompt) - prompt.target).square().mean()
        down.zero_grad()
        loss.backward()
        down.step()
        losses.append(float(loss.detach()))
    alone = describe(SMALL, weights.detach(), draw_test_letters(LETTERS, 50, 0, [1]))
    assert found.at == [0, 10, 20]
    # single precision, 1e-7, grows over twenty steps
    assert float(found.loss[1]) == pytest.approx(sum(losses) / 20, rel=1e-3)
    for course, here in zip((found.error, found.own, found.dominant), alone, strict=True):
        assert torch.allclose(course[:, -1, 1], here[:, 0].double(), atol=2e-3)


def test_the_influences_are_those_of_the_letter_asked_and_of_the_dominant_one():
    weights = SMALL.initial_weights(0, [0]).double()
    test = draw_test_letters(LETTERS, 20, 0, [0])
    test = test._replace(**{name: getattr(test, name).double() for name in ("labels", "counts")})
    _, own, dominant = describe(SMALL, weights, test)
    for kind, some in enumerate((slice(0, 20), slice(20, 40))):
        for found, letter in ((own, test.letter), (dominant, torch.zeros_like(test.letter))):
            moved = test.labels.scatter_add(-1, letter, torch.full_like(test.target, 1e-5).double())
            change = (answer(weights, test, moved) - answer(weights, test)).squeeze(-1) / 1e-5
            # a difference of 1e-5 is off by its size times a curvature
            assert float(change[:, some].mean()) == pytest.approx(float(found[kind, 0]), abs=1e-4)


def test_the_dominant_letter_is_learned_before_the_rare_ones():
    descent = Descent("AdamW", 0.003, 150)
    found = train_on_letters(
        Architecture(6, 1), Letters(6, 300), descent, 0, [0, 1], points=8, tests=50
    )
    learned = (found.error < 0.3).to(torch.int64)
    assert bool(learned[:, -1].all())
    dominant, rare = learned.argmax(1)
    assert bool((dominant < rare).all())


def test_the_start_of_a_training_is_the_training_that_ends_early():
    descent = Descent("gradient descent", 0.02, 60, prompts=4)
    whole = train_on_letters(SMALL, LETTERS, descent, 0, [3], points=5, tests=10)
    begun = train_on_letters(SMALL, LETTERS, descent, 0, [3], points=5, tests=10, until=50)
    assert torch.equal(begun.loss, whole.loss)
    assert begun.at == [at for at in whole.at if at <= 50]
    assert torch.equal(begun.error, whole.error[:, : len(begun.at)])


def test_bad_input_is_refused():
    with pytest.raises(KeyError, match="optimiser must be one of"):
        train_on_letters(SMALL, LETTERS, Descent("momentum", 0.1, 20), 0, [0])
    with pytest.raises(ValueError, match="steps must be at least 10"):
        train_on_letters(SMALL, LETTERS, Descent("AdamW", 0.1, 5), 0, [0])
    with pytest.raises(ValueError, match="rate must be finite"):
        train_on_letters(SMALL, LETTERS, Descent("AdamW", 0.0, 20), 0, [0])
    with pytest.raises(RuntimeError, match="rate must be smaller"):
        train_on_letters(SMALL, LETTERS, Descent("gradient descent", 1e30, 20), 0, [0])
