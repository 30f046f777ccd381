"""Perturbed draws: what is moved, by how much, and that no stream goes another way."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from iclutils import randomness
from iclutils.perturbation import SIZE, Perturbation
from iclutils.randomness import stream

DOUBLE = {"dtype": torch.float64}
DRAWS = {
    "randn": lambda g: torch.randn(50, generator=g, **DOUBLE),
    "randn in single precision": lambda g: torch.randn(50, generator=g),
    "rand": lambda g: torch.rand(50, generator=g, **DOUBLE),
    "normal": lambda g: torch.normal(0.0, 1.0, (50,), generator=g),
    "normal in place": lambda g: torch.empty(50).normal_(generator=g),
    "uniform in place": lambda g: torch.empty(50).uniform_(1, 2, generator=g),
    "many at once": lambda g: randomness.normal(5000, generator=g),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_draw_moves_by_rounding_and_its_stream_does_not(draw):
    plain = stream(0, "draws")
    first, after = draw(plain), torch.rand(3, generator=plain)
    moving = stream(0, "draws")
    with Perturbation(1):
        moved = draw(moving)
    eps = torch.finfo(first.dtype).eps
    change = (moved - first).abs() / (SIZE * eps)
    # of a normal variable the median is 0.67; Box and Muller's angle has 2π of it
    assert 0.1 < float(change.median()) < 3
    assert float(change.quantile(0.9)) < 100
    assert torch.equal(torch.rand(3, generator=moving), after)


def test_two_xi_move_in_two_ways_and_one_in_one():
    def moved(xi):
        with Perturbation(xi):
            return torch.randn(5, generator=stream(0, "draws"), **DOUBLE)

    assert torch.equal(moved(1), moved(1))
    assert not torch.equal(moved(1), moved(2))


def test_a_uniform_draw_stays_below_one():
    with Perturbation(1):
        drawn = torch.rand(2_000_000, generator=stream(0, "single precision"))
    assert float(drawn.min()) >= 0
    assert float(drawn.max()) < 1


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_a_start_at_zero_moves_by_the_size_itself(shape):
    with Perturbation(1):
        start = randomness.start(torch.zeros(shape, **DOUBLE))
        leaf = torch.zeros(shape, requires_grad=True)
        asked = torch.ones(shape, **DOUBLE).requires_grad_()
        array = randomness.start(np.ones(shape))
        left = torch.ones(shape, **DOUBLE).requires_grad_(False)
    size = SIZE * torch.finfo(torch.float64).eps
    assert 0 < float(start.abs().max()) < 5 * size
    assert 0 < float(leaf.detach().abs().max()) < 5 * SIZE * torch.finfo(torch.float32).eps
    assert leaf.is_leaf
    assert 0 < float((asked.detach() - 1).abs().max()) < 5 * size
    assert 0 < np.abs(array - 1).max() < 5 * size
    assert torch.equal(left, torch.ones(shape, **DOUBLE))


def test_whole_numbers_stay():
    plain = torch.randint(9, (50,), generator=stream(0, "whole"))
    with Perturbation(1):
        assert torch.equal(torch.randint(9, (50,), generator=stream(0, "whole")), plain)


NUMPY = """
import numpy as np
from iclutils.perturbation import perturb
from iclutils.randomness import chi_square, stream
plain = [np.random.default_rng(0).normal(size=4), np.random.default_rng(0).integers(9, size=4),
         np.asarray(np.random.default_rng(0).random()), chi_square(3, 4, stream(0, "x")).numpy()]
perturb(1)
moved = [np.random.default_rng(0).normal(size=4), np.random.default_rng(0).integers(9, size=4),
         np.asarray(np.random.default_rng(0).random()), chi_square(3, 4, stream(0, "x")).numpy()]
for one, other in zip(plain, moved):
    print(float(np.abs(other / np.where(one == 0, 1, one) - (one != 0)).max()))
"""


def test_numpys_draws_move_too():
    done = subprocess.run([sys.executable, "-c", NUMPY], capture_output=True, text=True, check=True)
    normal, whole, uniform, chi = map(float, done.stdout.split())
    assert whole == 0
    for moved in (normal, uniform, chi):
        assert 0 < moved < 1e-11
