"""Sweeps too long for the book's run: independent, pure jobs that one command runs and resumes.

A job is a mapping of settings, ``function(**job) -> {name: number}``. A finished job's result is
written at once and atomically under ``.sweeps_cache``; when all are there, they move, with their
provenance, to ``book/recorded/<name>.json``. To extend a recorded sweep, add jobs to its list and
run it: what is in the record is kept, with the provenance it had, unless it is run afresh. Chapters
read the file with :func:`iclutils.recorded.read` and compute a slice of it again with
:func:`iclutils.recorded.drift`.
"""

import functools
import hashlib
import inspect
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import torch

from claimbook.files import ROOT, lock, read_json, write_atomically
from claimbook.runs.provenance import FIELDS, here
from claimbook.runs.records import RECORDED, seal, unbroken
from iclutils.ground import arguments

UNFINISHED = ROOT / ".sweeps_cache"  # not under _build: `make clean` must not cost hours
TAKEN = (
    "another process runs the sweep {}: wait until it has ended, or end it; "
    "to go faster, give one process more --workers"
)

Job = dict[str, Any]
Function = Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class Sweep:
    """A pure function of its keyword settings and the list of its jobs.

    ``work`` tells roughly how long a job takes, in any unit: all of them as long, if not said.
    """

    function: Function
    jobs: list[Job]
    work: Callable[[Job], float] = lambda job: 1.0

    def on(self, device: str) -> "Sweep":
        """The same sweep on another ``device`` than ``"cpu"``.

        Raises ``ValueError`` where the function has no argument ``device`` or that names none.
        """
        try:
            torch.device(device)
        except RuntimeError:
            raise ValueError(f"device must be cpu, cuda, cuda:1 …; got {device!r}") from None
        if device == "cpu":
            return self
        if "device" not in inspect.signature(self.function).parameters:
            raise ValueError(f"device must be 'cpu' for this sweep; got {device!r}")
        return replace(self, function=functools.partial(self.function, device=device))


def run(
    name: str,
    sweep: Sweep,
    *,
    workers: int = 1,
    dask: str | None = None,
    fresh: bool = False,
    unfinished: Path = UNFINISHED,
    target: Path = RECORDED,
) -> Path:
    """Run what is missing of ``sweep`` and record it as ``target/name.json``; returns that path.

    ``workers`` processes, or the Dask cluster whose scheduler's address is ``dask``. Interrupt and
    repeat as you like. Rows of an existing record with a job's settings are kept instead of run,
    unless ``fresh``. The head of the file says where and when most rows were made; a row for which
    that differs says so itself, under ``recorded``. How far it is, is said on standard error.

    Raises ``ValueError`` where ``workers`` is below 1, a record holds two rows with the settings of
    one job or was changed by hand, ``RuntimeError`` where another process runs the sweep, and
    whatever a job raises.
    """
    arguments.whole("workers", workers)
    folder = unfinished / name
    record = target / f"{name}.json"
    with lock(folder, TAKEN.format(name)):
        rows = {} if fresh else _kept(record, sweep.jobs)
        missing = [job for job in sweep.jobs if _key(job) not in rows]
        with ExitStack() as cluster:
            if dask is not None:
                from distributed import Client  # a cluster needs it, the book does not

                cluster.enter_context(Client(dask))  # type: ignore[no-untyped-call]
                cluster.enter_context(joblib.parallel_config(backend="dask"))
            _finish_all(name, sweep.function, missing, folder, workers)
        for job in missing:
            rows[_key(job)] = read_json(_path(folder, job))
        write_atomically(record, _document(name, [rows[_key(job)] for job in sweep.jobs]))
        for job in missing:
            _path(folder, job).unlink()
    return record


def plan(
    name: str,
    sweep: Sweep,
    *,
    fresh: bool = False,
    unfinished: Path = UNFINISHED,
    target: Path = RECORDED,
) -> str:
    """What :func:`run` would cost: jobs, seconds of the first that is missing, hours of all.

    That job is run, and kept for :func:`run`. Raises what :func:`run` raises.
    """
    folder = unfinished / name
    with lock(folder, TAKEN.format(name)):
        rows = {} if fresh else _kept(target / f"{name}.json", sweep.jobs)
        missing = [job for job in sweep.jobs if _key(job) not in rows]
        left = [job for job in missing if not _path(folder, job).exists()]
        said = f"{name}: {len(sweep.jobs)} jobs, {len(left)} of them to be run"
        if not left:
            return said
        first = left[0]
        start = time.monotonic()
        _finish(sweep.function, first, _path(folder, first))
        seconds = time.monotonic() - start
    hours = seconds * sum(map(sweep.work, left)) / sweep.work(first) / 3600
    return f"{said}; the first took {seconds:.1f} s, all will take about {hours:.2g} hours"


def _key(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


def _path(folder: Path, job: Job) -> Path:
    return folder / f"{hashlib.sha256(_key(job).encode()).hexdigest()[:24]}.json"


def _kept(path: Path, jobs: Sequence[Job]) -> dict[str, Job]:
    """Rows of an existing record by the job whose settings they have, with all provenance."""
    if not path.exists():
        return {}
    head = unbroken(path)
    common = {name: head.get(name, "") for name in FIELDS}  # old records have no commit
    settings = set().union(*jobs)
    found: dict[str, Job] = {}
    for row in head["jobs"]:
        key = _key({name: value for name, value in row.items() if name in settings})
        if key in found:
            raise ValueError(f"{path} has two rows for the settings {key}; run it with --fresh")
        found[key] = row | {"recorded": common | row.get("recorded", {})}
    return found


def _finish_all(
    name: str, function: Function, jobs: Sequence[Job], folder: Path, workers: int
) -> None:
    """Run those ``jobs`` that have no file in ``folder`` yet; a line for each percent of them."""
    paths = {_path(folder, job): job for job in jobs}
    calls = [
        joblib.delayed(_finish)(function, job, path)
        for path, job in paths.items()
        if not path.exists()
    ]
    start = time.monotonic()
    finished = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(calls)
    for done, _ in enumerate(finished, 1):
        if 100 * done // len(calls) > 100 * (done - 1) // len(calls):
            seconds = time.monotonic() - start
            left = seconds / done * (len(calls) - done)
            said = f"{done} of {len(calls)} jobs done in {seconds:.0f} s, about {left:.0f} s left"
            print(f"{name}: {said}", file=sys.stderr, flush=True)


def _finish(function: Function, job: Job, path: Path) -> None:
    torch.set_num_threads(1)
    start = time.process_time()
    result = dict(function(**job))
    seconds = round(time.process_time() - start, 3)
    device = getattr(function, "keywords", {}).get("device", "cpu")
    row = {**job, **result, "cpu_s": seconds, "recorded": here(device)}
    write_atomically(path, json.dumps(row))


def _document(name: str, rows: Sequence[Job]) -> str:
    """The text of a record: its head as indented JSON, then a line for each of ``rows``.

    The head has the provenance of most rows, and another row says only what differs.
    """
    [(made, _)] = Counter(json.dumps(row["recorded"]) for row in rows).most_common(1)
    common = json.loads(made)
    head = {
        "sweep": name,
        "command": f"python -m iclutils.recorded {name}",
        "cpu_s": round(sum(row["cpu_s"] for row in rows), 1),
        **common,
    }
    jobs = [_differing(row, common) for row in rows]
    head["seal"] = seal({**head, "jobs": jobs})
    opened = json.dumps(head, indent=1).removesuffix("\n}")
    body = ",\n ".join(map(json.dumps, jobs))
    return f'{opened},\n "jobs": [\n {body}\n ]\n}}\n'


def _differing(row: Job, common: Mapping[str, Any]) -> Job:
    """A row with what it has to say of its provenance, beside the head of its record."""
    said = {name: value for name, value in row.items() if name != "recorded"}
    differs = {name: value for name, value in row["recorded"].items() if value != common[name]}
    return said | ({"recorded": differs} if differs else {})


def drift(sweep: Sweep, rows: Sequence[Job]) -> float:
    """Compute these ``rows`` of a recorded sweep again: the largest relative change of a number.

    Raises ``ValueError`` for no rows.
    """
    if not rows:
        raise ValueError("rows must hold at least one row of the record; got none")
    settings = set().union(*sweep.jobs)
    changes = []
    for row in rows:
        job = {name: value for name, value in row.items() if name in settings}
        result = sweep.function(**job)
        changes += [_relative_change(value, row[name]) for name, value in result.items()]
    return max(changes)


def _relative_change(now: Any, then: Any) -> float:
    """The largest relative change of a number, or of any in nested lists; 0 where both are 0."""
    after = torch.as_tensor(now, dtype=torch.float64)
    before = torch.as_tensor(then, dtype=torch.float64)
    return float(((after - before).abs() / before.abs().clamp_min(1e-300)).max())
