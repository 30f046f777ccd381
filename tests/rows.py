"""Notes what changed in rows that have been measured; the checker notes a row at its first run.

    python tests/rows.py     bring tests/rows.txt up to the ledger

A row whose words, criterion or controls changed is noted only with a new entry in its ``amended``.
"""

import sys

from claimbook.ledger import load, noted
from claimbook.ledger.noted import Note


def now() -> dict[str, Note]:
    """What there is to note of the ledger as it is."""
    blocks = load()["chapters"].values()
    return {row["id"]: noted.of_row(row) for block in blocks for row in block["claims"]}


def main() -> int:
    """Note the changes, or say why not."""
    notes, rows = noted.read(), now()
    refused = list(noted.refusals(notes, rows))
    if refused:
        print("not noted:", *refused, sep="\n  ")
        return 1
    for claim, note in notes.items():
        if claim not in rows:
            print(f"{claim}: gone")
        elif note != rows[claim]:
            print(f"{claim}: {', '.join(note.changed(rows[claim])) or 'amended or completed'}")
    noted.write({claim: note for claim, note in rows.items() if claim in notes})
    return 0


if __name__ == "__main__":
    sys.exit(main())
