"""What an executed notebook holds of a chapter's verdicts and of the numbers in its prose."""

import ast
from collections.abc import Iterator
from typing import Any

from claimbook.ledger.prose import VERDICT
from claimbook.ledger.record import Record

_GLUED = "application/papermill.record/text/plain"  # MyST-NB's name for a glued text


def record_of(output: Any) -> Record | None:
    """The record that one output of a cell is; None where it is another output."""
    fields = output.get("data", {}).get(VERDICT)
    return None if fields is None else Record.from_json(fields)


def records(notebook: Any) -> dict[str, Record]:
    """The ledger's records by claim id."""
    found = map(record_of, _outputs(notebook))
    return {record.id: record for record in found if record is not None}


def told(notebook: Any) -> dict[str, Any]:
    """The values that the cells glued as text, by name."""
    found = {}
    for output in _outputs(notebook):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        text = output.get("data", {}).get(_GLUED)
        if name and text is not None:
            found[name] = _literal(text)
    return found


def _outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from cell.get("outputs", [])


def _literal(text: str) -> Any:
    """The value whose ``repr`` a text is, or the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
