"""The ledger: claims written down before they are measured, and the verdicts on them.

What only the checker and the site need (audit, amendments) is not imported here: no page runs it.
"""

from claimbook.ledger.conditions import compared_with
from claimbook.ledger.record import Record, glue_text
from claimbook.ledger.schema import FAILS, HOLDS, IN_PART, OURS, VERDICTS, load, plain
from claimbook.ledger.verdicts import Ledger
