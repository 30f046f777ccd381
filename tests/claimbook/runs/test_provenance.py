"""A row of a record says where it was made, with git and without."""

import time
from datetime import date

import pytest

from claimbook.runs import origin, provenance


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
    assert provenance.here()["commit"] == said


@pytest.mark.parametrize("device", ["cpu", "a card"])
def test_everything_is_said_of_where_a_row_was_made(device):
    here = provenance.here(device)
    today = date.fromtimestamp(time.time())
    assert abs(date.fromisoformat(here["date"]) - today).days <= 1  # midnight, time zones
    named = here["machine"].removeprefix(provenance.machine())
    assert named == ("" if device == "cpu" else f", {device}")
    assert provenance.processor() in here["machine"]
    assert tuple(here) == provenance.FIELDS
    assert all(here[name] for name in ("machine", "versions", "python", "date"))
    assert set(here["versions"]) == {"torch", "numpy", "joblib"}
