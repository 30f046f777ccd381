"""A job of the sweep: that its record is what its parts say, small enough to run here."""

import pytest
import torch

from iclutils.transformer import storage, sweep_jobs
from iclutils.transformer.evaluation import respond
from iclutils.transformer.models import Architecture
from iclutils.transformer.samplers import Kinks, draw_for_networks

SETTINGS = {
    "d": 2,
    "n": 6,
    "sigma": 1.0,
    "steepness": [1.0, 4.0],
    "asked": [2.0, 4.0],
    "shuffled": False,
    "blocks": 1,
    "heads": 1,
    "hidden": 0,
    "steps": 200,
    "networks": 2,
    "seed": 0,
}


@pytest.fixture(scope="module")
def job():
    return sweep_jobs.transformers_on_kinks(**SETTINGS)


def test_the_first_network_can_be_computed_again_from_the_record(job):
    architecture = Architecture(2, 1, 1, hidden=0)
    weights = storage.unpack(architecture, job["weights"])
    kinks = Kinks(2, 6, 1.0, (4.0,))
    prompt = draw_for_networks(kinks, 1, (sweep_jobs.TEST_PROMPTS,), 0, sweep_jobs.ROLE, [0])
    found = respond(architecture, weights, prompt, 4.0)
    again = sweep_jobs.describe(found.answer, found.influence, prompt)
    for name in ("error", "sum", "squares", "near"):
        # sixteen bits a weight, and five digits in the record
        assert again[name][0] == pytest.approx(job["network"][1][name][0], rel=2e-3, abs=1e-4)


def test_the_rivals_are_as_they_must_be(job):
    for row in job["softmax"]:
        assert row["sum"] == [1.0, 1.0]
        assert min(min(one) for one in row["profile"]) >= 0
    for of_network in zip(*(row["near"] for row in job["softmax"]), strict=True):
        # the window is the same at every steepness; the places are others
        assert max(of_network) - min(of_network) < 0.05
    assert len(job["losses"]) == 2
    assert len(job["network"]) == 2


def test_a_fleet_is_continued_by_the_networks_that_a_larger_one_has(job):
    later = sweep_jobs.transformers_on_kinks(**SETTINGS | {"networks": 1, "first": 1})
    for name in ("error", "near"):
        # float32 over 200 steps: a product of one network is rounded as one of two is, or nearly
        assert later["network"][0][name][0] == pytest.approx(job["network"][0][name][1], rel=1e-3)
    assert "weights" not in later


def test_the_fleets_of_a_kind_are_found_in_their_order():
    whole = sweep_jobs.WHOLE | {"steepness": [4.0]}
    jobs = [whole | {"first": 16}, whole, whole | {"first": 8}, whole | {"blocks": 1}]
    assert sweep_jobs.fleet_of(jobs, 4.0) is jobs[1]
    assert sweep_jobs.fleets_of(jobs, 4.0) == [jobs[1], jobs[2], jobs[0]]
    with pytest.raises(ValueError, match="must have fleets with"):
        sweep_jobs.fleets_of(jobs, 1.0)


def test_digits():
    assert sweep_jobs.digits(torch.tensor([[1.23456789], [2.0]])) == [[1.2346], [2.0]]


def test_a_fleet_is_found_by_what_it_differs_in_and_its_numbers_by_the_steepness_asked(job):
    jobs = [SETTINGS | job | sweep_jobs.WHOLE | {"steps": steps} for steps in (2000, 6000)]
    longer = sweep_jobs.fleet_of(jobs, 1.0, 4.0, steps=6000)
    assert longer is jobs[1]
    errors = sweep_jobs.numbers_of(longer, "network", 4.0, "error")
    assert errors.tolist() == job["network"][1]["error"]


@pytest.mark.parametrize(("jobs", "count"), [([], 0), ([{}, {}], 2)])
def test_a_record_that_has_not_one_such_fleet_is_refused(jobs, count):
    whole = sweep_jobs.WHOLE | {"steepness": [4.0]}
    with pytest.raises(ValueError, match=f"one fleet with .*; got {count}"):
        sweep_jobs.fleet_of([whole | one for one in jobs], 4.0)
