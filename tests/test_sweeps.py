"""Sweeps resume, write atomically and record their provenance; the registered ones are well formed."""

import json
from pathlib import Path

import pytest

from iclutils import sweeps


def _square(*, x: int, log: str) -> dict[str, float]:
    with open(log, "a", encoding="utf8") as file:
        file.write(f"{x}\n")
    if x == 3 and len(Path(log).read_text().split()) < 5:
        raise KeyboardInterrupt
    return {"y": float(x * x)}


def test_an_interrupted_sweep_goes_on_where_it_stopped(tmp_path):
    log = str(tmp_path / "log")
    sweep = sweeps.Sweep(_square, [{"x": x, "log": log} for x in range(6)])
    with pytest.raises(KeyboardInterrupt):
        sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)
    assert not (tmp_path / "squares.json").exists()
    sweeps.run("squares", sweep, unfinished=tmp_path / "parts", target=tmp_path)
    assert Path(log).read_text().split() == ["0", "1", "2", "3", "3", "4", "5"]
    data = sweeps.recorded("squares", tmp_path)
    assert [job["y"] for job in data["jobs"]] == [0, 1, 4, 9, 16, 25]
    assert {"command", "cpu_s", "machine", "versions", "python", "date"} <= set(data)


def test_atomic_write_leaves_no_parts(tmp_path):
    sweeps.write_atomically(tmp_path / "a.json", "1")
    sweeps.write_atomically(tmp_path / "a.json", "2")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "2"


def test_a_missing_record_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"python -m iclutils\.sweeps nothing"):
        sweeps.recorded("nothing", tmp_path)


def test_table_lays_rows_out_by_axes():
    rows = [{"a": a, "t": t, "kind": kind, "y": 10.0 * a + t} for kind in "xy" for a in (2, 1) for t in (0, 1, 2)]
    assert sweeps.table(rows, ["a", "t"], ["y"], kind="x")[:, :, 0].tolist() == [[10, 11, 12], [20, 21, 22]]
    many = [{**row, "sets": [[1.0, 2.0, row["y"]]] * 4} for row in rows]  # a field may hold lists, of one shape
    found = sweeps.table(many, ["a", "t"], ["sets"], kind="x")
    assert found.shape == (2, 3, 1, 4, 3)
    assert found[1, 2, 0, 3].tolist() == [1, 2, 22]
    with pytest.raises(ValueError, match="every combination"):
        sweeps.table(rows, ["a", "t"], ["y"])
    with pytest.raises(ValueError, match="every combination"):
        sweeps.table(rows[1:], ["a", "t"], ["y"], kind="x")


def test_dask_workers_give_the_same(tmp_path):
    distributed = pytest.importorskip("distributed")
    sweep = sweeps.Sweep(_square, [{"x": x, "log": str(tmp_path / "log")} for x in range(2)])
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        sweeps.run("squares", sweep, dask=cluster.scheduler_address, unfinished=tmp_path / "parts", target=tmp_path)
    assert [job["y"] for job in sweeps.recorded("squares", tmp_path)["jobs"]] == [0, 1]


@pytest.mark.parametrize("name", sorted(sweeps.SWEEPS))
def test_registered_jobs_are_distinct_and_recorded(name):
    jobs = [json.dumps(job, sort_keys=True) for job in sweeps.SWEEPS[name].jobs]
    assert len(set(jobs)) == len(jobs)
    rows = sweeps.recorded(name)["jobs"]
    assert [{key: row[key] for key in json.loads(job)} for row, job in zip(rows, jobs, strict=True)] == \
        [json.loads(job) for job in jobs]
