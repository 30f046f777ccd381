"""How verdicts follow from outcomes, and what a check prints and records."""

import math

import pytest
from scipy import stats

from claimbook.ledger import Ledger
from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED, equal, greater
from claimbook.ledger.record import glue_text
from claimbook.ledger.schema import FAILS, HOLDS, IN_PART, NOT_TESTABLE, UNDECIDED_ROW
from claimbook.ledger.text import AT_YOUR_SETTINGS
from claimbook.ledger.verdicts import FALSE_CONTRADICTION, verdict_of
from iclutils.stats.estimate import Estimate, width

# the rows of conftest hold everything to "= 1 ± 0.5"
YES = Estimate(1.0, 0.05, 9)
NO = Estimate(2.0, 0.05, 9)
MAYBE = Estimate(1.7, 0.05, 9)
SHOWN = "1.00 ± 0.33"  # 6.59 standard errors at 9 degrees of freedom
WRONG = {"wrong": NO}

OUTCOMES = {"S": SUPPORTED, "C": CONTRADICTED, "U": UNDECIDED}
VERDICTS = {HOLDS: "S SS", IN_PART: "SC SCU", FAILS: "C CC", UNDECIDED_ROW: "U SU CU"}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_verdict_follows_from_the_outcomes(verdict):
    for letters in VERDICTS[verdict].split():
        outcomes = [OUTCOMES[letter] for letter in letters]
        assert verdict_of(outcomes) == verdict_of(outcomes[::-1]) == verdict


@pytest.mark.parametrize(
    ("kind", "control", "failed"),
    [
        ("wrong", NO, ""),
        *(("wrong", one, "contradicted") for one in (MAYBE, YES)),
        *(("null", one, "") for one in (NO, MAYBE)),
        ("null", YES, "left unsupported"),
        ("right", YES, ""),
        *(("right", one, "supported") for one in (MAYBE, NO)),
    ],
)
def test_a_control_must_do_what_its_kind_demands(ledger, capsys, kind, control, failed):
    controls = {"wrong": NO, "null": MAYBE, "right": YES} | {kind: control}
    record = ledger.check("k", YES, controls=controls)
    assert record == ledger.records["k"]
    why = f"the {kind} control '{kind}' was not {failed}" if failed else ""
    assert (record.why, record.verdict) == (why, NOT_TESTABLE if why else HOLDS)
    assert record.finding.startswith("This check cannot tell" if why else "The statement holds")
    line = f"k · {record.verdict} · {SHOWN}"
    assert capsys.readouterr().out == line + (f"  ({why})\n" if why else "\n")


def test_turned_knobs_are_marked_and_outside_of_a_notebook_nothing_is_glued(write, capsys):
    Ledger("00_mini", path=write(), seed=1, n=10).check("a", YES, controls=WRONG)
    glue_text(slope="0.3")
    said = f"seed = 1 (default: 0)\n{AT_YOUR_SETTINGS}a · holds · 1.00 ± 0.33\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("message", "id", "parts", "controls", "more"),
    [
        ("id must be one of", "zz", YES, WRONG, {}),
        ("a: conditions without a control", "a", YES, {}, {}),
        ("no condition for the part 'w'", "a", YES, WRONG | {"w": NO}, {}),
        ("parts of a must hold", "a", {}, WRONG, {}),
        ("the number shown of a: value must be a real", "a", {"x": YES}, WRONG, {}),
        ("shown of a: value must be a finite", "a", YES, WRONG, {"value": math.nan}),
        ("already checked", "b", YES, WRONG, {}),
    ],
)
def test_a_wrong_call_is_refused(ledger, message, id, parts, controls, more):
    ledger.check("b", YES, controls=WRONG)
    with pytest.raises((KeyError, ValueError), match=message):
        ledger.check(id, parts, controls=controls, **more)


def test_an_unknown_chapter_or_knob_is_refused(write):
    with pytest.raises(KeyError, match="chapter must be one of"):
        Ledger("99_none", path=write(), seed=0)
    with pytest.raises(ValueError, match=r"settings of 00_mini must be \['n', 'seed'\]"):
        Ledger("00_mini", path=write(), seed=0)


@pytest.mark.parametrize("dof", [1, 9, 500])
def test_a_part_that_is_true_at_its_limit_is_contradicted_as_often_as_stated(dof):
    """The truth is the bound of an inequality, or the edge of an equality's margin.

    A part is contradicted beyond a half-width of it, on one side, and Student says how often.
    """
    beyond = width(dof)  # in standard errors
    assert stats.t.sf(beyond, dof) == pytest.approx(FALSE_CONTRADICTION, rel=1e-6)
    for away, outcome in ((0.999, UNDECIDED), (1.001, CONTRADICTED)):
        assert greater(Estimate(-away * beyond, 1.0, dof)).outcome == outcome
        assert equal(Estimate(away * beyond, 1.0, dof), -5.0, tol=5.0).outcome == outcome
