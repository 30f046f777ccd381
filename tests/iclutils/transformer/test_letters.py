"""Prompts of letters: their counts, labels and queries, and their streams."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.transformer.letters import (
    DOMINANT,
    Letters,
    draw_letters,
    draw_test_letters,
    training_letters,
)

LETTERS = Letters(4, 60, 0.4)


def test_letters_are_as_frequent_as_they_must_be_in_prompts_and_among_queries():
    prompt = draw_letters(LETTERS, 5, (4000,), stream(0, "frequencies"))
    assert bool((prompt.counts.sum(-1) == 60).all())
    asked = torch.nn.functional.one_hot(prompt.letter, 4).double()
    for found, many in ((prompt.counts / 60, 60 * 4000), (asked.mean(1), 5 * 4000)):
        spread = (LETTERS.p * (1 - LETTERS.p) / many).sqrt()
        # four standard errors of a share
        assert bool(((found.mean(0) - LETTERS.p).abs() < 4 * spread).all())


def test_a_query_asks_for_the_label_of_its_letter():
    prompt = draw_letters(LETTERS, 3, (5,), stream(0, "labels"))
    x, query = prompt.places()
    assert tuple(x.shape) == (5, 4, 4)
    answer = (query @ x.mT @ prompt.labels.unsqueeze(-1)).squeeze(-1)
    assert torch.equal(answer, prompt.target)


def test_a_networks_prompts_do_not_depend_on_the_others():
    both = list(training_letters(LETTERS, 2, 3, 60, 0, [0, 1]))
    alone = list(training_letters(LETTERS, 2, 3, 55, 0, [1]))
    assert len(both) == 60
    assert torch.equal(both[52].labels[1], alone[52].labels[0])
    assert not torch.equal(both[0].labels[0], both[0].labels[1])
    assert not torch.equal(both[0].labels, both[50].labels)


def test_half_of_the_test_asks_for_the_dominant_letter():
    test = draw_test_letters(LETTERS, 300, 0, [2, 3])
    assert tuple(test.labels.shape) == (2, 600, 4)
    assert bool((test.letter[:, :300] == DOMINANT).all())
    assert test.letter[:, 300:].unique().tolist() == [1, 2, 3]
    assert torch.equal(test.target, test.labels.gather(-1, test.letter))
    assert torch.equal(test.labels[1], draw_test_letters(LETTERS, 300, 0, [3]).labels[0])


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="K must be at least 2"):
        Letters(1, 10)
    with pytest.raises(ValueError, match="N must be at least 1"):
        Letters(4, 0)
    with pytest.raises(ValueError, match="p1 must be"):
        Letters(4, 10, 1.0)
    with pytest.raises(ValueError, match="queries must be at least 1"):
        draw_letters(LETTERS, 0, (2,), stream(0, "none"))
