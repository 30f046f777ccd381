"""The book's recorded sweeps: what their jobs compute, and that the records hold these jobs."""

import json
import math

import pytest
import torch

from iclutils import recorded
from iclutils.regression import layer_training
from iclutils.regression.diversity import four_digits
from iclutils.regression.fleet import draw_fleet
from iclutils.regression.setting import Setting, errors

POINT = {
    "d": 6,
    "alpha": 3,
    "kappa": 0.5,
    "tau": 0.5,
    "rho": 0.1,
    "ridge": 0.1,
    "trial": 0,
    "seed": 0,
}


def test_reduced_errors_are_those_of_the_setting():
    expected = errors(Setting(6, 3, 0.5, 0.5, 0.1), [0.1], 0, 0)
    found = recorded.reduced_errors(**POINT)
    assert [found["icl"], found["idg"]] == expected[0].tolist()
    endless = errors(Setting(6, 3, math.inf, 0.5, 0.1), [0.1], 0, 0)
    assert recorded.reduced_errors(**{**POINT, "kappa": "inf"})["icl"] == float(endless[0, 0])


def test_dmmse_is_measured_on_the_same_tasks():
    found = recorded.reduced_and_dmmse_errors(**POINT, contexts=4000)
    assert recorded.reduced_errors(**POINT).items() <= found.items()
    # k = 1: the posterior is the task itself, so that only the noise is left on the list and
    # ‖w − w₁‖²/d off it
    one = {**POINT, "kappa": 0.1, "trial": 1}
    alone = recorded.reduced_and_dmmse_errors(**one, contexts=4000)
    assert alone["dmmse_idg"] == pytest.approx(0.1)  # exact but for rounding
    w = Setting(6, 3, 0.1, 0.5, 0.1).tasks(0, 1)
    power = float(w.square().sum())
    se = math.sqrt((2 * 6 + 4 * power) / 4000) / 6  # of ‖w − w₁‖²/d, w normal
    # five standard errors: a false alarm in two million
    assert abs(alone["dmmse_icl"] - (0.1 + 1 + power / 6)) < 5 * se


def test_trained_layer_errors_have_four_digits_and_converge():
    found = recorded.trained_layer_errors(d=3, n=10, sets=2, rho=0.01, seed=0)
    assert set(found) == {"train", "icl"}
    assert max(found["train"]) < 1e-10  # 10 prompts, 15 parameters: fitted, as chapter 5b counts
    for digits, kept in ((4, True), (3, False)):
        assert all(float(f"{value:.{digits}g}") == value for value in found["icl"]) == kept


def test_softmax_layers_are_other_layers_on_the_same_prompts():
    settings = {"d": 2, "n": 5, "sets": 4, "rho": 0.01, "seed": 0}
    linear = recorded.trained_layer_errors(**settings)
    softmax = recorded.trained_layer_errors(softmax=True, **settings)
    prompts = draw_fleet([5] * 4, 2, 2, 0.01, 0)
    expected = layer_training.fit(prompts, 0, softmax=True, iterations=1000, unconverged=0.25)
    fresh = draw_fleet([400] * 4, 2, 2, 0.01, 0, role="test")
    assert softmax["icl"] == four_digits(expected.loss(fresh))
    assert softmax["icl"] != linear["icl"]


def test_layers_can_take_steps_of_adamw_instead():
    settings = {"d": 2, "n": 5, "sets": 4, "rho": 0.01, "seed": 0}
    found = recorded.trained_layer_errors(softmax=True, steps=30, **settings)
    prompts = draw_fleet([5] * 4, 2, 2, 0.01, 0)
    [expected] = layer_training.train(prompts, 0, [30], softmax=True)
    assert found["train"] == four_digits(expected.loss(prompts))
    [linear] = layer_training.train(prompts, 0, [30])
    assert recorded.trained_layer_errors(steps=30, **settings)["train"] == four_digits(
        linear.loss(prompts)
    )


def test_trained_transformer_errors_are_small_and_named():
    settings = {
        "d": 3,
        "blocks": 1,
        "dense": 0,
        "n": 20,
        "sets": 2,
        "rho": 0.01,
        "steps": 20,
        "rate": 1e-3,
        "seed": 0,
    }
    fresh = recorded.trained_transformer_errors(tasks=None, **settings)
    pooled = recorded.trained_transformer_errors(tasks=2, **settings)
    assert set(fresh) == {"train", "icl"}
    assert set(pooled) == {"train", "icl", "idg"}
    assert torch.tensor(pooled["idg"]).shape == (3, 2)


def test_drift_knows_the_sweeps_by_name():
    with pytest.raises(KeyError, match="name must be one of"):
        recorded.drift("circles", [])
    with pytest.raises(ValueError, match="at least one row"):
        recorded.drift("05b_attention_layers", [])
    with pytest.raises(KeyError, match="name must be one of"):
        recorded.read("circles")


@pytest.mark.parametrize("name", sorted(recorded.SWEEPS))
def test_registered_jobs_are_distinct_and_recorded(name):
    jobs = recorded.SWEEPS[name].jobs
    assert len({json.dumps(job, sort_keys=True) for job in jobs}) == len(jobs)
    rows = recorded.read(name)["jobs"]
    settings = [{key: row[key] for key in job} for row, job in zip(rows, jobs, strict=True)]
    assert settings == jobs
