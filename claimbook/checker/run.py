"""One run of a chapter: what its cells checked and printed, and what is kept of it."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from claimbook.checker import knobs, reference, written
from claimbook.checker.knobs import Turn
from claimbook.checker.portability import Variant
from claimbook.checker.reference import Reference
from claimbook.files import ROOT, write_atomically
from claimbook.ledger import Record, outputs, schema
from claimbook.ledger.audit import complaints
from claimbook.runs import notebooks
from claimbook.runs.page_key import page_key
from claimbook.runs.provenance import AGREES, DISAGREES, here


@dataclass
class ChapterRun:
    """What one session finds out about a chapter, from its first cell to its last comparison.

    ``rows`` are the ids of the chapter's block of the ledger, ``expected`` what the chapter is held
    to, ``digest`` that of the file. ``master_seed`` is None where the chapter runs with its own,
    ``turn`` is the knob that is turned, and ``variant`` how it is computed otherwise than here.
    """

    path: Path
    notebook: Any
    rows: list[str]
    expected: Reference
    digest: str | None
    master_seed: int | None
    fill_cache: bool
    turn: Turn | None = None
    variant: Variant | None = None

    records: list[Record] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    cells_passed: int = 0
    seconds: float = 0.0
    judged: dict[str, bool] = field(default_factory=dict)
    key: str = ""
    origin: dict[str, Any] = field(default_factory=dict)

    @property
    def chapter(self) -> str:
        """The chapter's name, ``06_stagewise_dynamics``."""
        return self.path.stem

    @property
    def label(self) -> str:
        """The run's name, which tells it from the chapter's other runs."""
        how = self.turn or self.variant
        return self.chapter if how is None else f"{self.chapter}, {how}"

    @property
    def cells(self) -> list[Any]:
        """The code cells, in order."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def whole(self) -> bool:
        """Whether every cell ran without an error."""
        return self.cells_passed == len(self.cells)

    @property
    def at_own_settings(self) -> bool:
        """Whether the chapter's knobs are turned."""
        return not all(record.default_settings for record in self.records)

    def starts(self) -> None:
        """Note what the run is made of, before its first cell."""
        self.key = page_key(self.path, ROOT)
        self.origin = here(ROOT)

    def checks(self, output: Any) -> None:
        """Note the verdict that one output of a cell is, if it is one."""
        record = outputs.record_of(output)
        if record is not None:
            self.records.append(record)

    def prints(self, cell: int, lines: Iterable[str]) -> None:
        """Note what a folded cell printed."""
        self.stray += [f"cell {cell}: {line}" for line in lines]

    def warns(self, cell: int, text: str) -> None:
        """Note what a cell wrote to stderr."""
        self.warned.append(f"cell {cell}: {text.strip()}")

    def ran_through(self, seconds: float) -> None:
        """All cells passed, in ``seconds`` of processor time: the run may be shown."""
        self.seconds = seconds
        self._keep()

    @cached_property
    def shown(self) -> Reference:
        """All that the whole run shows, as it is held in ``tests/expected``."""
        return reference.of_run(self.notebook)

    def ledger_findings(self, must_be_expected: bool) -> Iterator[str]:
        """Where the chapter's block of the ledger and what it checked do not match one to one.

        With ``must_be_expected`` each claim needs a reference too.
        """
        ids = [record.id for record in self.records]
        for line in self.stray:
            yield f"printed by a folded cell: {line}"
        for line in self.warned:
            yield f"a cell wrote to stderr: {line}"
        for row in self.rows:
            if row not in ids:
                yield f"{row}: this row of book/claims.yml has no check in the chapter"
        for claim in ids:
            if claim not in self.rows:
                yield f"{claim}: checked, but has no row in book/claims.yml"
        for claim in sorted(set(ids)):
            if ids.count(claim) > 1:
                yield f"{claim}: checked more than once"
        if self.master_seed is None and self.at_own_settings:
            where = "the settings of its block in book/claims.yml"
            yield f"the chapter's knobs are not at {where} ('at your settings')"
        if must_be_expected:
            for claim in ids:
                if claim not in self.expected.claims:
                    yield f"{claim}: checked, but has no entry in tests/expected"

    def knob_findings(self) -> Iterator[str]:
        """Where the run with a turned knob is not what it must be."""
        ids = [record.id for record in self.records]
        if sorted(ids) != sorted(self.rows):
            yield f"checked {sorted(ids)}; the rows are {sorted(self.rows)}"
        for record in self.records:
            if record.default_settings:
                yield f"does not say that it is at your settings: {record.line()}"
        if self.turn is None or self.turn.value is not True:  # a switch may make the chapter talk
            yield from (f"printed: {line}" for line in self.stray)
        for line in self.warned:
            yield f"a cell wrote to stderr: {line}"
        if self.turn is not None and self.turn.name == "seed":
            before = knobs.default_records(self.chapter)
            if before is None:
                yield "not run with its own seed, so that nobody knows what moved: make book"
            else:
                after = outputs.records(self.notebook)
                yield from knobs.unmoved(before, after, knobs.recorded_rows(self.chapter))
                yield from knobs.disguised_numbers(before, after, self.chapter)

    def knob_ran(self) -> None:
        """Note that the chapter ran with this knob turned, so that it need not run again."""
        if self.turn is not None and self._undisturbed():
            write_atomically(note_of(self.path, self.turn), f"{self.seconds:.1f}\n")

    def audit_findings(self) -> Iterator[str]:
        """Where a row's check could not have come out otherwise, or a control is none."""
        blocks = schema.load(ROOT / "book" / "claims.yml").chapters
        records = outputs.records(self.notebook)
        for row in blocks[self.chapter].claims:
            record = records.get(row.id)
            if record is not None:
                yield from complaints(record, row)

    def was_judged(self) -> None:
        """Note beside the kept run how the comparison went; one that left out a line is none."""
        names = {f"claim:{claim}" for claim in self.expected.claims} | {"page", "ledger"}
        if self.whole and set(self.judged) == names:
            agrees = all(self.judged.values())
            self.origin["outcome"] = AGREES if agrees else DISAGREES
            self.origin["reference"] = self.digest
            self._keep()

    def write_expected(self) -> None:
        """Make what the chapter shows its reference."""
        command = f"make expected NAME={self.chapter}"
        head = f"# What {self.chapter} shows. Rewrite with: {command}\n"
        write_atomically(expected_path(self.chapter), written.write(self.shown, head))

    def keep_shown(self) -> None:
        """Keep what the page shows under a variant, in a folder that nothing reads."""
        head = f"# What {self.label} shows.\n"
        path = ROOT / "_build" / "portability" / f"{self.chapter}@{self.variant}.yml"
        write_atomically(path, written.write(self.shown, head))

    def _keep(self) -> None:
        """Put the run where the site finds it."""
        if self.fill_cache and self.turn is None and self._undisturbed():
            about = self.origin | {"seconds": self.seconds}
            notebooks.store(self.notebook, self.path, self.key, about, ROOT)

    def _undisturbed(self) -> bool:
        """Whether nothing that the page reads was edited meanwhile: then nobody knows what ran."""
        return self.key == page_key(self.path, ROOT)


def note_of(path: Path, turn: Turn) -> Path:
    """Where is noted that the chapter at ``path``, as it is now, ran through with a knob turned.

    The name holds the page's key and the digest of its source.

    What the ledger says of the knob counts too: which rows may stay as they were is in no key.
    """
    said = repr(knobs.declared(path.stem)[turn.name]).encode()
    digest = hashlib.sha256(path.read_bytes() + said).hexdigest()[:12]
    folder = ROOT / "_build" / "knobs" / page_key(path, ROOT)
    return folder / f"{path.stem}-{digest} {turn}"


def expected_path(chapter: str) -> Path:
    """Where a chapter's reference is."""
    return ROOT / "tests" / "expected" / f"{chapter}.yml"
