"""The ledger: claims written down before they are measured, and the verdicts on them.

Chapters use :class:`Ledger`, :func:`outcomes` and :func:`tell`; the checker and the site the rest.
"""

from claimbook.ledger.conditions import beside
from claimbook.ledger.lines import format_value
from claimbook.ledger.prose import outcomes, signs, tell
from claimbook.ledger.record import Record
from claimbook.ledger.schema import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_TESTABLE,
    OURS,
    SUPERSEDED,
    UNDECIDED_ROW,
    VERDICTS,
    load,
)
from claimbook.ledger.verdicts import Ledger

__all__ = [
    "FAILS",
    "HOLDS",
    "IN_PART",
    "NOT_TESTABLE",
    "OURS",
    "SUPERSEDED",
    "UNDECIDED_ROW",
    "VERDICTS",
    "Ledger",
    "Record",
    "beside",
    "format_value",
    "load",
    "outcomes",
    "signs",
    "tell",
]
