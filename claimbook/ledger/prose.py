from claimbook.ledger.record import VERDICT as VERDICT
