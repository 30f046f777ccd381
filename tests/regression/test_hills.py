"""The top of a hill and its height: against a known parabola, and on noise alone."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.regression import hills


def drawn(height, runs, noise=0.1, key=0, at=20.0):
    tau = torch.arange(1, 81, dtype=torch.float64)
    noisy = noise * torch.randn(80, runs, dtype=torch.float64, generator=stream(0, "hill", key))
    return tau, -height * (tau / at).log()[:, None] ** 2 + noisy


@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_the_top_of_a_parabola_is_found(factor):
    found = [hills.top(*drawn(0.3, 5, key=key), factor) for key in range(200)]
    errors = torch.tensor([(one.value - math.log(20)) / one.se for one in found])
    # of 200 standard normals the mean is within 4/√200 and the spread within 4/√400 of 1
    assert abs(float(errors.mean())) < 0.3
    assert abs(float(errors.std()) - 1) < 0.2


def test_the_rise_is_that_of_the_curve():
    tau, logs = drawn(0.3, 5, noise=0.0)
    near = (tau >= 18) & (tau <= 22)
    found = hills.rise(logs)
    assert found.from_the_left.value == pytest.approx(float(logs[near].mean() - logs[:5].mean()))
    assert found.to_the_right.value == pytest.approx(float(logs[near].mean() - logs[-5:].mean()))


def test_half_of_the_runs_say_where_the_hill_is_and_the_others_how_high():
    """Two of the first three runs have a hill at 30, the third a higher one at 10."""
    logs = torch.zeros(80, 6, dtype=torch.float64)
    logs[30, :2], logs[10, 2] = 1.0, 3.0
    logs[10, 3:] = 5.0
    found = hills.rise(logs)
    assert found.from_the_left.value == pytest.approx(1.0)  # one of five places is 5 high


def test_noise_is_no_hill():
    # 400 intervals at a level of 1e-4, one-sided: one false alarm has a chance of 2 %
    alarms = 0
    for key in range(200):
        found = hills.rise(drawn(0.0, 5, key=key)[1])
        alarms += sum(one.value > one.half_width for one in found)
    assert alarms == 0


def test_published_rows_make_a_curve():
    rows = [
        {"d": 5, "tau": 2.0, "checkpoints": [1, 3], "icl": [[1.0, 2.0], [3.0, 4.0]]},
        {"d": 5, "tau": 1.0, "checkpoints": [1, 3], "icl": [[5.0, 6.0]]},
        {"d": 6, "tau": 1.0, "icl": [7.0, 8.0]},
    ]
    found = hills.published_curve(rows, 5, checkpoint=3)
    assert found.tau.tolist() == [1, 2]
    assert found.logs.exp().flatten().tolist() == pytest.approx([6, 2])
    assert hills.published_curve(rows, 6).logs.exp().tolist()[0] == pytest.approx([7, 8])
    with pytest.raises(ValueError, match="d must be"):
        hills.published_curve(rows, 7)
    with pytest.raises(ValueError, match="not in list"):
        hills.published_curve(rows, 5, checkpoint=2)


def test_bad_input_is_refused():
    tau, logs = drawn(0.3, 5)
    with pytest.raises(ValueError, match="factor must be above 1"):
        hills.top(tau, logs, 1)
    with pytest.raises(ValueError, match="opens upwards"):
        hills.top(tau, -logs, 80)
    with pytest.raises(ValueError, match=r"within 1\.01"):
        hills.top(tau, logs, 1.01)
    with pytest.raises(ValueError, match="R must be"):
        hills.rise(logs[:, :3])
