"""What an executed notebook holds comes back as it was."""

import nbformat
from nbformat import v4

from claimbook.ledger import Record
from claimbook.ledger.comparison import equal, greater
from claimbook.ledger.record import VERDICT, display, glue_text, glued, records


def executed(*found):
    """Write a notebook with these outputs to a file and read it again."""
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
        v4.new_output("display_data", {glue: "'0.33'"}, metadata={"scrapbook": {"name": "slope"}}),
        v4.new_output("display_data", {glue: "not so"}, metadata={"scrapbook": {"name": "words"}}),
    )
    assert records(notebook) == {"a": record}
    assert list(records(notebook)["a"].parts) == list(parts)
    assert glued(notebook) == {"slope": "0.33", "words": "not so"}


def test_outside_of_a_notebook_the_line_is_printed(capsys):
    display(Record("c", "a", "holds", 1.0, 0.0, {}, {}, {}, True))
    glue_text(slope="0.3")
    assert capsys.readouterr().out == "a · holds · 1\n"
