"""The book's recorded sweeps: what their jobs compute, and that the records hold these jobs."""

import json
import math

import pytest
import torch

from book.sweeps import SWEEPS
from claimbook import read_record
from iclutils.regression import levenberg_marquardt, sweep_jobs
from iclutils.regression.experiment import Setting, errors
from iclutils.regression.sweep_jobs import four_digits
from iclutils.regression.training_sets import draw_fleet
from iclutils.regression.transformer_training import train
from iclutils.regression.transformers import Architecture, forward, losses, tokens_of

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
    expected = errors(Setting(d=6, alpha=3, kappa=0.5, tau=0.5, rho=0.1), [0.1], 0, 0)
    found = sweep_jobs.reduced_errors(**POINT)
    assert [found["icl"], found["idg"]] == expected[0].tolist()
    endless = errors(Setting(d=6, alpha=3, kappa=math.inf, tau=0.5, rho=0.1), [0.1], 0, 0)
    assert sweep_jobs.reduced_errors(**{**POINT, "kappa": "inf"})["icl"] == float(endless[0, 0])


def test_dmmse_is_measured_on_the_same_tasks():
    found = sweep_jobs.reduced_and_dmmse_errors(**POINT, contexts=4000)
    assert sweep_jobs.reduced_errors(**POINT).items() <= found.items()
    # k = 1: the posterior is the task itself, so that only the noise is left on the list and
    # ‖w − w₁‖²/d off it
    one = {**POINT, "kappa": 0.1, "trial": 1}
    alone = sweep_jobs.reduced_and_dmmse_errors(**one, contexts=4000)
    assert alone["dmmse_idg"] == pytest.approx(0.1)  # exact but for rounding
    w = Setting(d=6, alpha=3, kappa=0.1, tau=0.5, rho=0.1).tasks(0, 1)
    power = float(w.square().sum())
    se = math.sqrt((2 * 6 + 4 * power) / 4000) / 6  # of ‖w − w₁‖²/d, w normal
    # five standard errors: a false alarm in two million
    assert abs(alone["dmmse_icl"] - (0.1 + 1 + power / 6)) < 5 * se


def test_trained_layer_errors_have_four_digits_and_converge():
    found = sweep_jobs.trained_layer_errors(d=3, n=10, sets=2, rho=0.01, seed=0)
    assert set(found) == {"train", "icl"}
    assert max(found["train"]) < 1e-10  # 10 prompts, 15 parameters: fitted, as chapter 5b counts
    for digits, kept in ((4, True), (3, False)):
        assert all(float(f"{value:.{digits}g}") == value for value in found["icl"]) == kept


def test_softmax_layers_are_other_layers_on_the_same_prompts():
    settings = {"d": 2, "n": 5, "sets": 4, "rho": 0.01, "seed": 0}
    linear = sweep_jobs.trained_layer_errors(**settings)
    softmax = sweep_jobs.trained_layer_errors(softmax=True, **settings)
    prompts = draw_fleet([5] * 4, 2, 2, 0.01, 0)
    expected = levenberg_marquardt.fit(prompts, 0, softmax=True, iterations=1000, unconverged=0.25)
    fresh = draw_fleet([400] * 4, 2, 2, 0.01, 0, role="test")
    assert softmax["icl"] == four_digits(expected.loss(fresh))
    assert softmax["icl"] != linear["icl"]


def test_layers_can_take_steps_of_adamw_instead():
    settings = {"d": 2, "n": 5, "sets": 4, "rho": 0.01, "seed": 0}
    found = sweep_jobs.trained_layer_errors(softmax=True, steps=30, **settings)
    prompts = draw_fleet([5] * 4, 2, 2, 0.01, 0)
    [expected] = levenberg_marquardt.train(prompts, 0, [30], softmax=True)
    assert found["train"] == four_digits(expected.loss(prompts))
    [linear] = levenberg_marquardt.train(prompts, 0, [30])
    assert sweep_jobs.trained_layer_errors(steps=30, **settings)["train"] == four_digits(
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
    fresh = sweep_jobs.trained_transformer_errors(tasks=None, **settings)
    pooled = sweep_jobs.trained_transformer_errors(tasks=2, **settings)
    assert set(fresh) == {"train", "icl"}
    assert set(pooled) == {"train", "icl", "idg"}
    assert torch.tensor(pooled["idg"]).shape == (3, 2)


def halves(*, x: int, device: str = "cpu"):
    return {"y": x / 2, "z": [0.0, 2.0 * x]}


def test_drift_is_the_largest_change_of_a_number():
    row = {"x": 1, "y": 0.5, "z": [0.0, 2.0], "cpu_s": 0.1}
    assert sweep_jobs.settings_of(halves, row) == {"x": 1}
    assert sweep_jobs.drift(halves, row) == 0
    # 2 for 2.5: exact but for rounding, which pytest's default of 1e-6 covers
    assert sweep_jobs.drift(halves, row | {"z": [0.0, 2.5]}) == pytest.approx(0.2)


def test_tabulate_lays_rows_out_by_axes():
    rows = [
        {"a": a, "t": t, "kind": kind, "y": 10.0 * a + t, "sets": [[1.0, 10.0 * a + t]] * 4}
        for kind in "xy"
        for a in (2, 1)
        for t in (0, 1, 2)
    ]
    both = sweep_jobs.tabulate(rows, ["a", "t"], ["y", "t"], kind="x")
    assert both[..., 0].tolist() == [[10, 11, 12], [20, 21, 22]]
    assert both[..., 1].tolist() == [[0, 1, 2]] * 2
    lists = sweep_jobs.tabulate(rows, ["a", "t"], ["sets"], kind="x")
    assert lists.shape == (2, 3, 1, 4, 2)
    assert lists[1, 2, 0, 3].tolist() == [1, 22]
    for some in (rows, rows[1:6]):
        with pytest.raises(ValueError, match="every combination"):
            sweep_jobs.tabulate(some, ["a", "t"], ["y"])


@pytest.mark.parametrize("name", sorted(SWEEPS))
def test_registered_jobs_are_distinct_and_recorded(name):
    jobs = SWEEPS[name].jobs
    assert len({json.dumps(job, sort_keys=True) for job in jobs}) == len(jobs)
    rows = read_record(name)["jobs"]
    settings = [{key: row[key] for key in job} for row, job in zip(rows, jobs, strict=True)]
    assert settings == jobs


COMMON = {"d": 3, "alpha": 2, "tau": 4, "tasks": 2, "sets": 2, "rho": 0.01, "seed": 0}
TRAINING = {"width": 12, "blocks": 2, "batch": 8, "rate": 1e-3}


def test_layers_on_lists_have_three_errors_and_say_whether_they_converged():
    found = sweep_jobs.layers_on_lists(**COMMON, softmax=False, iterations=100)
    assert set(found) == {"train", "icl", "idg", "converged"}
    assert all(len(values) == 2 for values in found.values())
    assert set(found["converged"]) <= {0.0, 1.0}


def test_a_shorter_training_is_the_start_of_a_longer_one():
    long = sweep_jobs.transformers_on_lists(**COMMON, **TRAINING, steps=80)
    short = sweep_jobs.transformers_on_lists(**COMMON, **TRAINING, steps=20)
    assert set(long) == {"train", "icl", "idg"}
    assert torch.tensor(long["icl"]).shape == (3, 2)
    assert long["icl"][1] == short["icl"][2]


def test_other_rounding_leads_to_the_same_training():
    # a device rounds in another order; single for double precision is rounding made coarser
    fleet = sweep_jobs._fleets(
        *(COMMON[name] for name in ("d", "alpha", "tau", "tasks", "sets", "rho", "seed"))
    )["train"]
    architecture = Architecture(3, 2, 1, 12)
    errors = [
        losses(
            architecture,
            train(architecture, fleet, 0, [40], cooldown=0, batch=8, dtype=dtype)[0],
            fleet,
        )
        for dtype in (torch.float32, torch.float64)
    ]
    # single precision is 6e-8, and 40 steps of Adam, which divides by small gradients,
    # amplify it by less than 10⁴
    assert errors[0].tolist() == pytest.approx(errors[1].tolist(), rel=6e-4)


def test_a_training_by_curriculum_is_looked_at_after_thirds_of_its_last_steps(monkeypatch):
    looked_at = []

    def note(*arguments, **how):
        looked_at.extend(arguments[5])
        raise InterruptedError

    monkeypatch.setattr(sweep_jobs.transformer_training, "train_by_curriculum", note)
    with pytest.raises(InterruptedError):
        sweep_jobs.transformer_by_curriculum(
            d=5, width=4, blocks=1, alpha=2, tau=1.0, tasks=3, rho=0.01, network=0, first=2,
            stage=10, last=90, batch=4, rate=1e-3, cooldown=0.1, seed=0,
        )  # fmt: skip
    assert looked_at == [60, 90, 120]  # three stages of ten steps, and thirds of ninety


def test_networks_practise_on_the_lists_and_answer_the_same_prompts(monkeypatch):
    practice = []

    def note(architecture, fleet, tasks, seed, *_, model, **__):
        practice.append((fleet.z, tasks, model))
        return [architecture.initial_weights(seed, [model])]

    monkeypatch.setattr(sweep_jobs.transformer_training, "train_by_curriculum", note)
    found = [
        sweep_jobs.answers_of_lists(
            d=3, width=4, blocks=1, alpha=2, tau=2.0, tasks=2, rho=0.01, list_index=list_index,
            network=network, first=2, stage=5, last=10, batch=4, rate=1e-3, cooldown=0.1, seed=0,
            further=True,
        )
        for list_index in (0, 1)
        for network in (0, 1)
    ]  # fmt: skip
    prompts, lists, models = zip(*practice, strict=True)
    assert torch.equal(lists[0], lists[1])
    assert torch.equal(lists[2], lists[3])
    assert not torch.equal(lists[1], lists[2])
    assert len({float(z.sum()) for z in prompts}) == len(set(models)) == 4
    # by the other route: the first weights, on the prompts that all answer
    common = sweep_jobs.common_prompts(3, 2, 0.01, 0)
    others = sweep_jobs.common_prompts(3, 2, 0.01, 0, further=True)
    assert not torch.isin(others.y, common.y).any()
    [labels] = common.y
    for model, row in zip(models, found, strict=True):
        weights = Architecture(3, 1, 1, 4).initial_weights(0, [model])
        [expected] = forward(Architecture(3, 1, 1, 4), weights, tokens_of(common).tokens)
        [more] = forward(Architecture(3, 1, 1, 4), weights, tokens_of(others).tokens)
        # three decimals
        assert float((torch.tensor(row["answers"]) - expected).abs().max()) < 6e-4
        assert float((torch.tensor(row["further_answers"]) - more).abs().max()) < 6e-4
        assert row["icl"] == [pytest.approx(float((expected - labels).square().mean()), rel=1e-3)]
        assert set(row) == {"answers", "further_answers", "icl", "idg"}
