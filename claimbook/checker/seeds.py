"""The verdicts under other master seeds, which are noted in ``tests/rows.txt``."""

from collections.abc import Iterable
from typing import NamedTuple

from claimbook.checker import written
from claimbook.checker.run import expected_path
from claimbook.files import ROOT
from claimbook.ledger import amendments, schema

REPORT = "report"  # of a report's properties: what a run found


class Report(NamedTuple):
    """What one run of a chapter found, and its processor time in seconds."""

    chapter: str
    master_seed: int | None
    lines: list[str]
    verdicts: dict[str, str]
    seconds: float


def record(reports: Iterable[Report]) -> None:
    """Note the seeds that confirm a row's verdict in ``tests/expected``, and those that do not.

    A row whose criterion is not as it was noted is passed over.
    """
    path = ROOT / "tests" / "rows.txt"
    notes = amendments.read(path)
    now = amendments.notes_of(schema.load(ROOT / "book" / "claims.yml"))
    for report in reports:
        expected = written.parse(expected_path(report.chapter).read_text(encoding="utf8")).claims
        for claim, verdict in report.verdicts.items():
            note = notes.get(claim)
            if note is None or claim not in expected or note.criterion != now[claim].criterion:
                continue
            reference = expected[claim].claim.verdict
            notes[claim] = note.with_seed(report.master_seed or 0, verdict, reference)
    amendments.write(notes, path)
