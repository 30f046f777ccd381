"""Sweeps are extended, record their provenance, and say how far they are.

That a killed one goes on is tested with the other processes that are killed.
"""

import json
import multiprocessing
import os
import time
from pathlib import Path

import distributed
import pytest

from claimbook.runs import provenance, records, sweeps


def _square(*, x: int, log: str) -> dict[str, float]:
    with open(log, "a", encoding="utf8") as file:
        file.write(f"{x}\n")
    return {"y": float(x * x)}


def test_a_recorded_sweep_is_extended_not_repeated(tmp_path, monkeypatch):
    log, parts = str(tmp_path / "log"), tmp_path / "parts"

    def extend(top, **options):
        sweep = sweeps.Sweep(_square, [{"x": x, "log": log} for x in range(10, top)])
        sweeps.run("squares", sweep, unfinished=parts, target=tmp_path, **options)
        return records.read("squares", tmp_path)

    monkeypatch.setattr(provenance, "machine", lambda: "an old machine")
    old = extend(12)
    kept = {"command", "cpu_s", "machine", "versions", "python", "date", "commit"}
    assert kept <= set(old)
    assert not any("recorded" in row for row in old["jobs"])
    assert [p for p in parts.rglob("*") if p.is_file()] == []
    monkeypatch.setattr(provenance, "machine", lambda: "a new machine")
    new = extend(15)
    assert Path(log).read_text().split() == ["10", "11", "12", "13", "14"]
    assert [row["y"] for row in new["jobs"]] == [100, 121, 144, 169, 196]
    assert new["machine"] == "a new machine"
    said = [row.pop("recorded", None) for row in new["jobs"]]
    assert said == [{"machine": "an old machine"}] * 2 + [None] * 3
    assert new["jobs"][:2] == old["jobs"], "what was recorded is kept to the letter"
    told = (tmp_path / "squares.json").read_text()
    extend(15)
    assert (tmp_path / "squares.json").read_text() == told
    assert extend(13)["machine"] == "an old machine"  # where most rows were made
    again = extend(13, fresh=True)
    assert Path(log).read_text().split()[5:] == ["10", "11", "12"]
    assert again["machine"] == "a new machine"
    assert not any("recorded" in row for row in again["jobs"])


def test_a_record_that_holds_a_job_twice_is_refused(tmp_path):
    sweep = sweeps.Sweep(_square, [{"x": 11, "log": str(tmp_path / "log")}])
    path = sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)
    data = json.loads(path.read_text())
    twice = {**data, "jobs": data["jobs"] * 2}
    path.write_text(json.dumps(twice | {"seal": records.seal(twice)}))
    with pytest.raises(ValueError, match="two rows for the settings"):
        sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)


@pytest.mark.parametrize("field", ["y", "x", "cpu_s"])
def test_a_number_changed_by_hand_breaks_the_seal(tmp_path, field):
    sweep = sweeps.Sweep(_square, [{"x": 11, "log": str(tmp_path / "log")}])
    path = sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)
    assert records.read("squares", tmp_path)["jobs"][0]["y"] == 121
    data = json.loads(path.read_text())
    data["jobs"][0][field] += 1
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="changed by hand"):
        records.read("squares", tmp_path)
    with pytest.raises(ValueError, match="changed by hand"):
        sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)


@pytest.mark.parametrize("text", ["{", "", "[]", "3"])
def test_a_broken_record_is_named(tmp_path, text):
    (tmp_path / "squares.json").write_text(text)
    with pytest.raises(ValueError, match=r"squares\.json (is no JSON|was changed by hand)"):
        records.read("squares", tmp_path)


def test_a_missing_record_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"python -m iclutils\.recorded nothing"):
        records.read("nothing", tmp_path)


def test_drift_is_the_largest_change(tmp_path):
    log = str(tmp_path / "log")
    squares = sweeps.Sweep(_square, [{"x": x, "log": log} for x in (1, 2)])
    rows = [
        {"x": 1, "log": log, "y": 1.0, "cpu_s": 0.1},
        {"x": 2, "log": log, "y": 5.0, "cpu_s": 0.1},
    ]
    assert sweeps.drift(squares, rows[:1]) == 0
    # 4 for 5: exact but for rounding, which pytest's default of 1e-6 covers
    assert sweeps.drift(squares, rows) == pytest.approx(0.2)
    lists = sweeps.Sweep(lambda x: {"y": [0.0, 2.0 * x]}, [{"x": 1}])
    assert sweeps.drift(lists, [{"x": 1, "y": [0.0, 2.5]}]) == pytest.approx(0.2)
    with pytest.raises(ValueError, match="at least one row"):
        sweeps.drift(squares, [])


def test_a_sweep_says_how_far_it_is_and_nothing_where_nothing_is_missing(tmp_path, capfd):
    sweep = sweeps.Sweep(_square, [{"x": x, "log": str(tmp_path / "log")} for x in (1, 2)])
    sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)
    told = capfd.readouterr().err.splitlines()
    assert told[0].startswith("squares: 1 of 2 jobs done in ")
    assert told[1].startswith("squares: 2 of 2 jobs done in ")
    assert told[1].endswith("about 0 s left")
    sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)
    assert capfd.readouterr().err == ""


def _meet(*, x: int, folder: str) -> dict[str, float]:
    """Two such jobs wait for each other: they end only if two workers run them at once."""
    Path(folder, str(x)).touch()
    deadline = time.monotonic() + 60
    while not Path(folder, str(1 - x)).exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the other job did not start")
        time.sleep(0.01)
    return {"pid": os.getpid()}


@pytest.mark.parametrize("cluster", [False, True], ids=["processes", "dask"])
def test_two_workers_share_the_jobs(tmp_path, cluster):
    """Processes, or two threads of another process."""
    sweep = sweeps.Sweep(_meet, [{"x": x, "folder": str(tmp_path)} for x in range(2)])
    folders = {"unfinished": tmp_path / "parts", "target": tmp_path}
    if cluster:
        local = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
        with distributed.LocalCluster(**local, processes=True) as running:
            sweeps.run("meet", sweep, dask=running.scheduler_address, **folders)
    else:
        sweeps.run("meet", sweep, workers=2, **folders)
    rows = records.read("meet", tmp_path)["jobs"]
    assert [row["x"] for row in rows] == [0, 1]
    assert len({os.getpid(), *(row["pid"] for row in rows)}) == (2 if cluster else 3)


def _hold(*, folder: str) -> dict[str, float]:
    """A job that lasts until the file ``end`` is there, and counts how often it is run."""
    with Path(folder, "log").open("a", encoding="utf8") as file:
        file.write("run\n")
    deadline = time.monotonic() + 60
    while not Path(folder, "end").exists():
        if time.monotonic() > deadline:
            raise TimeoutError("nobody let the job end")
        time.sleep(0.01)
    return {"y": 1.0}


def test_a_second_process_on_a_sweep_is_refused_and_the_first_ends(tmp_path):
    sweep = sweeps.Sweep(_hold, [{"folder": str(tmp_path)}])
    folders = {"unfinished": tmp_path / "parts", "target": tmp_path}
    context = multiprocessing.get_context("fork")
    first = context.Process(target=sweeps.run, args=("held", sweep), kwargs=folders)
    first.start()
    deadline = time.monotonic() + 60
    while not (tmp_path / "log").exists():
        assert first.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with pytest.raises(RuntimeError, match="another process runs the sweep held"):
        sweeps.run("held", sweep, **folders)
    assert not (tmp_path / "held.json").exists()
    (tmp_path / "end").touch()
    first.join(60)
    assert first.exitcode == 0
    sweeps.run("held", sweep, **folders)  # nobody holds it any more, and nothing is missing
    assert (tmp_path / "log").read_text() == "run\n"


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(ValueError, match="workers must be at least 1"):
        sweeps.run("squares", sweeps.Sweep(_square, []), workers=0, target=tmp_path)


def _placed(*, x: int, device: str = "cpu") -> dict[str, float]:
    return {"y": float(x), "on_cpu": float(device == "cpu")}


def test_a_plan_runs_the_first_job_and_says_what_all_will_cost(tmp_path, monkeypatch):
    log = tmp_path / "log"
    jobs = [{"x": x, "log": str(log)} for x in (4, 5, 6)]
    sweep = sweeps.Sweep(_square, jobs, work=lambda job: job["x"] - 3)
    where = {"unfinished": tmp_path / "parts", "target": tmp_path}
    ticks = iter([0.0, 900.0])  # a quarter of an hour for the first, six times that for all
    with monkeypatch.context() as patched:
        patched.setattr(sweeps.time, "monotonic", lambda: next(ticks))
        told = sweeps.plan("squares", sweep, **where)
    assert told == (
        "squares: 3 jobs, 3 of them to be run; the first took 900.0 s, "
        "all will take about 1.5 hours"
    )
    again = sweeps.plan("squares", sweep, **where)
    assert again.startswith("squares: 3 jobs, 2 of them to be run; ")
    sweeps.run("squares", sweep, **where)
    assert log.read_text().split() == ["4", "5", "6"]  # those of the plans were kept
    assert sweeps.plan("squares", sweep, **where) == "squares: 3 jobs, 0 of them to be run"


def test_a_sweep_says_on_which_device_it_ran(tmp_path):
    sweep = sweeps.Sweep(_placed, [{"x": 1}])
    assert sweep.on("cpu") is sweep
    sweeps.run("placed", sweep.on("meta"), unfinished=tmp_path / "parts", target=tmp_path)
    found = records.read("placed", tmp_path)
    assert found["jobs"][0]["on_cpu"] == 0
    assert found["machine"].endswith(", meta")
    with pytest.raises(ValueError, match="device must be 'cpu' for this sweep; got 'cuda'"):
        sweeps.Sweep(_square, [{"x": 1, "log": "log"}]).on("cuda")
