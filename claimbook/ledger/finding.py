from claimbook.ledger.text import readable as readable
from claimbook.ledger.text import what_came_out as what_came_out
