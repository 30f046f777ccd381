"""Run sweeps too long for the book: lists of independent, pure jobs that one command runs.

A job is a mapping of settings, ``function(**job) -> {name: number}``. A finished job's result is on
disk at once (:class:`joblib.Memory`), so that an interrupted sweep goes on; when all are there,
they move to ``book/recorded/<name>.json`` with the provenance of the run. To extend a recorded
sweep, add jobs to its list and run it: rows of the record are not computed again. Pages read the
file by :func:`claimbook.read_record`.
"""

import argparse
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib

from claimbook.files import RECORDED, ROOT, lock, read_json, write_atomically
from claimbook.runs.provenance import here

UNFINISHED = ROOT / ".sweeps_cache"  # not under _build: `make clean` must not cost hours
PROGRESS = 10  # how often joblib says how far it is
PROVENANCE = ("machine", "versions", "python", "date", "commit")

Job = dict[str, Any]
Function = Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class Sweep:
    """A pure function of its keyword settings and the list of its jobs."""

    function: Function
    jobs: list[Job]

    def run(
        self,
        name: str,
        *,
        workers: int = 1,
        dask: str | None = None,
        device: str = "cpu",
        unfinished: Path = UNFINISHED,
        folder: Path = RECORDED,
    ) -> Path:
        """Run the jobs that are missing in the record ``folder/name.json``; return its path.

        ``workers`` processes run them, or the Dask cluster whose scheduler's address is ``dask``;
        the function takes another ``device`` than the processor as an argument. Rows of the record
        with a job's settings are kept. Raises ``ValueError`` for a device that the function does
        not take, ``RuntimeError`` where another process runs the sweep, and whatever a job raises.
        """
        function = self.function
        if device != "cpu":
            if "device" not in inspect.signature(function).parameters:
                raise ValueError(f"device must be 'cpu' for this sweep; got '{device}'")
            function = partial(function, device=device)
        path = folder / f"{name}.json"
        refusal = f"another process runs the sweep {name}: wait, or end it"
        with lock(unfinished / name, refusal), cluster(dask):
            before = read_json(path) if path.exists() else {"jobs": []}
            settings = frozenset().union(*self.jobs)
            rows = {key_of(row, settings): row for row in before["jobs"]}
            missing = [job for job in self.jobs if key_of(job, settings) not in rows]
            memory = joblib.Memory(unfinished / name, verbose=0)
            run, source = joblib.delayed(memory.cache(run_job)), inspect.getsource(self.function)
            parallel = joblib.Parallel(workers, return_as="generator_unordered", verbose=PROGRESS)
            for row in parallel(run(function, source, job) for job in missing):
                rows[key_of(row, settings)] = row
            if missing:
                ordered = [rows[key_of(job, settings)] for job in self.jobs]
                write_atomically(path, document(name, ordered, before, len(missing), device))
            memory.clear(warn=False)
        return path


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Let joblib use the Dask cluster with this address, or none."""
    if address is None:
        yield
        return
    from distributed import Client  # a cluster needs it, the book does not

    with Client(address), joblib.parallel_config(backend="dask"):  # type: ignore[no-untyped-call]
        yield


def run_job(function: Function, source: str, job: Job) -> Job:
    """Run one job on one thread; ``source``, the function's code, makes a changed one run anew."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    start = time.process_time()
    result = dict(function(**job))
    return {**job, **result, "cpu_s": round(time.process_time() - start, 3)}


def key_of(row: Job, settings: frozenset[str]) -> str:
    """Write the settings of a row, which tell it from the others of its sweep."""
    return json.dumps({name: row[name] for name in sorted(settings & set(row))})


def document(name: str, rows: list[Job], before: Job, new: int, device: str) -> str:
    """Write a record: its head as indented JSON, then a line for each of ``rows``.

    The head has the provenance of this run, and under ``earlier`` that of the runs before, whose
    rows were kept, each with the number of its new rows.
    """
    about = here()
    about["machine"] += ", one core a job" + ("" if device == "cpu" else f", {device}")
    about["commit"] = f"{about['commit'] or ''}{'-dirty' if about['clean'] is False else ''}"
    head = {
        "sweep": name,
        "command": f"python -m book.sweeps {name}",
        "cpu_s": round(sum(row["cpu_s"] for row in rows), 1),
        "new": new,
        **{field: about[field] for field in PROVENANCE},
    }
    earlier = before.get("earlier", [])
    if len(rows) > new:
        fields = [field for field in ("new", *PROVENANCE) if field in before]
        earlier = [*earlier, {field: before[field] for field in fields}]
    head |= {"earlier": earlier} if earlier else {}
    start = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    body = ",\n ".join(json.dumps(row) for row in rows)
    return f'{start},\n "jobs": [\n {body}\n ]\n}}\n'


def main(sweeps: Mapping[str, Sweep], words: list[str] | None = None) -> None:
    """Run one of the book's ``sweeps`` as the command line says."""
    parser = argparse.ArgumentParser(description="Run a sweep, going on where it stopped.")
    parser.add_argument("name", choices=sorted(sweeps))
    parser.add_argument("--workers", type=int, default=1, help="processes on this machine")
    parser.add_argument("--dask", help="address of a Dask scheduler")
    parser.add_argument("--device", default="cpu", help="where to train: cpu, cuda, cuda:1 …")
    options = vars(parser.parse_args(words))
    name = options.pop("name")
    try:
        print(sweeps[name].run(name, **options))
    except (ValueError, RuntimeError) as error:
        parser.error(str(error))
