"""The mutation test of the rows: what it draws, what it sees, and how few rows are spared."""

import math

import pytest
import torch

from iclutils.book.ledger import FAILS, HOLDS, Record, mutation, schema
from iclutils.book.ledger.audit import false_values, true_value
from iclutils.book.ledger.mutation import drawn, unmoved
from iclutils.book.ledger.verdicts import Judgement, verdict_of
from iclutils.ground.randomness import stream
from iclutils.ground.statistics import CONTRADICTED, equal, greater, less, mean_se, width

SLOPE = greater(0.3137, se=0.01, dof=19)
OTHER = greater(-0.2718, se=0.01, dof=19)  # a control on other data, contradicted
LOSS = equal(1.0213, 1.0, tol=0.1, se=0.002, dof=9)
WELCH = less(2.0, 1.0, se=0.3, dof=15.3)  # of a difference
SHARE = greater(0.9, 0.5, se=0.1, dof=math.inf)
COUNT = greater(16, 15)


def record(parts, control=OTHER):
    return Record("c", "r", HOLDS, 0.3, 0.05, parts, {"control": control}, {}, True)


def row(kind="wrong", **more):
    return {"id": "r", "controls": {"control": {"kind": kind, "what": "w"}}} | more


@pytest.mark.parametrize("found", [SLOPE, LOSS, WELCH, SHARE, COUNT])
def test_draws_in_which_the_statement_is_false_or_true_move_the_verdict(found):
    """Four half-widths are 26 standard errors at 9 degrees of freedom.

    A new sample's own half-width is more than four times the expected one with a probability below
    1e-12 (chi-squared), so that none of the 200 draws errs.
    """
    generator = stream(0, "again")
    for _ in range(200):
        assert verdict_of([drawn(found, true_value(found), generator).outcome]) == HOLDS
        for value in false_values(found):
            turned = drawn(found, value, generator)
            assert turned.outcome == CONTRADICTED
            assert verdict_of([turned.outcome]) == FAILS


@pytest.mark.parametrize("found", [SLOPE, LOSS, SHARE])
def test_the_draws_of_every_kind_scatter_as_the_measured_number(found):
    generator = stream(0, "scatter of a kind")
    again = torch.tensor([drawn(found, 0.5, generator).value for _ in range(1000)]).double()
    se = found.half_width / width(found.dof or math.inf)
    # the scatter of 1000 draws has a relative error of 1/sqrt(2000): 4 of it
    assert float(again.std()) == pytest.approx(se, rel=4 / math.sqrt(2000))


def test_the_draws_are_as_many_and_as_scattered_as_the_measured_trials():
    generator = stream(0, "scatter")
    again = [drawn(SLOPE, 0.5, generator) for _ in range(2000)]
    assert {one.dof for one in again} == {19}
    values = mean_se(torch.tensor([one.value for one in again], dtype=torch.float64))
    # the mean of 2000 means, each with a standard error of 0.01: 4 of its own
    assert abs(float(values.value) - 0.5) < 4 * 0.01 / math.sqrt(2000)
    # their variance has a relative error of sqrt(2/2000) = 0.032
    assert float(values.se) * math.sqrt(2000) == pytest.approx(0.01, rel=4 * 0.032 / 2)
    errors = torch.tensor([one.half_width / width(19) for one in again], dtype=torch.float64)
    squares = mean_se(errors.square())
    # one squared standard error has a relative error of sqrt(2/19)
    assert float(squares.value) == pytest.approx(1e-4, rel=4 * math.sqrt(2 / 19 / 2000))


@pytest.mark.parametrize("kind", ["wrong", "null", "right"])
@pytest.mark.parametrize("found", [SLOPE, LOSS, WELCH, SHARE, COUNT])
def test_a_sound_row_has_no_finding(found, kind):
    assert unmoved(record({"part": found, "other": SLOPE}), row(kind)) == []


def test_an_equality_with_too_few_trials_is_named():
    narrow = equal(0.0, 0.0, tol=0.05, se=0.01, dof=9)  # half-width 0.066
    (found,) = unmoved(record({"part": narrow}), row())
    assert found.startswith("the part 'part', drawn true, is supported in ")
    lost = equal(0.5, 0.0, tol=0.05, se=0.01, dof=9)  # far outside in spite of it
    assert unmoved(record({"part": lost}), row()) == []


def test_a_verdict_that_follows_nothing_is_seen(monkeypatch):
    """A judgement that is always the same, as of a row that was given its verdict by hand."""
    monkeypatch.setattr(mutation, "judgement", lambda *_: Judgement(HOLDS, ""))
    found = unmoved(record({"": SLOPE}), row())
    assert len(found) == 2, found
    assert found[0].endswith("where it is false, is contradicted, the row 'holds'")
    assert found[1].startswith("the wrong control 'control', drawn about ")
    monkeypatch.setattr(mutation, "judgement", lambda *_: Judgement(FAILS, ""))
    assert unmoved(record({"": SLOPE}), row())[0] == "the row is 'fails' where every part is true"


def test_at_most_ten_rows_are_left_out_each_with_its_reason():
    blocks = schema.load(schema.CLAIMS_FILE)["chapters"].values()
    rows = [row for block in blocks for row in block["claims"]]
    spared = [row["audit"] for row in rows if "audit" in row]
    untested = [row["note"] for row in rows if row["expected"] == schema.NOT_TESTABLE]
    assert len(spared) + len(untested) <= 10
    assert all(len(reason) > 20 for reason in spared + untested)
