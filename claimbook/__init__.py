"""A press for books of claims: judge them by the run, check the run, print what was found."""

from claimbook.runs.memo import cached
from claimbook.runs.records import read_record

__all__ = ["cached", "read_record"]
