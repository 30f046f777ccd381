from claimbook.ledger.record import glued as told
from claimbook.ledger.record import record_of, records

__all__ = ["record_of", "records", "told"]
