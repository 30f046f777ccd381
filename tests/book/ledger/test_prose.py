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


def test_in_a_notebook_every_value_is_told_and_nothing_is_displayed(monkeypatch):
    told = {}

    def glue(name, value, display=True):  # as MyST-NB has it
        assert not display
        told[name] = value

    monkeypatch.setattr("IPython.get_ipython", object)
    monkeypatch.setattr("myst_nb.glue", glue)
    tell(slope="0.31", count=3)
    assert told == {"slope": "0.31", "count": 3}


def test_outside_a_notebook_nothing_is_told(capsys):
    tell(slope="0.31")
    assert capsys.readouterr().out == ""
