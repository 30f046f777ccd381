from claimbook.ledger.text import is_exact as is_exact
from claimbook.ledger.text import rounded as rounded
