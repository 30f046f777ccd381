"""What is killed while it runs goes on, and ends with what it would have found undisturbed.

A sweep, ended by three signals at ten moments each.
"""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from iclutils.book.runs import sweeps

SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
DEADLINE = 300.0  # seconds


# ------------------------------------------------------------------ a sweep


def _cube(*, x: int, folder: str) -> dict[str, float]:
    """A short job; where the file ``hold`` names it, it lasts until it is killed."""
    time.sleep(0.005)
    hold = Path(folder, "hold")
    while hold.exists() and x == int(hold.read_text()):
        time.sleep(0.01)
    with Path(folder, "log").open("a", encoding="utf8") as file:
        file.write(f"{x}\n")
    return {"y": float(x**3)}


def _run(folder: Path) -> None:
    jobs = [{"x": x, "folder": str(folder)} for x in range(12)]
    sweep = sweeps.Sweep(_cube, jobs)
    sweeps.run("cubes", sweep, unfinished=folder / "parts", target=folder)


def in_a_process_of_its_own(folder: Path) -> multiprocessing.Process:
    process = multiprocessing.get_context("fork").Process(target=_run, args=(folder,))
    process.start()
    return process


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_sweep_that_is_killed_goes_on(tmp_path, number):
    """Ten moments: after the first job, the second, …"""
    for moment in range(1, 11):
        folder = tmp_path / str(moment)
        folder.mkdir()
        (folder / "hold").write_text(str(moment + 1))
        process = in_a_process_of_its_own(folder)
        waited = time.monotonic() + DEADLINE
        while len(list((folder / "parts").rglob("*.json"))) < moment:
            assert process.is_alive()
            assert time.monotonic() < waited
            time.sleep(0.002)
        os.kill(process.pid, number)
        process.join(60)
        assert process.exitcode != 0
        assert not (folder / "cubes.json").exists()
        done = len(list((folder / "parts").rglob("*.json")))
        (folder / "hold").unlink()
        again = in_a_process_of_its_own(folder)
        again.join(60)
        assert again.exitcode == 0
        found = sweeps.read("cubes", folder)["jobs"]
        assert [row["y"] for row in found] == [float(x**3) for x in range(12)]
        runs = (folder / "log").read_text().split()
        assert len(runs) <= 12 + 1, "only the job that was interrupted is run again"
        assert done >= moment
