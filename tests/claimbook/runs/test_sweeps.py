"""A sweep is interrupted and goes on, is extended, says how far it is and where it was made."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import distributed
import pytest

from claimbook.runs import sweeps
from claimbook.runs.sweeps import Sweep

DEADLINE = 300.0  # seconds


def square(*, x: int, folder: str) -> dict[str, float]:
    """Do a short job; where the file ``hold`` names it, it lasts until it is killed."""
    hold = Path(folder, "hold")
    while hold.exists() and x == int(hold.read_text()):
        Path(folder, "held").touch()
        time.sleep(0.01)
    with Path(folder, "log").open("a", encoding="utf8") as file:
        file.write(f"{x}\n")
    return {"y": float(x * x)}


def placed(*, x: int, device: str = "cpu") -> dict[str, float]:
    return {"y": float(x), "on_cpu": float(device == "cpu")}


@pytest.fixture
def folders(tmp_path):
    return {"unfinished": tmp_path / "parts", "folder": tmp_path}


def recorded(name, folder):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf8"))


def wait_until(condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def squares(top, folder):
    jobs = [{"x": x, "folder": str(folder)} for x in range(10, top)]
    Sweep(square, jobs).run("squares", unfinished=folder / "parts", folder=folder)
    return recorded("squares", folder)


def test_a_recorded_sweep_is_extended_not_repeated(tmp_path, monkeypatch, capfd):
    def extend(top, machine):
        about = sweeps_here() | {"machine": machine, "clean": False, "commit": "abc"}
        monkeypatch.setattr(sweeps, "here", lambda: about)
        return squares(top, tmp_path)

    sweeps_here = sweeps.here
    old = extend(12, "an old machine")
    assert "elapsed" in capfd.readouterr().err
    assert (old["machine"], old["commit"]) == ("an old machine, one core a job", "abc-dirty")
    assert {"command", "cpu_s", "versions", "python", "date"} <= set(old)
    assert "earlier" not in old
    new = extend(15, "a new machine")
    assert (tmp_path / "log").read_text().split() == ["10", "11", "12", "13", "14"]
    assert [row["y"] for row in new["jobs"]] == [100, 121, 144, 169, 196]
    assert new["jobs"][:2] == old["jobs"], "what was recorded is kept to the letter"
    assert new["machine"].startswith("a new machine")
    assert [(one["new"], one["machine"][:6]) for one in new["earlier"]] == [(2, "an old")]
    assert extend(15, "a third machine") == new


def test_a_sweep_that_is_killed_goes_on(tmp_path):
    (tmp_path / "hold").write_text("13")
    first = multiprocessing.get_context("fork").Process(target=squares, args=(15, tmp_path))
    first.start()
    wait_until((tmp_path / "held").exists)
    first.kill()
    first.join(60)
    assert not (tmp_path / "squares.json").exists()
    (tmp_path / "hold").unlink()
    assert [row["y"] for row in squares(15, tmp_path)["jobs"]] == [100, 121, 144, 169, 196]
    assert sorted((tmp_path / "log").read_text().split()) == ["10", "11", "12", "13", "14"]


def meet(*, x: int, folder: str) -> dict[str, float]:
    """Two such jobs wait for each other: they end only if two workers run them at once."""
    Path(folder, str(x)).touch()
    wait_until(Path(folder, str(1 - x)).exists)
    return {"pid": os.getpid()}


@pytest.mark.parametrize("cluster", [False, True], ids=["processes", "dask"])
def test_two_workers_share_the_jobs(tmp_path, folders, cluster):
    """Processes, or two threads of another process."""
    sweep = Sweep(meet, [{"x": x, "folder": str(tmp_path)} for x in range(2)])
    if cluster:
        local = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
        with distributed.LocalCluster(**local, processes=True) as running:
            sweep.run("meet", dask=running.scheduler_address, workers=-1, **folders)
    else:
        sweep.run("meet", workers=2, **folders)
    rows = recorded("meet", tmp_path)["jobs"]
    assert [row["x"] for row in rows] == [0, 1]
    assert len({os.getpid(), *(row["pid"] for row in rows)}) == (2 if cluster else 3)


def test_a_sweep_says_on_which_device_it_ran_and_a_second_process_on_it_is_refused(
    tmp_path, folders
):
    with pytest.raises(ValueError, match="device must be 'cpu' for this sweep; got 'meta'"):
        Sweep(square, []).run("squares", device="meta", **folders)
    sweep = Sweep(placed, [{"x": 1}])
    refused = pytest.raises(RuntimeError, match="another process runs the sweep placed")
    with sweeps.lock(folders["unfinished"] / "placed"), refused:
        sweep.run("placed", **folders)
    sweep.run("placed", device="meta", **folders)
    record = recorded("placed", tmp_path)
    assert record["jobs"][0]["on_cpu"] == 0
    assert record["machine"].endswith(", meta")
