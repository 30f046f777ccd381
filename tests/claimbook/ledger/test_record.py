"""What an executed notebook holds comes back as it was."""

import nbformat
import pytest
from nbformat import v4

from claimbook.ledger import Record
from claimbook.ledger.comparison import equal, greater
from claimbook.ledger.record import VERDICT, display, glue_text, glued, records


def executed(*found):
    """A notebook with these outputs, written to a file and read again."""
    cells = [v4.new_markdown_cell("#"), v4.new_code_cell(outputs=list(found))]
    return nbformat.reads(nbformat.writes(v4.new_notebook(cells=cells)), as_version=4)


def test_records_and_glued_values_come_back_with_their_types():
    parts = {"β": greater(1.0, 2.0), "a": equal(1.0, 1.0, tol=0.5)}
    record = Record("00_mini", "a", "holds", 1.0, 0.4, parts, {}, {"seed": 0}, True)
    data = {"text/plain": record.line(), VERDICT: record.to_json()}
    glue = "application/papermill.record/text/plain"
    notebook = executed(
        v4.new_output("stream", name="stdout", text="a"),
        v4.new_output("display_data", data),
        *(
            v4.new_output("display_data", {glue: text}, metadata={"scrapbook": {"name": name}})
            for name, text in (("slope", "'0.33'"), ("words", "not a literal"))
        ),
    )
    assert records(notebook) == {"a": record}
    assert list(records(notebook)["a"].parts) == list(parts)
    assert glued(notebook) == {"slope": "0.33", "words": "not a literal"}


def test_a_cell_shows_a_verdict_as_one_output_and_glues_values_that_are_not_displayed(
    monkeypatch, ledger, capsys
):
    shown, told = [], {}

    def glue(name, value, display=True):  # as MyST-NB has it
        assert not display
        told[name] = value

    monkeypatch.setattr("IPython.get_ipython", object)
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    monkeypatch.setattr("myst_nb.glue", glue)
    record = ledger.check("a", 1.0, controls={"wrong": 9.0})
    glue_text(slope="0.31", count=3)
    assert shown == [{"text/plain": "a · holds · 1", VERDICT: record.to_json()}]
    assert told == {"slope": "0.31", "count": 3}
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("value", [None, 1.0])
def test_outside_of_a_notebook_the_line_is_printed(capsys, value):
    display(Record("c", "a", "holds", value, None, {}, {}, {}, True))
    glue_text(slope="0.3")
    assert capsys.readouterr().out == ("a · holds\n" if value is None else "a · holds · 1\n")
