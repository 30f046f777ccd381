"""A job of the sweep on letters, small enough to run here, and how its record is read."""

import math

import pytest
import torch

from iclutils.transformer import letter_jobs
from iclutils.transformer.letter_training import Descent, train_on_letters
from iclutils.transformer.letters import Letters
from iclutils.transformer.models import Architecture

SETTINGS = {
    "K": 3,
    "p1": 0.5,
    "optimiser": "AdamW",
    "rate": 0.003,
    "steps": 12,
    "blocks": 1,
    "networks": 2,
    "seed": 0,
}


@pytest.fixture(scope="module")
def job():
    return SETTINGS | letter_jobs.transformers_on_letters(**SETTINGS)


def test_the_record_is_the_course_of_the_training(job):
    course = train_on_letters(
        Architecture(3, 1), Letters(3, 150), Descent("AdamW", 0.003, 12), 0, range(2)
    )
    assert job["at"] == course.at
    assert job["loss"] == pytest.approx(course.loss.tolist(), abs=1e-4)  # four decimals
    for what in ("error", "own", "dominant"):
        for kind, values in zip(letter_jobs.KINDS, getattr(course, what), strict=True):
            kept = letter_jobs.curve_of(job, what, kind)
            assert torch.allclose(kept, values, atol=1e-4)  # four decimals


def test_an_exponent_is_the_slope_through_all_networks():
    logs = {10: torch.tensor([1.0, 1.2, 0.8]), 40: torch.tensor([2.0, 2.3, 2.0])}
    found = letter_jobs.exponent_in_K(logs)
    step = math.log(4)
    assert found.value == pytest.approx((2.1 - 1.0) / step)
    # two groups: the standard error of a difference of means, with their pooled variance
    pooled = (3 - 1) * (logs[10].var() + logs[40].var()) / 4
    assert found.se == pytest.approx(float((2 * pooled / 3).sqrt()) / step)
    assert found.dof == 4


def test_a_fleet_is_found_by_its_settings(job):
    jobs = [job, job | {"blocks": 2}, job | {"blocks": 2, "p1": 0.3}]
    assert letter_jobs.fleet_of(jobs, 3, "AdamW", blocks=1) is job
    assert letter_jobs.fleet_of(jobs, 3, "AdamW") is jobs[1]
    assert letter_jobs.fleet_of(jobs, 3, "AdamW", p1=0.3) is jobs[2]
    with pytest.raises(ValueError, match=r"one fleet with .*; got 0"):
        letter_jobs.fleet_of(jobs, 4, "AdamW")


def test_a_number_is_read_after_the_steps_of_each_network():
    job = {"at": [0, 10, 20], "own": {"rare": [[0.0, 1.0], [2.0, 3.0], [4.0, 7.0]]}}
    steps = torch.tensor([5.0, 15.0])
    assert letter_jobs.curve_at(job, "own", "rare", steps).tolist() == [1.0, 5.0]
