"""A chapter as pytest sees it: a file of cells, each a test, and the checks that follow them."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import nbval.plugin as nbv
import pytest

from claimbook.checker import kernel, knobs, portability
from claimbook.checker.comparison import (
    ChapterItem,
    ClaimItem,
    KnobItem,
    LedgerItem,
    MovesItem,
    PageItem,
    read_expected,
)
from claimbook.checker.findings import CELLS, Consequence, Finding
from claimbook.checker.knobs import Turn
from claimbook.checker.portability import Variant
from claimbook.checker.reference import Reference, is_folded, printed_lines
from claimbook.checker.run import ChapterRun, expected_path, note_of
from claimbook.files import ROOT
from claimbook.ledger import amendments, schema
from claimbook.ledger.amendments import Note
from claimbook.pages import code_of, read_chapter, toc_chapters
from claimbook.runs import page_key, provenance

OUTPUT_WAIT = 60  # seconds for a cell's output after its reply; nbval's 5 s are few on busy cores
FIRST_NUMBERS = "first_numbers"  # of a report's properties: rows, and what they said
# a block in the notebook's language that is no cell: its name is misspelt
_LOST_CELL = re.compile(r"^\s*[`~:]{3,}\s*\{(?!code-cell\})([\w-]+)\}[ \t]*ipython3", re.MULTILINE)
_CODE_CELL = re.compile(r"^\s*[`~:]{3,}\s*\{code-cell\}", re.MULTILINE)


class TurnsOfChapter(pytest.Collector):
    """One chapter, once for each master seed or variant that is asked for, or for each knob."""

    def __init__(self, path: Path, **kwargs: Any) -> None:
        super().__init__(name=path.name, path=path, **kwargs)

    def collect(self) -> Iterator["ChapterFile"]:
        """The chapter with its knobs turned, one after another, but for what ran through before."""
        option = self.config.option
        if option.master_seeds:
            for seed in option.master_seeds.split():
                turn = Turn("seed", int(seed))
                chapter = repeated_chapter(self, str(turn))
                chapter.turn, chapter.master_seed = turn, int(seed)
                yield chapter
            return
        if option.variants:
            for variant in portability.variants(option.variants):
                chapter = repeated_chapter(self, str(variant))
                chapter.variant = variant
                yield chapter
            return
        try:
            turns = knobs.turns(self.path.stem, option.knobs)
        except ValueError as error:
            raise self.CollectError(str(error)) from None
        for turn in turns:
            if option.knobs != knobs.ALL or not note_of(self.path, turn).exists():
                chapter = repeated_chapter(self, str(turn))
                chapter.turn = turn
                yield chapter


def repeated_chapter(parent: pytest.Collector, how: str) -> "ChapterFile":
    """The chapter of ``parent`` as a file of its own, to be run in another way."""
    node_id = f"{parent.path.relative_to(ROOT).as_posix()}@{how}"
    chapter: ChapterFile = ChapterFile.from_parent(
        parent, path=parent.path, name=node_id, nodeid=node_id
    )
    return chapter


class ChapterFile(nbv.IPyNbFile):  # type: ignore[misc]  # nbval has no types
    """One chapter: its kernel, its cells, its claims."""

    master_seed: int | None = None  # the verdicts under it are compared
    turn: Turn | None = None
    variant: Variant | None = None
    run: ChapterRun
    unmeasured: dict[str, Note]  # the rows whose first number was not seen yet, as they are written

    def collect(self) -> Iterator[pytest.Item]:
        """The tests of the chapter; a chapter that would not be checked is refused."""
        mode = self.config.option.chapters
        try:
            self.run = self._new_run(self._held_to(mode))
        except ValueError as error:
            raise self.CollectError(str(error)) from None
        self.nb = self.run.notebook
        self.unmeasured = unmeasured(self.path.stem)
        cells = self.run.cells
        for number, cell in enumerate(cells, 1):
            yield ChapterCell.from_parent(
                self,
                name=f"cell{number}",
                cell_num=number,
                cell=cell,
                options=defaultdict(bool),  # no tag or comment excuses a cell
                run=self.run,
            )
        if mode == "run":
            return
        if self.turn is not None and self.master_seed is None:
            yield KnobItem.from_parent(self, name="knob", run=self.run)
            return
        for claim in self.run.expected.claims:
            yield ClaimItem.from_parent(self, name=f"claim:{claim}", run=self.run)
        if self.run.expected.claims and self.master_seed is None:
            yield PageItem.from_parent(self, name="page", run=self.run)
        yield LedgerItem.from_parent(self, name="ledger", run=self.run)
        if self.variant is not None:
            yield MovesItem.from_parent(self, name="moves", run=self.run)

    def _held_to(self, mode: str) -> Reference:
        """What the run is compared with: nothing where none is asked for or is there yet."""
        knob = self.turn is not None and self.master_seed is None
        there = mode == "compare" or (mode == "try" and expected_path(self.path.stem).exists())
        return read_expected(self.path.stem) if there and not knob else Reference()

    def _new_run(self, expected: Reference) -> ChapterRun:
        notebook = readable_chapter(self.path)
        if self.turn is not None:
            knobs.turn(notebook, self.turn)
        if self.variant is not None and self.variant.name == portability.THREADED:
            portability.give_threads(notebook)
        return ChapterRun(
            path=self.path,
            notebook=notebook,
            rows=rows_of(self.path.stem),
            expected=expected,
            digest=provenance.reference(self.path.stem, ROOT),
            master_seed=self.master_seed,
            turn=self.turn,
            variant=self.variant,
            fill_cache=self.config.option.fill_cache and self.variant is None,
        )

    def setup(self) -> None:
        """Start the kernel."""
        self.run.starts()
        if self.variant is None:
            super().setup()
            kernel.adapt(self.kernel)
            return
        with portability.told(self.variant):
            super().setup()
        kernel.adapt(self.kernel)
        kernel.run_first(self.kernel, self.variant.prelude)


def readable_chapter(path: Path) -> Any:
    """The chapter as a notebook without outputs.

    Raises ``ValueError`` where the chapter is not in the table of contents, and where neither nbval
    nor the book would run it or all of its cells.
    """
    text = path.read_text(encoding="utf8")
    if path.stem not in toc_chapters(ROOT):
        raise ValueError(f"{path.name} stands in book/chapters but not in _toc.yml")
    if not text.startswith("---\njupytext:"):
        reason = "so that neither nbval nor the book would run it"
        raise ValueError(f"{path.name} has no jupytext header, {reason}")
    notebook = read_chapter(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    misspelt = _LOST_CELL.search(text)
    if misspelt:
        line = text.count("\n", 0, misspelt.start(1)) + 1
        name = misspelt.group(1)
        raise ValueError(f"{path.name}, line {line}: {{{name}}} must be {{code-cell}} to be run")
    lost = len(_CODE_CELL.findall(text)) - len(cells)
    if lost:
        reason = "stand inside another block and would never be run"
        raise ValueError(f"{path.name}: {lost} code cell(s) {reason}")
    for number, cell in enumerate(cells, 1):
        cell["outputs"] = []
        cell["execution_count"] = number
    return notebook


def rows_of(chapter: str) -> list[str]:
    """The ids of the chapter's rows in the ledger.

    Raises ``ValueError`` where there is none.
    """
    blocks = schema.load(ROOT / "book" / "claims.yml").chapters
    rows = blocks[chapter].claims if chapter in blocks else []
    if not rows:
        reason = "so that nothing would be checked"
        raise ValueError(f"{chapter}.md has no claim in book/claims.yml, {reason}")
    return [row.id for row in rows]


def unmeasured(chapter: str) -> dict[str, Note]:
    """Note the chapter's rows that were never run, as they are written."""
    notes = amendments.read(ROOT / "tests" / "rows.txt")
    claims = schema.load(ROOT / "book" / "claims.yml")
    now = amendments.notes_of(claims)
    return {row.id: now[row.id] for row in claims.chapters[chapter].claims if row.id not in notes}


class ChapterCell(ChapterItem, nbv.IPyNbCell):  # type: ignore[misc]  # nbval has no types
    """One code cell: it must run without an error. What it shows is kept for the comparisons."""

    parent: Any  # the ChapterFile

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.output_timeout = OUTPUT_WAIT
        self.user_properties.append((CELLS, len(self.run.cells)))

    @property
    def where(self) -> str:
        """The cell's name in messages."""
        return f"{self.run.label}, cell {self.cell_num} of {len(self.run.cells)}"

    def setup(self) -> None:
        """Not nbval's: after a timeout that marks the other cells as expected failures.

        They would look like success.
        """

    def runtest(self) -> None:
        """Run the cell, unless an earlier one failed."""
        if self.run.cells_passed < self.cell_num - 1:
            raise Consequence("not run: an earlier cell of this chapter failed")
        try:
            nbv.IPyNbCell.runtest(self)
            # a variant loads what moves its draws, and fills no cache
            if self.cell_num == len(self.run.cells) and self.run.variant is None:
                self.refuse_what_no_key_covers()
        finally:
            self.keep_outputs()
            self.note_first_numbers()
        self.run.cells_passed += 1
        if self.run.whole:
            self.run.ran_through(kernel.processor_seconds(self.parent.kernel))

    def note_first_numbers(self) -> None:
        """Hand on what the rows say whose first number this cell showed."""
        waiting = self.parent.unmeasured
        first = [record.id for record in self.run.records if record.id in waiting]
        seen = {claim: tuple(waiting.pop(claim)) for claim in dict.fromkeys(first)}
        if seen:
            self.user_properties.append((FIRST_NUMBERS, seen))

    def refuse_what_no_key_covers(self) -> None:
        """After the last cell: what the kernel has loaded of the package is in the page's key."""
        loaded = kernel.loaded_files(self.parent.kernel)
        cells = code_of(self.run.notebook)
        covered = [*page_key.modules_read(cells, ROOT), *page_key.records_read(cells, ROOT)]
        outside = sorted(map(str, set(loaded) - set(covered)))
        if outside:
            why = "so that a change there would not run this page again; import it in a cell"
            raise Finding(f"loaded, but not in the page's key, {why}: {', '.join(outside)}")

    def keep_outputs(self) -> None:
        """Put the outputs into the notebook, and hand the verdicts to the run."""
        outputs = []
        for output in self.test_outputs or []:
            node: Any = nbformat.from_dict(dict(output))  # type: ignore[no-untyped-call]
            if node["output_type"] == "execute_result":
                node["execution_count"] = self.cell.execution_count
            outputs.append(node)
            if node["output_type"] == "stream" and node["name"] == "stderr":
                self.run.warns(self.cell_num, node["text"])
            self.run.checks(node)
        self.cell["outputs"] = outputs
        if is_folded(self.cell):
            self.run.prints(self.cell_num, printed_lines(self.cell))
