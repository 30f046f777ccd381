"""The states that a chapter's process writes."""

from types import SimpleNamespace

import pytest

from iclutils.book.checker.progress import DONE, FAILED, RUNNING, Progress, read
from iclutils.book.runs import cache


@pytest.fixture
def run():
    return SimpleNamespace(label="00_mini, seed 1", chapter="00_mini", cells=[None] * 4)


def test_each_step_is_written(tmp_path, run, monkeypatch):
    monkeypatch.setattr(cache, "known_seconds", lambda name, root: 70.0)
    progress = Progress(tmp_path)
    seen = []
    steps = [
        lambda: progress.cell(run, 0),
        lambda: progress.cell(run, 3),
        lambda: progress.failed(run, 3),
        lambda: progress.done(run),
    ]
    for step in steps:
        step()
        seen += read(tmp_path)
    assert [(state.state, state.cell) for state in seen] == [
        (RUNNING, 1),
        (RUNNING, 4),
        (FAILED, 4),
        (DONE, 4),
    ]
    assert {state.since for state in seen} == {seen[0].since}
    assert {(state.label, state.cells, state.last_seconds) for state in seen} == {
        ("00_mini, seed 1", 4, 70.0)
    }


def test_a_folder_that_cannot_be_written_breaks_no_run(tmp_path, run):
    (tmp_path / "file").touch()
    Progress(tmp_path / "file").cell(run, 0)
