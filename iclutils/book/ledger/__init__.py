"""The ledger: claims written down before they are measured, and the verdicts on them.

Chapters use :class:`Ledger`, :func:`outcomes` and :func:`tell`; the checker and the site the rest.
"""

from iclutils.book.ledger.conditions import beside
from iclutils.book.ledger.lines import format_value
from iclutils.book.ledger.prose import outcomes, signs, tell
from iclutils.book.ledger.record import Record
from iclutils.book.ledger.schema import (
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
from iclutils.book.ledger.verdicts import Ledger

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
