"""A press for books of claims: judge them by the run, check the run, print what was found."""

from claimbook.ledger import Ledger, compared_with, glue_text
from claimbook.runs.memo import cached
from claimbook.runs.records import read_record

__all__ = ["Ledger", "cached", "compared_with", "glue_text", "read_record"]
