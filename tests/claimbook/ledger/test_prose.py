"""Numbers for the prose."""

from claimbook.ledger import count_outcomes, count_signs, glue_text
from claimbook.ledger.comparison import equal, greater, less
from iclutils.ground.estimate import Estimate

YES = equal(1.0, 1.0, tol=0.5)
NO = equal(1.0, 2.0, tol=0.5)
MAYBE = greater(Estimate(0.0, 0.1, 9), 0.1)


def test_outcomes_are_counted_for_prose():
    assert (
        count_outcomes({"x": YES, "y": NO, "z": MAYBE})
        == "1 of 3 supported, 1 contradicted, 1 undecided"
    )
    assert count_outcomes({"x": YES, "y": less(1.0, 2.0)}) == "2 of 2 supported"


def test_signs_are_counted_for_prose():
    up, down, unclear = Estimate(2.0, 0.1, 9), Estimate(-2.0, 0.1, 9), Estimate(0.1, 0.1, 9)
    assert count_signs([up, up, down, unclear]) == "2 of 4 rise, 1 falls, 1 undecided"
    assert count_signs([up, up]) == "2 of 2 rise"
    assert count_signs([down, down]) == "0 of 2 rise, 2 fall"


def test_in_a_notebook_every_value_is_told_and_nothing_is_displayed(monkeypatch):
    told = {}

    def glue(name, value, display=True):  # as MyST-NB has it
        assert not display
        told[name] = value

    monkeypatch.setattr("IPython.get_ipython", object)
    monkeypatch.setattr("myst_nb.glue", glue)
    glue_text(slope="0.31", count=3)
    assert told == {"slope": "0.31", "count": 3}
