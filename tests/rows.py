"""What each row of the ledger said when it was last looked at, as one digest a row.

    python tests/rows.py     write tests/rows.txt anew

A changed word of a row turns ``tests/test_claims.py`` red until this is run, so that no statement,
criterion or tolerance changes unseen: the review sees which rows did, and whether their ``amended``
says why.
"""

import hashlib
import json
from pathlib import Path

from iclutils.book.ledger import Row, load
from iclutils.book.runs.files import write_atomically

KEPT = Path(__file__).with_name("rows.txt")


def digest(row: Row) -> str:
    """Of all that a row says."""
    said = json.dumps(row, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def digests() -> dict[str, str]:
    """Of the ledger as it is."""
    blocks = load()["chapters"].values()
    return {row["id"]: digest(row) for block in blocks for row in block["claims"]}


def kept() -> dict[str, str]:
    """Of the ledger as it was last looked at."""
    lines = KEPT.read_text(encoding="utf8").splitlines()
    return dict(map(str.split, lines))


def main() -> None:
    """Write them anew."""
    lines = [f"{claim} {value}\n" for claim, value in digests().items()]
    write_atomically(KEPT, "".join(lines))


if __name__ == "__main__":
    main()
