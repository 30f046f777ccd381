"""How often a true book would show a false verdict: the formula on the page, against Student."""

import pytest
from scipy import stats

from claimbook.ledger import Record
from claimbook.ledger.alarms import FALSE_CONTRADICTION, false_alarm, sampled_parts
from claimbook.ledger.comparison import CONTRADICTED, UNDECIDED, equal, greater
from iclutils.stats.estimate import Estimate, width


@pytest.mark.parametrize("dof", [1, 3, 9, 39, 500])
def test_a_part_that_is_true_at_its_limit_is_contradicted_as_often_as_stated(dof):
    """The truth is the bound of an inequality, or the edge of an equality's margin.

    A part is contradicted beyond a half-width of it, on one side, and Student says how often.
    """
    beyond = width(dof)  # in standard errors
    assert stats.t.sf(beyond, dof) == pytest.approx(FALSE_CONTRADICTION, rel=1e-6)
    for away, outcome in ((0.999, UNDECIDED), (1.001, CONTRADICTED)):
        assert greater(Estimate(-away * beyond, 1.0, dof)).outcome == outcome
        assert equal(Estimate(away * beyond, 1.0, dof), -5.0, tol=5.0).outcome == outcome


def test_parts_that_err_independently_add_up():
    """One book in 41 with 496 sampled parts, as the page says."""
    assert false_alarm(0) == 0
    assert false_alarm(1) == pytest.approx(FALSE_CONTRADICTION)
    both = false_alarm(400) + false_alarm(96) - false_alarm(400) * false_alarm(96)
    assert false_alarm(496) == pytest.approx(both)
    assert 1 / false_alarm(496) == pytest.approx(41, abs=0.5)


def test_only_sampled_parts_can_err():
    noisy = greater(Estimate(1.0, 0.1, 9))
    exact = greater(1.0)
    record = Record("c", "r", "holds", 1, 0, {"a": noisy, "b": exact, "c": noisy}, {}, {}, True)
    assert sampled_parts([record, record]) == 4
