"""What each row said when its first number was seen: ``tests/rows.txt``, one line a row.

    ch1-figure-3 8f3a60c1 0d4be2f7 4 | holds in part | 1 2 3

The checker notes a row at its first run. From then on its criterion (the first digest) and its
words (the second) are held: a change of either needs a new entry in the row's ``amended``, whose
number is noted, too, or the statement that they were only reworded. The verdict follows, and the
master seeds that confirm it under this criterion; one that does not confirm it has an exclamation
mark, and no test lets it pass.

    python -m claimbook.ledger.amendments                     note the rows that were amended
    python -m claimbook.ledger.amendments ch1-figure-3 …      note that these were only reworded
"""

import datetime
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from claimbook.files import ROOT, write_atomically
from claimbook.ledger.schema import Claims, load, plain

FILE = ROOT / "tests" / "rows.txt"
HEAD = "# row, digests of its criterion and words, amendments | verdict | seeds that confirm it\n"
DISSENT = "!"
DAYS = 7  # between the day that an entry bears and the day on which it is noted
WORDS = ("brief", "statement", "statistic", "tolerance", "quantity")


class Note(NamedTuple):
    """What is noted of one row."""

    criterion: str
    words: str
    amended: int
    verdict: str = ""
    seeds: tuple[str, ...] = ()

    def __str__(self) -> str:
        row = f"{self.criterion} {self.words} {self.amended}"
        return f"{row} | {self.verdict} | {' '.join(self.seeds)}".rstrip(" |")

    @property
    def by_seed(self) -> dict[str, str]:
        """The verdict under each master seed; of another than the reference only that it is one."""
        words = {True: f"not {self.verdict}", False: self.verdict}
        return {seed.strip(DISSENT): words[seed.endswith(DISSENT)] for seed in self.seeds}

    def refusal(self, new: "Note") -> str:
        """Say why the row ``new`` may not be noted; empty where it may."""
        if new.amended < self.amended:
            return f"'amended' had {self.amended} entries and has {new.amended}; none is taken away"
        change = "changed after the first number; say what and why in 'amended'"
        if new.amended == self.amended and new.criterion != self.criterion:
            return f"its parts, controls, expected verdict, source or settings {change}"
        if new.amended == self.amended and new.words != self.words:
            return f"its words {change}, or note it as reworded if it means the same"
        return ""

    def with_seed(self, seed: int, verdict: str, expected: str) -> "Note":
        """Add a master seed; those of another verdict no longer count."""
        seeds = {one.strip(DISSENT): one for one in self.seeds if self.verdict == expected}
        seeds[str(seed)] = f"{seed}" if verdict == expected else f"{seed}{DISSENT}"
        ordered = tuple(seeds[name] for name in sorted(seeds, key=int))
        return self._replace(verdict=expected, seeds=ordered)


def notes_of(claims: Claims) -> dict[str, Note]:
    """Note every row as it is written now."""
    notes = {}
    for block in claims.chapters.values():
        for row in map(plain, block.claims):
            source, controls = row["source"], row["controls"]
            tests = {name: (one["kind"], one["condition"]) for name, one in controls.items()}
            whats = {name: one["what"] for name, one in controls.items()}
            criterion = [row["parts"], tests, row["expected"], source["document"], block.settings]
            words = [*(row[field] for field in WORDS), source, row["kind"], whats]
            amended = len(row.get("amended", []))
            notes[row["id"]] = Note(_digest(criterion), _digest(words), amended)
    return notes


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def refusals(
    notes: Mapping[str, Note], claims: Claims, today: datetime.date | None = None
) -> Iterator[str]:
    """Say for each row why it may not be noted as it is, or why it may not be gone."""
    today = today or datetime.date.today()
    for one in claims.rows:
        already = notes[one.id].amended if one.id in notes else len(one.amended)
        for entry in one.amended[already:]:
            if not 0 <= (today - entry.date).days <= DAYS:
                when = f"noted within {DAYS} days of its date; it is {today} and says {entry.date}"
                yield f"{one.id}: an entry in 'amended' must be {when}"
    present = notes_of(claims)
    reasons = " ".join(f"{one.what} {one.why}" for row in claims.rows for one in row.amended)
    for row, note in notes.items():
        if row in present and (reason := note.refusal(present[row])):
            yield f"{row}: {reason}"
        elif row not in present and row not in reasons:
            where = "name it in 'amended' of the row that took its place"
            yield f"{row}: was measured and is gone, or renamed; {where}"


def update(notes: Mapping[str, Note], claims: Claims) -> dict[str, Note]:
    """Bring the notes up to the ledger; seeds of another criterion are dropped."""
    updated = {}
    for row, present in notes_of(claims).items():
        if row in notes:
            old = notes[row] if notes[row].criterion == present.criterion else present
            updated[row] = present._replace(verdict=old.verdict, seeds=old.seeds)
    return updated


def read(path: Path = FILE) -> dict[str, Note]:
    """Read the notes by row; ``ValueError`` with file and line where one is none."""
    notes = {}
    lines = path.read_text(encoding="utf8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            try:
                noted, verdict, seeds = (*line.split(" | "), "", "")[:3]
                row, criterion, words, amended = noted.split()
                notes[row] = Note(criterion, words, int(amended), verdict, tuple(seeds.split()))
            except ValueError:
                where = f"{path.name}, line {number}"
                raise ValueError(f"{where}: must read {HEAD[2:-1]}; got {line!r}") from None
    return notes


def write(notes: Mapping[str, Note], path: Path = FILE) -> None:
    """Write the notes, a row a line."""
    write_atomically(path, HEAD + "".join(f"{row} {one}\n" for row, one in notes.items()))


def note_first_run(seen: dict[str, Note], path: Path = FILE) -> None:
    """Note the rows whose first number was just seen."""
    notes = read(path)
    if seen.keys() - notes.keys():
        write(notes | seen | notes, path)  # a note stays as it is


def main(reworded: list[str], path: Path = FILE) -> int:
    """Note what changed, or say why not."""
    claims, notes = load(), read(path)
    present = notes_of(claims)
    for row in reworded:
        if row not in notes or row not in present:
            sys.exit(f"{row} is no row that was measured")
        notes[row] = notes[row]._replace(words=present[row].words)
    refused = list(refusals(notes, claims))
    if refused:
        print("not noted:", *refused, sep="\n  ")
        return 1
    write(update(notes, claims), path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
