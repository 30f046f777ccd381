"""Named streams: a function of their name alone, and independent of each other."""

import pytest
import torch

from iclutils.ground import randomness
from iclutils.ground.randomness import stream


def draw(*name):
    return torch.randn(4, generator=stream(*name), dtype=torch.float64)


def test_a_stream_is_a_function_of_its_name_alone():
    first = draw(0, "tasks", 3)
    draw(0, "noise", 3)
    assert torch.equal(first, draw(0, "tasks", 3))


def test_other_names_give_other_streams():
    names = [
        (0, "a"),
        (1, "a"),
        (0, "b"),
        (0, "a", 0),
        (0, "a", 1),
        (0, "a", 0, 1),
        (0, "a", 10),
        (0, "a1"),
        (0, "a", "0"),
    ]
    assert len({float(draw(*name)[0]) for name in names}) == len(names)


def test_streams_are_uncorrelated():
    """400 streams of neighbouring names, 400 draws each: the largest |correlation| of neighbours.

    A correlation of 400 independent pairs has standard deviation 1/20; over 399 pairs the largest
    exceeds 5 standard deviations with probability 2e-4.
    """
    draws = torch.stack(
        [torch.randn(400, generator=stream(0, "x", i), dtype=torch.float64) for i in range(400)]
    )
    assert float((draws[1:] * draws[:-1]).mean(1).abs().max()) < 5 / 20


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ((-1, "a"), ValueError),
        ((0,), ValueError),
        ((0.0, "a"), TypeError),
        ((0, 1.5), TypeError),
        ((0, True), TypeError),
    ],
)
def test_a_bad_name_is_refused(name, error):
    with pytest.raises(error):
        randomness.stream(*name)
