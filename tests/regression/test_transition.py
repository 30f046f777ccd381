"""Place and share of a fall: by hand on straight lines, and against the formula of four means."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.ground.statistics import share_of_fall
from iclutils.regression import transition

KAPPAS = (0.2, 0.6, 1.0, 3.0, 20.0)


def test_an_even_fall_has_its_share_and_its_middle():
    means = -torch.tensor([math.log(kappa) for kappa in KAPPAS], dtype=torch.float64)
    logs = means[:, None].expand(-1, 4)
    share = transition.share_around(KAPPAS, logs)
    assert share.value == pytest.approx(math.log(5) / math.log(100))
    assert share.se == pytest.approx(0, abs=1e-12)
    assert transition.halfway(KAPPAS, logs).value == pytest.approx(math.log10(2))  # √(0.2·20)
    between = transition.share_around((0.2, 1.0, 20.0), logs[[0, 2, 4]])
    assert between.value == pytest.approx(share.value)  # a straight line, whatever the grid


def test_on_the_grid_it_is_the_share_of_four_means():
    logs = torch.randn(5, 12, dtype=torch.float64, generator=stream(0, "transition"))
    logs = logs - 3 * torch.arange(5, dtype=torch.float64)[:, None]
    found, expected = transition.share_around(KAPPAS, logs), share_of_fall(logs[[0, 1, 3, 4]])
    assert tuple(found) == pytest.approx(tuple(expected))


def test_bad_input_is_refused():
    logs = torch.zeros(5, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="kappas must reach"):
        transition.share_around((1, 2, 3, 4, 5), logs)
    with pytest.raises(ValueError, match="rise"):
        transition.halfway((1, 3, 2, 4, 5), logs)
    with pytest.raises(ValueError, match="logs"):
        transition.halfway((1, 2), logs)
