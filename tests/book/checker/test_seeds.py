"""The record of other master seeds: what is new replaces what was, each verdict under its seed."""

import json

import pytest

from iclutils.book.checker import seeds
from iclutils.book.checker.seeds import Report
from iclutils.book.ledger import load
from iclutils.book.runs.key import SEEDS_FILE

ROWS = [row["id"] for block in load()["chapters"].values() for row in block["claims"]]


@pytest.fixture
def held(monkeypatch, tmp_path):
    """The record, in a place of its own, with the book's ledger."""
    path = tmp_path / SEEDS_FILE
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(seeds, "ROOT", tmp_path)
    monkeypatch.setattr(seeds.schema, "load", lambda _: load())
    return path


def reports(verdicts):
    """Runs that found ``{seed: {claim: verdict}}``."""
    return [Report("c", seed, [], found, 1.0) for seed, found in verdicts.items()]


def test_what_is_new_replaces_and_what_is_old_stays(held):
    first, second, third = sorted(ROWS)[:3]
    old = {second: {"2": "holds", "10": "holds"}, first: {"1": "fails"}, "gone-row": {"1": "holds"}}
    held.write_text(json.dumps(old))
    seeds.record(reports({10: {second: "fails", third: "holds"}, 1: {second: "holds"}}))
    found = json.loads(held.read_text(encoding="utf8"))
    assert found == {
        first: {"1": "fails"},
        second: {"1": "holds", "2": "holds", "10": "fails"},
        third: {"10": "holds"},
    }
    assert list(found) == [first, second, third]
    assert all(list(of) == sorted(of, key=int) for of in found.values())


def test_the_first_record_needs_none_before(held):
    seeds.record(reports({1: {ROWS[0]: "holds"}}))
    assert json.loads(held.read_text(encoding="utf8")) == {ROWS[0]: {"1": "holds"}}
