"""Sweeps too long for the book's run: a list of independent, pure jobs, run by one command that resumes where it stopped.

    python -m iclutils.sweeps 05_double_descent --workers 2          # processes on this machine
    python -m iclutils.sweeps 05_double_descent --dask tcp://host:8786   # a Dask cluster (needs the package distributed)

A job is a mapping of settings, ``function(**job) -> {name: number}``. A finished job's result is written at once and
atomically under ``.sweeps_cache``; when all are there, they move, with their provenance, to ``book/recorded/<name>.json``.
To extend a recorded sweep, add jobs to its list and run it: what is in the record is kept, with the provenance it had
(``--fresh`` runs everything again). Chapters read the file with :func:`recorded` and compute a slice of it again
(:func:`drift`).
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
from collections import Counter
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

PROVENANCE = ("machine", "versions", "python", "date")

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
    points += [(trial, *panel, 1.0) for trial in range(10) for panel in panels]  # the peak takes most of the time
    return [{"d": 100, "alpha": alpha, "kappa": kappa, "tau": tau, "rho": 0.01, "ridge": 1e-5, "trial": trial, "seed": seed}
            for trial, alpha, kappa, tau in points]


def _task_diversity(seed: int = 0) -> list[Job]:
    kappas = (0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50)
    return [{"d": 100, "alpha": alpha, "kappa": kappa, "tau": alpha / 5, "rho": 0.01, "ridge": 1e-5, "contexts": 40,
             "trial": trial, "seed": seed} for trial in range(6) for alpha in (10, 20, 40) for kappa in kappas]


def _context_length(seed: int = 0) -> list[Job]:
    panels = ((0.5, 0.5), (0.5, 0.1), (20, 0.5))
    return [{"d": 100, "alpha": alpha, "kappa": kappa, "tau": tau, "rho": rho, "ridge": 1e-5, "trial": trial, "seed": seed}
            for tau, rho in panels for trial in range(6) for kappa in (0.1, 0.2, 0.5, 1, 2)
            for alpha in (0.2, 1, 2.5, 5, 10, 40, 160)
            if trial < 2 or tau < 1 or kappa == 0.5]  # 200 000 prompts at τ = 20: six sets for one κ, two for the others


def _transformers(seed: int = 0) -> list[Job]:
    def fleet(d: int, blocks: int, n: int, sets: int, tasks: int | None = None, rate: float = 3e-3,
              steps: int = 20_000) -> Job:  # rate times steps is about half of the authors' 1e-4 times 1.1 million
        return {"d": d, "blocks": blocks, "dense": 0 if blocks == 1 else 1, "n": n, "tasks": tasks, "sets": sets, "rho": 0.01,
                "steps": steps, "rate": rate, "seed": seed}

    grid = [(5, 1, 32, (0.5, 1, 1.5, 2, 3.5, 8)), (5, 2, 16, (1, 2, 3, 4.5, 7, 12)), (7, 1, 32, (0.5, 2, 3.5, 8)),
            (5, 3, 16, (1.5, 3, 5, 7, 12)), (10, 1, 16, (0.5, 2, 3.5, 8)), (7, 2, 16, (1, 3, 4.5, 12))]
    jobs = [fleet(d, blocks, round(tau * d**2), sets) for d, blocks, sets, taus in grid for tau in taus]
    jobs += [fleet(5, 2, 250, 16, tasks) for tasks in (1, 5, 50)]
    jobs += [fleet(5, 1, 50, 32, rate=rate, steps=steps) for rate, steps in ((1e-3, 60_000), (3e-4, 200_000))]
    return jobs + [fleet(5, 1, n, 16, rate=1e-4, steps=1_100_000) for n in (63, 88)]  # as long as the authors train


def _attention_layers(seed: int = 0) -> list[Job]:
    return [{"d": d, "n": d * (d + 2) + off, "sets": sets, "rho": 0.01, "seed": seed}
            for d, sets in ((10, 16), (14, 16), (20, 8)) for off in (-1, 0, 1, 2)]


SWEEPS = {"05_double_descent": Sweep(linear_icl.job, _double_descent()),
          "05_task_diversity": Sweep(linear_icl.diversity_job, _task_diversity()),
          "05_context_length": Sweep(linear_icl.job, _context_length()),
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


def _key(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


def _path(folder: Path, job: Job) -> Path:
    return folder / f"{hashlib.sha256(_key(job).encode()).hexdigest()[:24]}.json"


def _finish(function: Callable[..., Mapping[str, Any]], job: Job, path: Path) -> None:
    torch.set_num_threads(1)
    start = time.process_time()
    result = dict(function(**job))
    row = {**job, **result, "cpu_s": round(time.process_time() - start, 3), "recorded": _provenance()}
    write_atomically(path, json.dumps(row))


def _provenance() -> dict[str, Any]:
    return {"machine": _machine(), "versions": {p: importlib.metadata.version(p) for p in ("torch", "numpy", "joblib")},
            "python": platform.python_version(), "date": time.strftime("%Y-%m-%d", time.gmtime())}


def _kept(path: Path, jobs: Sequence[Job]) -> dict[str, Job]:
    """Rows of an existing record by the job whose settings they have, each with its own provenance under ``recorded``."""
    if not path.exists():
        return {}
    head = json.loads(path.read_text(encoding="utf8"))
    settings = set().union(*jobs)
    found: dict[str, Job] = {}
    for row in head["jobs"]:
        key = _key({name: value for name, value in row.items() if name in settings})
        if key in found:
            raise ValueError(f"{path} has two rows for the settings {key}; run the sweep with --fresh")
        found[key] = {**row, "recorded": {**{name: head[name] for name in PROVENANCE}, **row.get("recorded", {})}}
    return found


@contextmanager
def _workers(dask: str | None) -> Iterator[None]:
    if dask is None:
        yield
        return
    from distributed import Client  # optional: a cluster needs it, the book does not

    with Client(dask), joblib.parallel_config(backend="dask"):
        yield


def run(name: str, sweep: Sweep, *, workers: int = 1, dask: str | None = None, fresh: bool = False,
        unfinished: Path = UNFINISHED, target: Path = RECORDED) -> Path:
    """Run what is missing of ``sweep`` and record it as ``target/name.json``; returns that path.

    ``workers`` processes, or the Dask cluster whose scheduler's address is ``dask``. Interrupt and repeat as you like.
    Rows of an existing record with a job's settings are kept instead of run, unless ``fresh``. The head of the file says
    where and when most rows were made; a row for which that differs says so itself, under ``recorded``.
    Raises ``ValueError`` where a record holds two rows with the settings of one job.
    """
    validation.whole("workers", workers)
    folder, record = unfinished / name, target / f"{name}.json"
    rows = {} if fresh else _kept(record, sweep.jobs)
    missing = [job for job in sweep.jobs if _key(job) not in rows]
    with _workers(dask):
        joblib.Parallel(n_jobs=workers)(joblib.delayed(_finish)(sweep.function, job, _path(folder, job))
                                        for job in missing if not _path(folder, job).exists())
    rows |= {_key(job): json.loads(_path(folder, job).read_text(encoding="utf8")) for job in missing}
    chosen = [rows[_key(job)] for job in sweep.jobs]
    common = Counter(json.dumps(row.get("recorded", _provenance())) for row in chosen).most_common(1)[0][0]
    head = {"sweep": name, "command": f"python -m iclutils.sweeps {name}",
            "cpu_s": round(sum(row["cpu_s"] for row in chosen), 1), **json.loads(common)}
    for row in chosen:
        differs = {key: value for key, value in row.pop("recorded", {}).items() if value != head[key]}
        row |= {"recorded": differs} if differs else {}
    body = ",\n ".join(json.dumps(row) for row in chosen)
    write_atomically(record, json.dumps(head, indent=1)[:-2] + f',\n "jobs": [\n {body}\n ]\n}}\n')
    for job in missing:
        _path(folder, job).unlink()
    return record


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

    Along an axis the values that occur are in rising order; where a field holds lists, their axes come last.
    Raises ``ValueError`` unless every combination occurs once.
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


def drift(name: str, rows: Sequence[Job]) -> float:
    """Compute these ``rows`` of a recorded sweep again: the largest relative change of any of their numbers.

    Raises ``KeyError`` for an unknown sweep and ``ValueError`` for no rows.
    """
    sweep = SWEEPS[validation.one_of("name", name, SWEEPS)]
    settings = set().union(*sweep.jobs)
    if not rows:
        raise ValueError("rows must hold at least one row of the record; got none")
    changes = []
    for row in rows:
        for key, result in sweep.function(**{name: value for name, value in row.items() if name in settings}).items():
            now, then = (torch.as_tensor(value, dtype=torch.float64) for value in (result, row[key]))
            changes.append(float(((now - then).abs() / then.abs().clamp_min(1e-300)).max()))
    return max(changes)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Run a recorded sweep, resuming where it stopped.")
    parser.add_argument("name", choices=sorted(SWEEPS))
    parser.add_argument("--workers", type=int, default=1, help="processes on this machine")
    parser.add_argument("--dask", help="address of a Dask scheduler")
    parser.add_argument("--fresh", action="store_true", help="run jobs again that an existing record holds")
    given = parser.parse_args()
    print(run(given.name, SWEEPS[given.name], workers=given.workers, dask=given.dask, fresh=given.fresh))


if __name__ == "__main__":
    main()
