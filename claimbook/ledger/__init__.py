"""The ledger: claims written down before they are measured, and the verdicts on them.

Chapters use :class:`Ledger`, :func:`compared_with` and :func:`glue_text`; the checker and the site
the rest.
"""

from claimbook.ledger.conditions import compared_with
from claimbook.ledger.lines import format_value
from claimbook.ledger.prose import count_outcomes, count_signs, glue_text
from claimbook.ledger.record import Record
from claimbook.ledger.schema import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_TESTABLE,
    OURS,
    UNDECIDED_ROW,
    VERDICTS,
    load,
    plain,
)
from claimbook.ledger.verdicts import Ledger

__all__ = [
    "FAILS",
    "HOLDS",
    "IN_PART",
    "NOT_TESTABLE",
    "OURS",
    "UNDECIDED_ROW",
    "VERDICTS",
    "Ledger",
    "Record",
    "compared_with",
    "count_outcomes",
    "count_signs",
    "format_value",
    "glue_text",
    "load",
    "plain",
]
