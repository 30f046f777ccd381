from claimbook.ledger.record import tightest as tightest
