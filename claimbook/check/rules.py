"""The rules that every run of a page keeps, whatever its numbers are."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from claimbook.check.snapshot import is_folded, printed_lines
from claimbook.files import ROOT
from claimbook.ledger import schema
from claimbook.ledger.audit import complaints
from claimbook.ledger.record import record_of
from claimbook.pages import code_cells


def breaches(page: str, notebook: Any) -> Iterator[str]:
    """Say which rules an executed page breaks.

    Each row of its block is checked once and nothing else is; folded cells print nothing; nothing
    is warned of; the settings are the ledger's; every check could have come out otherwise.
    """
    checks = []
    for number, cell in enumerate(code_cells(notebook), 1):
        if is_folded(cell):
            for line in printed_lines(cell):
                yield f"printed by a folded cell: cell {number}: {line}"
        for output in cell.get("outputs", []):
            checks.append(record_of(output))
            if output["output_type"] == "stream" and output["name"] == "stderr":
                yield f"a cell wrote to stderr: cell {number}: {output['text'].strip()}"
    rows = {row.id: row for row in schema.load(ROOT / "book" / "claims.yml").chapters[page].claims}
    records = [record for record in checks if record is not None]
    counts = Counter(record.id for record in records)
    for id in rows:
        if id not in counts:
            yield f"{id}: this row of book/claims.yml has no check in the page"
    for id, count in counts.items():
        if id not in rows:
            yield f"{id}: checked, but has no row in book/claims.yml"
        if count > 1:
            yield f"{id}: checked more than once"
    if not all(record.default_settings for record in records):
        yield "the page's knobs are not at the settings of its block ('at your settings')"
    for record in records:
        if record.id in rows:
            yield from complaints(record, rows[record.id])
