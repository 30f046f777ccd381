"""Sweeps too long for the book's run: a list of independent, pure jobs, run by one command that resumes where it stopped.

    python -m iclutils.sweeps 05_double_descent --workers 2          # processes on this machine
    python -m iclutils.sweeps 05_double_descent --dask tcp://host:8786   # a Dask cluster (needs the package distributed)

A job is a mapping of settings, ``function(**job) -> {name: number}``. A finished job's result is written at once and
atomically under ``.sweeps_cache``; when all are there, they go, with their provenance, to ``book/recorded/<name>.json``.
Chapters read that file with :func:`recorded` and recompute a slice of it live.
"""

import argparse
import hashlib
import importlib.metadata
import itertools
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import torch

from iclutils import attention_layer, linear_icl, transformer, validation

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "book" / "recorded"
UNFINISHED = ROOT / ".sweeps_cache"  # not under _build: `make clean` must not cost hours

Job = dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """A pure function of its keyword settings and the list of its jobs."""

    function: Callable[..., Mapping[str, Any]]
    jobs: list[Job]


def _double_descent(seed: int = 0) -> list[Job]:
    taus = (0.2, 0.4, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 2.0)
    panels = [(1, 0.5), (10, 0.5), (100, 0.5), (10, "inf")]
    points = [(trial, *panel, tau) for trial in range(10) for panel in panels for tau in taus]
    points += [(trial, *panel, 1.0) for trial in range(6) for panel in panels]  # the peak takes most of the time: 6 sets
    return [{"d": 100, "alpha": alpha, "kappa": kappa, "tau": tau, "rho": 0.01, "ridge": 1e-5, "trial": trial, "seed": seed}
            for trial, alpha, kappa, tau in points]


def _transformers(seed: int = 0) -> list[Job]:
    def fleet(d: int, blocks: int, n: int, sets: int, tasks: int | None = None, rate: float = 3e-3,
              steps: int = 20_000) -> Job:  # rate times steps is about half of the authors' 1e-4 times 1.1 million
        return {"d": d, "blocks": blocks, "dense": 0 if blocks == 1 else 1, "n": n, "tasks": tasks, "sets": sets, "rho": 0.01,
                "steps": steps, "rate": rate, "seed": seed}

    taus = {1: (0.5, 1, 1.5, 2, 3.5, 8), 2: (1, 2, 3, 4.5, 7, 12), 3: (1.5, 3, 5, 7, 12)}
    panels = [(5, 1, 32), (5, 2, 16), (7, 1, 32), (5, 3, 16)]
    grid = [[fleet(d, blocks, round(tau * d**2), sets) for tau in taus[blocks]] for d, blocks, sets in panels]
    few = [fleet(5, 2, 250, 16, tasks) for tasks in (1, 5, 50)]
    slow = [fleet(5, 1, n, 32, rate=3e-4, steps=200_000) for n in (38, 88)]
    return [*grid[0], *grid[1], *grid[2], *few, *slow, *grid[3]]


def _attention_layers(seed: int = 0) -> list[Job]:
    return [{"d": d, "n": d * (d + 2) + off, "sets": sets, "rho": 0.01, "seed": seed}
            for d, sets in ((10, 16), (14, 16), (20, 8)) for off in (-1, 0, 1, 2)]


SWEEPS = {"05_double_descent": Sweep(linear_icl.job, _double_descent()),
          "05b_attention_layers": Sweep(attention_layer.job, _attention_layers()),
          "05b_trained_transformers": Sweep(transformer.job, _transformers())}


def write_atomically(path: Path, text: str) -> None:
    """Write ``text`` so that a reader sees the old file or the whole new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w", encoding="utf8") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def _path(folder: Path, job: Job) -> Path:
    return folder / f"{hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:24]}.json"


def _finish(function: Callable[..., Mapping[str, Any]], job: Job, path: Path) -> None:
    torch.set_num_threads(1)
    start = time.process_time()
    result = dict(function(**job))
    write_atomically(path, json.dumps({**job, **result, "cpu_s": round(time.process_time() - start, 3)}))


@contextmanager
def _workers(dask: str | None) -> Iterator[None]:
    if dask is None:
        yield
        return
    from distributed import Client  # optional: a cluster needs it, the book does not

    with Client(dask), joblib.parallel_config(backend="dask"):
        yield


def run(name: str, sweep: Sweep, *, workers: int = 1, dask: str | None = None, unfinished: Path = UNFINISHED,
        target: Path = RECORDED) -> Path:
    """Run what is missing of ``sweep`` and record it as ``target/name.json``; returns that path.

    ``workers`` processes, or the Dask cluster whose scheduler's address is ``dask``. Interrupt and repeat as you like.
    """
    validation.whole("workers", workers)
    folder = unfinished / name
    missing = [job for job in sweep.jobs if not _path(folder, job).exists()]
    with _workers(dask):
        joblib.Parallel(n_jobs=workers)(joblib.delayed(_finish)(sweep.function, job, _path(folder, job)) for job in missing)
    rows = [json.loads(_path(folder, job).read_text(encoding="utf8")) for job in sweep.jobs]
    head = {"sweep": name, "command": f"python -m iclutils.sweeps {name}", "cpu_s": round(sum(r["cpu_s"] for r in rows), 1),
            "machine": _machine(), "versions": {p: importlib.metadata.version(p) for p in ("torch", "numpy", "joblib")},
            "python": platform.python_version(), "date": time.strftime("%Y-%m-%d", time.gmtime())}
    body = ",\n ".join(json.dumps(row) for row in rows)
    write_atomically(target / f"{name}.json", json.dumps(head, indent=1)[:-2] + f',\n "jobs": [\n {body}\n ]\n}}\n')
    return target / f"{name}.json"


def _machine() -> str:
    info = Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] \
        if info.exists() else []
    return f"{models[0] if models else platform.machine()}, one core a job"


def recorded(name: str, folder: Path = RECORDED) -> dict[str, Any]:
    """Read a recorded sweep: its provenance and ``jobs``, one mapping of settings and results a job.

    Raises ``FileNotFoundError`` with the command that records it.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; record it with: python -m iclutils.sweeps {name}")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return data


def table(rows: Sequence[Mapping[str, Any]], axes: Sequence[str], fields: Sequence[str], **fixed: Any) -> torch.Tensor:
    """The ``fields`` of those rows that have the ``fixed`` settings, as a tensor: one axis for each of ``axes``, then fields.

    Along an axis the values that occur are in rising order; where a field holds lists, their axes come last. Raises ``ValueError`` unless every combination occurs once.
    """
    chosen = [row for row in rows if all(row[key] == value for key, value in fixed.items())]
    levels = [sorted({row[axis] for row in chosen}) for axis in axes]
    cells = {tuple(row[axis] for axis in axes): [row[field] for field in fields] for row in chosen}
    grid = list(itertools.product(*levels))
    if not chosen or len(chosen) != len(grid) or set(grid) != set(cells):
        raise ValueError(f"rows with {fixed} must hold every combination of {list(axes)} once; "
                         f"got {len(chosen)} rows for {len(grid)} combinations")
    found = torch.tensor([cells[point] for point in grid], dtype=torch.float64)
    return found.reshape(*map(len, levels), *found.shape[1:])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Run a recorded sweep, resuming where it stopped.")
    parser.add_argument("name", choices=sorted(SWEEPS))
    parser.add_argument("--workers", type=int, default=1, help="processes on this machine")
    parser.add_argument("--dask", help="address of a Dask scheduler")
    given = parser.parse_args()
    print(run(given.name, SWEEPS[given.name], workers=given.workers, dask=given.dask))


if __name__ == "__main__":
    main()
