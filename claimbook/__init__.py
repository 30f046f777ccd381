"""A press for books of claims: judge them by the run, check the run, print what was found."""

from claimbook.files import read_record
from claimbook.ledger import Ledger, compared_with, glue_text
from claimbook.runs.memo import cached
