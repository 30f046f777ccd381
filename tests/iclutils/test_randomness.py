"""Named streams: a function of their name alone, and independent of each other."""

import pytest
import torch

from iclutils import randomness
from iclutils.randomness import stream


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


@pytest.mark.parametrize("size", [(3, 5), (4096,), (7, 611), (3, 20_000), (40_001,), (0, 3)])
def test_normal_numbers_are_those_of_torch_and_leave_the_stream_where_torch_does(size):
    ours, theirs = stream(0, "normal"), stream(0, "normal")
    expected = torch.randn(size, dtype=torch.float64, generator=theirs)
    # logarithm, root, cosine and product each round, to 1e-16 of numbers below 10
    torch.testing.assert_close(
        randomness.normal(*size, generator=ours), expected, rtol=0, atol=1e-14
    )
    assert torch.equal(ours.get_state(), theirs.get_state())


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
