"""A run says where it departs from the ledger and the reference, each way in words of its own."""

from dataclasses import replace
from types import SimpleNamespace

import nbformat.v4 as nb
import pytest

from claimbook.checker import reference, run
from claimbook.checker.knobs import Turn
from claimbook.checker.reference import Reference
from claimbook.ledger import Record
from claimbook.ledger.record import VERDICT
from claimbook.runs.provenance import AGREES, DISAGREES

A = Record("01_mini", "mini-a", "holds", 1.0, 0.1, {}, {}, {}, True)
B = Record("01_mini", "mini-b", "fails", 2.0, 0.1, {}, {}, {}, True)


def off(record):
    """The same with a turned knob."""
    return replace(record, default_settings=False)


@pytest.fixture
def new_run(tmp_path):
    """A run of two cells, of which the second, folded, showed records and printed words."""

    def make(*shown, expected=(A, B), **other):
        notebook = nb.new_notebook(cells=[nb.new_code_cell("1"), nb.new_code_cell("2")])
        claims = [reference.claim_of(record) for record in expected]
        fields = {
            "path": tmp_path / "01_mini.md",
            "notebook": notebook,
            "rows": ["mini-a", "mini-b"],
            "expected": Reference(claims),
            "digest": "0" * 12,
            "master_seed": None,
            "fill_cache": True,
        }
        made = run.ChapterRun(**(fields | other))
        for one in shown:
            if isinstance(one, Record):
                data = {"text/plain": one.line(), VERDICT: one.to_json()}
                made.checks(nb.new_output("display_data", data))
            else:
                made.prints(2, [one])
        return made

    return make


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The runs that are put into the cache, while the page has the key ``folder.now``."""
    stored = []
    folder = SimpleNamespace(now="key", stored=stored)
    monkeypatch.setattr(run, "page_key", lambda path, root: folder.now)
    monkeypatch.setattr(run.notebooks, "store", lambda *args: stored.append(dict(args[-2])))
    monkeypatch.setattr(run, "here", lambda root: {})
    return folder


KNOBS = (
    "the chapter's knobs are not at the settings of its block in book/claims.yml "
    "('at your settings')"
)
UNHELD = "checked, but has no entry in tests/expected"
WITHOUT = "this row of book/claims.yml has no check in the chapter"


@pytest.mark.parametrize(
    ("shown", "other", "findings"),
    [
        ((A, B), {}, []),
        ((B, A), {}, []),
        ((A,), {}, [f"mini-b: {WITHOUT}"]),
        ((), {}, [f"mini-a: {WITHOUT}", f"mini-b: {WITHOUT}"]),
        ((A, B), {"rows": ["mini-a"]}, ["mini-b: checked, but has no row in book/claims.yml"]),
        ((A, A, B), {}, ["mini-a: checked more than once"]),
        ((A, "hello", B), {}, ["printed by a folded cell: cell 2: hello"]),
        ((A, off(B)), {}, [KNOBS]),
        ((A, off(B)), {"master_seed": 3}, []),
        (
            (A, B),
            {"expected": ()},
            [f"mini-a: {UNHELD}", f"mini-b: {UNHELD}"],
        ),
    ],
)
def test_each_departure_from_the_ledger_is_named(new_run, shown, other, findings):
    assert list(new_run(*shown, **other).ledger_findings(must_be_expected=True)) == findings


def test_a_reference_is_asked_for_only_where_there_must_be_one(new_run):
    assert not list(new_run(A, B, expected=()).ledger_findings(must_be_expected=False))


def test_what_is_warned_of_is_named(new_run):
    made = new_run(A, B)
    made.warns(1, "careful\n")
    expected = ["a cell wrote to stderr: cell 1: careful"]
    assert list(made.ledger_findings(must_be_expected=True)) == expected
    assert expected[0] in list(made.knob_findings())


@pytest.mark.parametrize(
    ("shown", "turn", "findings"),
    [
        ((off(A), off(B)), Turn("n", 3), []),
        ((off(A), B), Turn("n", 3), [f"does not say that it is at your settings: {B.line()}"]),
        ((off(A),), Turn("n", 3), ["checked ['mini-a']; the rows are ['mini-a', 'mini-b']"]),
        ((off(A), off(B), "x"), Turn("n", 3), ["printed: cell 2: x"]),
        ((off(A), off(B), "x"), Turn("verbose", True), []),
    ],
)
def test_each_departure_with_a_turned_knob_is_named(new_run, shown, turn, findings):
    assert list(new_run(*shown, turn=turn).knob_findings()) == findings


@pytest.mark.parametrize("passed", [0, 1, 2])
def test_a_run_is_whole_when_every_cell_passed(new_run, passed):
    assert new_run(cells_passed=passed).whole == (passed == 2)


JUDGED = {"claim:mini-a": True, "claim:mini-b": True, "page": True, "ledger": True}


@pytest.mark.parametrize(
    ("judged", "passed", "outcome"),
    [
        (JUDGED, 2, AGREES),
        *((JUDGED | {name: False}, 2, DISAGREES) for name in JUDGED),
        *(({key: True for key in JUDGED if key != name}, 2, None) for name in JUDGED),
        (JUDGED, 1, None),
    ],
)
def test_an_outcome_is_kept_only_of_a_whole_comparison(new_run, kept, judged, passed, outcome):
    made = new_run(A, B, cells_passed=passed)
    made.starts()
    made.judged.update(judged)
    made.was_judged()
    assert [one.get("outcome") for one in kept.stored] == ([outcome] if outcome else [])
    assert all(one["reference"] == made.digest for one in kept.stored)


@pytest.mark.parametrize(
    ("other", "edited", "stored"),
    [
        ({}, False, 1),
        ({}, True, 0),
        ({"fill_cache": False}, False, 0),
        ({"turn": Turn("n", 3)}, False, 0),
    ],
)
def test_only_an_undisturbed_run_is_shown(new_run, kept, other, edited, stored):
    made = new_run(A, B, **other)
    made.starts()
    if edited:
        kept.now = "another key"
    made.ran_through(1.0)
    assert len(kept.stored) == stored
