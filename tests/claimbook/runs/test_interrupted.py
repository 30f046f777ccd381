"""What is killed while it runs goes on, and ends with what it would have found undisturbed.

A sweep and a chapter under the checker, each ended by three signals: a sweep after some of its
jobs, a chapter at half its time. A build of the site is killed where its stamps are tested.
"""

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest
from killed import SIGNALS, end, heed_interrupts, started
from small_book import SOUND, Book, environment

from claimbook.ledger import outputs
from claimbook.runs import cache, records, sweeps

DEADLINE = 300.0  # seconds
MOMENTS = (1, 5, 10)  # of a sweep: after so many of its jobs


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
    heed_interrupts()
    jobs = [{"x": x, "folder": str(folder)} for x in range(12)]
    sweep = sweeps.Sweep(_cube, jobs)
    sweeps.run("cubes", sweep, unfinished=folder / "parts", target=folder)


def in_a_process_of_its_own(folder: Path) -> multiprocessing.Process:
    process = multiprocessing.get_context("fork").Process(target=_run, args=(folder,))
    process.start()
    return process


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_sweep_that_is_killed_goes_on(tmp_path, number):
    for moment in MOMENTS:
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
        found = records.read("cubes", folder)["jobs"]
        assert [row["y"] for row in found] == [float(x**3) for x in range(12)]
        runs = (folder / "log").read_text().split()
        assert len(runs) <= 12 + 1, "only the job that was interrupted is run again"
        assert done >= moment


# ------------------------------------------------------------------ a chapter under the checker


def records_of(book: Book) -> dict[str, dict[str, Any]] | None:
    """What the site would show of the chapter; None where it has no run that is current."""
    run = cache.current_run(book.path(SOUND), book.root)
    if run is None:
        return None
    return {name: record.to_json() for name, record in outputs.records(run.notebook).items()}


def test_a_chapter_that_is_killed_is_run_again_to_the_same_numbers(tmp_path):
    """The first time it is only run, and compared with nothing."""
    book = Book(tmp_path).chapter(SOUND)
    start = time.monotonic()
    found, code, output = book.run("--fill-cache", "--chapters=run")
    assert code == 0, output
    assert set(found[SOUND]) == {"cell1", "cell2", "cell3", "cell4", "cell5"}
    assert "all 5 cells ran" in output
    assert "outcome" not in cache.current_run(book.path(SOUND), book.root).origin
    whole = time.monotonic() - start
    undisturbed = records_of(book)
    assert undisturbed
    touched = book.root / "iclutils" / "data.txt"
    for number in SIGNALS:
        touched.write_text(number.name)  # another key: nothing is run yet
        process = started(book.command("--fill-cache"), book.root, environment(book.root))
        time.sleep(whole / 2)
        end(process, number)
        assert records_of(book) in (None, undisturbed), "half a run"
    _, code, output = book.run("--fill-cache")
    assert code == 0, output
    assert records_of(book) == undisturbed
