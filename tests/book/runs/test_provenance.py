"""A row of a record says where it was made, with git and without."""

import pytest

from iclutils.book.runs import origin, provenance


@pytest.fixture(autouse=True)
def _asked_anew():
    provenance.commit.cache_clear()
    yield
    provenance.commit.cache_clear()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (origin.Commit("abc1234567", True), "abc1234567"),
        (origin.Commit("abc1234567", False), "abc1234567-dirty"),
        (origin.NO_COMMIT, ""),
    ],
)
def test_the_commit_is_marked_where_the_tree_differs(monkeypatch, found, said):
    monkeypatch.setattr(origin, "commit", lambda: found)
    assert provenance.here().commit == said


def test_without_git_a_row_names_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    here = provenance.here()
    assert here.commit == ""
    assert here.machine.endswith(", one core a job")
    assert set(here.versions) == {"torch", "numpy", "joblib"}
