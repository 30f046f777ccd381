"""What is killed while it runs goes on, and ends with what it would have found undisturbed.

Three kinds of processes (a sweep, a chapter under the checker, a build of the site), each ended by
three signals: a sweep after each of its jobs, a chapter at half its time, a build while it writes.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from small_book import SOUND, Book, environment
from small_site import Site

from iclutils.book.ledger import outputs
from iclutils.book.runs import cache, records, sweeps

SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
DEADLINE = 300.0  # seconds


def heed_interrupts() -> None:
    """As in a terminal: what a shell starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def end(process: subprocess.Popen, number: int) -> None:
    """End a session of processes, as a terminal or the system does; wait until it is gone."""
    if process.poll() is None:
        os.killpg(process.pid, number)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:  # it took the signal and lives on
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


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
        found = records.read("cubes", folder)["jobs"]
        assert [row["y"] for row in found] == [float(x**3) for x in range(12)]
        runs = (folder / "log").read_text().split()
        assert len(runs) <= 12 + 1, "only the job that was interrupted is run again"
        assert done >= moment


# ------------------------------------------------------------------ a chapter under the checker


def started(book: Book) -> subprocess.Popen:
    book.write()
    return subprocess.Popen(
        book.command("--fill-cache"),
        cwd=book.root,
        env=environment(book.root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )


def records_of(book: Book) -> dict[str, dict[str, Any]] | None:
    """What the site would show of the chapter; None where it has no run that is current."""
    run = cache.current_run(book.path(SOUND), book.root)
    if run is None:
        return None
    return {name: record.to_json() for name, record in outputs.records(run.notebook).items()}


def test_a_chapter_that_is_killed_is_run_again_to_the_same_numbers(tmp_path):
    book = Book(tmp_path).chapter(SOUND)
    start = time.monotonic()
    _, code, output = book.run("--fill-cache")
    assert code == 0, output
    whole = time.monotonic() - start
    undisturbed = records_of(book)
    assert undisturbed
    touched = book.root / "iclutils" / "data.txt"
    for number in SIGNALS:
        touched.write_text(number.name)  # another key: nothing is run yet
        process = started(book)
        time.sleep(whole / 2)
        end(process, number)
        assert records_of(book) in (None, undisturbed), "half a run"
    _, code, output = book.run("--fill-cache")
    assert code == 0, output
    assert records_of(book) == undisturbed


def test_a_run_is_void_whose_input_was_edited_meanwhile(tmp_path):
    edit = 'open("../../iclutils/data.txt", "w").write("new")\ncount = int('
    book = Book(tmp_path).chapter(SOUND, text=[("count = int(", edit)])
    _, code, output = book.run("--fill-cache", "--chapters=run")
    assert code == 0, output
    assert (book.root / "iclutils" / "data.txt").read_text() == "new"
    assert records_of(book) is None


# ------------------------------------------------------------------ a build of the site


def building(site: Site) -> subprocess.Popen:
    program = Path(sys.executable).with_name("jupyter-book")
    return subprocess.Popen(
        [str(program), "build", str(site.root), "-n"],
        cwd=site.root,
        stdout=(site.root / "log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )


def stamps(pages: dict[str, str]) -> dict[str, str]:
    return {name: text.split("run-stamp")[1].split("</p>")[0] for name, text in pages.items()}


def test_no_page_of_a_killed_build_is_taken_for_current(tmp_path):
    """Each run has another date; a build of it is killed once it writes, and the last one ends."""
    site = Site(tmp_path)
    site.ran(date="2026-01-01")
    site.build()
    for day, name in enumerate(SIGNALS, 2):
        date = f"2026-01-{day:02}"
        site.ran(date=date)
        process = building(site)
        wait_until_it_writes(process, site)
        end(process, name)
    for page, stamp in stamps(site.build().pages).items():
        assert date in stamp, f"{page}: {stamp}"
    assert json.loads(site.note.read_text(encoding="utf8"))["key"]


def wait_until_it_writes(process: subprocess.Popen, site: Site) -> None:
    end_of_patience = time.monotonic() + DEADLINE
    while "writing output" not in (site.root / "log").read_text():
        assert process.poll() is None, (site.root / "log").read_text()
        assert time.monotonic() < end_of_patience
        time.sleep(0.01)
