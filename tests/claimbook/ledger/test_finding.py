"""The sentence of a row: what holds, what does not, and where."""

from types import SimpleNamespace

import pytest

from claimbook.ledger.comparison import greater
from claimbook.ledger.finding import finding_of, what_came_out
from iclutils.ground.estimate import Estimate

YES = greater(1.0)
NO = greater(-1.0)
MAYBE = greater(Estimate(0.1, 1.0, 9))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"": YES}, "The statement holds."),
        ({"alone": NO}, "The statement does not hold."),
        ({"": MAYBE}, "The statement is undecided."),
        ({"a": YES, "b": YES}, "Both parts hold."),
        ({"a": YES, "b": YES, "c": YES}, "All 3 parts hold."),
        ({"a": NO, "b": NO}, "Neither part holds: both are contradicted."),
        ({"a": NO, "b": NO, "c": NO}, "None of the 3 parts holds: all are contradicted."),
        ({"a": MAYBE, "b": MAYBE}, "All 2 parts are undecided."),
        ({"a": YES, "b": NO}, "1 of 2 parts hold. Contradicted: b."),
        ({"a": NO, "b": MAYBE}, "0 of 2 parts hold. Contradicted: a. Undecided: b."),
        (
            {"a": YES} | {f"n{i}": NO for i in range(6)} | {"m": MAYBE},
            "1 of 8 parts hold. Contradicted: n0; n1; n2; n3; and 2 more. Undecided: m.",
        ),
    ],
)
def test_it_says_what_holds_what_does_not_and_where(parts, sentence):
    assert what_came_out(parts) == sentence


def test_it_ends_with_the_number_and_its_name():
    row = SimpleNamespace(quantity="exponent of w* in Λ; printed at most 2/9")
    found = finding_of(row, {"": YES}, 0.3312, 0.012, "")
    number = "Measured: 0.331 ± 0.012 (exponent of w* in Λ; printed at most 2/9)."
    assert found == f"The statement holds. {number}"


def test_a_control_that_failed_comes_first():
    found = finding_of(
        SimpleNamespace(quantity="q"), {"": YES}, 1, 0, "the wrong control 'w' was not so"
    )
    assert found.startswith("This check cannot tell right from wrong: the wrong control 'w' was")
