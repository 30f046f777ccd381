"""What each row said when its first number was seen: ``tests/rows.txt``, one line a row.

The checker notes a row at its first run. From then on its words, its criterion and its controls
are held: whoever changes them says so in a new entry of ``amended``, and ``tests/rows.py`` notes
the change then, and not before. So it is a machine that knows what was written before measuring.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from claimbook.files import ROOT, write_atomically
from claimbook.ledger.schema import Row

FILE = ROOT / "tests" / "rows.txt"
NONE = "-"  # the row has no such field


class Note(NamedTuple):
    """Digests of what a verdict depends on, and how many entries ``amended`` had."""

    printed: str
    statement: str
    parts: str
    controls: str
    conditions: str
    amended: int

    def changed(self, now: "Note") -> list[str]:
        """The fields that say something else now; one that was not there before is no change."""
        held = [name for name in self._fields if name != "amended"]
        pairs = [(name, getattr(self, name), getattr(now, name)) for name in held]
        return [name for name, old, new in pairs if old not in (new, NONE)]

    def refused(self, now: "Note") -> str:
        """Why what the row says now may not be noted; empty where it may."""
        if now.amended < self.amended:
            return f"'amended' had {self.amended} entries and has {now.amended}; none is taken away"
        changed = self.changed(now)
        if changed and now.amended == self.amended:
            fields = " and ".join(f"'{name}'" for name in changed)
            return f"{fields} changed after the first number; say what and why in 'amended'"
        return ""


def of_row(row: Row) -> Note:
    """What there is to note of a row."""
    kinds = {name: (one["kind"], one["what"]) for name, one in row["controls"].items()}
    conditions = {name: one["condition"] for name, one in row["controls"].items()}
    return Note(
        digest(row["source"].get("printed")),
        digest(row["statement"]),
        digest(row.get("parts")),
        digest(kinds),
        digest(conditions or None),
        len(row.get("amended", [])),
    )


def digest(said: Any) -> str:
    """Of a field's content; :data:`NONE` where there is none."""
    if said is None:
        return NONE
    text = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read(path: Path = FILE) -> dict[str, Note]:
    """The notes by row; raises ``ValueError`` with file and line where one is none."""
    lines = path.read_text(encoding="utf8").splitlines() if path.exists() else []
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            try:
                claim, printed, statement, parts, controls, conditions, amended = line.split()
                found[claim] = Note(printed, statement, parts, controls, conditions, int(amended))
            except ValueError:
                wanted = f"a row and its {', '.join(Note._fields)}"
                where = f"{path.name}, line {number}"
                raise ValueError(f"{where}: must be {wanted}; got {line!r}") from None
    return found


def write(notes: Mapping[str, Note], path: Path = FILE) -> None:
    """Write the notes anew."""
    head = f"# row {' '.join(Note._fields)}; see claimbook/ledger/noted.py\n"
    lines = [f"{claim} {' '.join(map(str, note))}\n" for claim, note in notes.items()]
    write_atomically(path, head + "".join(lines))


def first_run(seen: Mapping[str, Note], path: Path = FILE) -> list[str]:
    """Note the rows whose first number was just seen; the others stay as they were noted."""
    notes = read(path)
    new = [claim for claim in seen if claim not in notes]
    if new:
        write(notes | {claim: seen[claim] for claim in new}, path)
    return new


def refusals(notes: Mapping[str, Note], now: Mapping[str, Note]) -> Iterator[str]:
    """Why the ledger as it is ``now`` may not be noted, a sentence a row."""
    for claim, note in notes.items():
        said = note.refused(now[claim]) if claim in now else ""
        if said:
            yield f"{claim}: {said}"
