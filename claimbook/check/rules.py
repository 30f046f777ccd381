"""The rules that every run of a page keeps, whatever its numbers are."""

from collections.abc import Iterator
from typing import Any

from claimbook.check.snapshot import is_folded, printed_lines
from claimbook.ledger.audit import complaints
from claimbook.ledger.record import records
from claimbook.ledger.schema import load
from claimbook.pages import code_cells


def breaches(page: str, notebook: Any) -> Iterator[str]:
    """Say which rules an executed page breaks.

    Folded cells print nothing; nothing is warned of; each row of the page's block is checked, in a
    way that could have come out otherwise, and at the ledger's settings.
    """
    for number, cell in enumerate(code_cells(notebook), 1):
        if is_folded(cell):
            for line in printed_lines(cell):
                yield f"printed by a folded cell: cell {number}: {line}"
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream" and output["name"] == "stderr":
                yield f"a cell wrote to stderr: cell {number}: {output['text'].strip()}"
    checks = records(notebook)
    for row in load().chapters[page].claims:
        if row.id in checks:
            yield from complaints(checks[row.id], row)
        else:
            yield f"{row.id}: this row of book/claims.yml has no check in the page"
    if not all(record.default_settings for record in checks.values()):
        yield "the page's knobs are not at the settings of its block ('at your settings')"
