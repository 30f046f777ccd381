"""Numbers for the prose."""

from iclutils.book.ledger import outcomes, tell
from iclutils.ground.statistics import equal, greater, less

YES = equal(1.0, 1.0, tol=0.5)
NO = equal(1.0, 2.0, tol=0.5)
MAYBE = greater(0.0, 0.1, se=0.1, dof=9)


def test_outcomes_are_counted_for_prose():
    assert (
        outcomes({"x": YES, "y": NO, "z": MAYBE}) == "1 of 3 supported, 1 contradicted, 1 undecided"
    )
    assert outcomes({"x": YES, "y": less(1.0, 2.0)}) == "2 of 2 supported"


def test_outside_a_notebook_nothing_is_told(capsys):
    tell(slope="0.31")
    assert capsys.readouterr().out == ""
