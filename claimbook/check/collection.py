"""A page as pytest sees it: a file of cells, each a test."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import nbval.plugin as nbv
import pytest

from claimbook.check import kernel, seeds
from claimbook.check.differences import compare
from claimbook.check.reruns import Rerun, set_parameters
from claimbook.check.snapshot import Snapshot, read_expected
from claimbook.files import ROOT, lock, write_atomically
from claimbook.ledger import amendments, schema
from claimbook.ledger.record import Record, records
from claimbook.ledger.text import format_value
from claimbook.pages import code_cells, code_of, read_chapter, toc_chapters
from claimbook.runs import notebooks, page_key, provenance

OUTPUT_WAIT = 60  # seconds for a cell's output after its reply; nbval's 5 s are few on busy cores
# of a report's properties: the page's seconds and lines; how far each of its numbers moved
DONE, MOVES = "done", "moves"


class RerunsOfPage(pytest.Collector):
    """One page, once for each way in which it is to be run again."""

    reruns: list[Rerun]

    def collect(self) -> Iterator["PageFile"]:
        """Yield the page as a file of its own for each rerun."""
        for rerun in self.reruns:
            name = f"{self.path.relative_to(ROOT).as_posix()}@{rerun.name}"
            page: PageFile = PageFile.from_parent(self, path=self.path, name=name, nodeid=name)
            page.rerun = rerun
            yield page


class PageFile(nbv.IPyNbFile):  # type: ignore[misc]  # nbval has no types
    """One page: its kernel and its cells."""

    rerun: Rerun | None = None
    passed = 0  # cells that ran without an error
    failed = False

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests of the page; a page that would not be checked is refused."""
        try:
            self.nb = readable_page(self.path)
            if self.rerun is not None:
                set_parameters(self.nb, self.rerun.settings)
        except ValueError as error:
            raise self.CollectError(str(error)) from None
        self.cells = code_cells(self.nb)
        self.written = amendments.notes_of(schema.load())
        for number, cell in enumerate(self.cells, 1):
            options: Any = defaultdict(bool)  # no tag or comment excuses a cell
            yield PageCell.from_parent(
                self, name=f"cell{number}", cell_num=number, cell=cell, options=options
            )
        if self.rerun is not None and (self.rerun.is_variant or self.rerun.seed is not None):
            yield RerunItem.from_parent(self, name="compared")

    @property
    def page(self) -> str:
        """The page's name, ``06_stagewise_dynamics``."""
        return str(self.path.stem)

    def setup(self) -> None:
        """Start the kernel, and note what the run is made of."""
        self.key = page_key.page_key(self.path)
        self.provenance = provenance.here()
        with mock.patch.dict(os.environ, self.rerun.environment if self.rerun else {}):
            super().setup()
        kernel.adapt(self.kernel)
        if self.rerun is None:
            notebooks.run_path(self.path).unlink(missing_ok=True)  # a red page has no run
        else:
            kernel.ask(self.kernel, self.rerun.prelude)

    def note_first_numbers(self) -> None:
        """Note the rows whose first number was seen now, as they were written before the run."""
        with lock(amendments.FILE.parent):
            amendments.note_first_run({id: self.written[id] for id in records(self.nb)})

    def finish(self) -> None:
        """Cache the run, unless the page was edited meanwhile: then nobody knows what ran."""
        self.provenance["seconds"], loaded = kernel.state(self.kernel)
        if self.rerun is None:
            refuse_what_no_key_covers(self.nb, loaded)
            if self.key == page_key.page_key(self.path):
                notebooks.store(self.nb, self.path, self.key, self.provenance)


def readable_page(path: Path) -> Any:
    """Read a page as a notebook without outputs.

    Raises ``ValueError`` where the page is not in the table of contents or has no row. That every
    cell is one, and not nested in another block, is checked by the strict build.
    """
    if path.stem not in toc_chapters(ROOT):
        raise ValueError(f"{path.name} stands in book/chapters but not in _toc.yml")
    blocks = schema.load().chapters
    if path.stem not in blocks or not blocks[path.stem].claims:
        reason = "so that nothing would be checked"
        raise ValueError(f"{path.name} has no claim in book/claims.yml, {reason}")
    notebook = read_chapter(path)
    for number, cell in enumerate(code_cells(notebook), 1):
        cell["outputs"] = []
        cell["execution_count"] = number
    return notebook


def refuse_what_no_key_covers(notebook: Any, loaded: list[Path]) -> None:
    """Fail where a kernel has loaded or read a file that is not in the page's key."""
    cells = code_of(notebook)
    covered = {*page_key.modules_read(cells), *page_key.records_read(cells)}
    outside = sorted(str(path) for path in set(loaded) - covered)
    if outside:
        why = "so that a change there would not run this page again; import or name it in a cell"
        pytest.fail(f"used, but not in the page's key, {why}: {', '.join(outside)}", pytrace=False)


def knobs(page: PageFile) -> Iterator[str]:
    """Say which knob of a page that is run at other settings stands where, and its default."""
    defaults = schema.load().chapters[page.page].settings
    for name, value in page.rerun.settings.items() if page.rerun else ():
        yield f"{name} = {value!r} (default {defaults.get(name, 'none in the ledger')})"


def line_of(page: str, record: Record) -> str:
    """Write the line of a claim, at other settings with what it is at the book's own."""
    if record.default_settings:
        return record.line()
    claims = read_expected(page).claims
    if record.id not in claims:
        return f"{record.line()}  (default: no reference yet)"
    default = claims[record.id].claim
    number = format_value(default.value, default.half_width)
    return f"{record.line()}  (default: {default.verdict} · {number})"


class PageCell(nbv.IPyNbCell):  # type: ignore[misc]  # nbval has no types
    """One code cell: it must run without an error."""

    parent: PageFile

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.output_timeout = OUTPUT_WAIT

    def setup(self) -> None:
        """Skip nbval's: after a timeout it marks the other cells as expected failures."""

    def runtest(self) -> None:
        """Run the cell, unless an earlier one failed."""
        page = self.parent
        if page.failed:
            pytest.skip("an earlier cell of this page failed")
        page.failed = True
        try:
            super().runtest()
        finally:
            self.keep_outputs()
            page.note_first_numbers()
        page.passed += 1
        if page.passed == len(page.cells):
            page.finish()
            title = ", ".join([page.page, *knobs(page)])
            lines = [line_of(page.page, record) for record in records(page.nb).values()]
            self.user_properties.append((DONE, (title, page.provenance["seconds"], lines)))
        page.failed = False

    def keep_outputs(self) -> None:
        """Put the outputs into the notebook."""
        self.cell["outputs"] = []
        for output in self.test_outputs or []:
            node: Any = nbformat.from_dict(dict(output))  # type: ignore[no-untyped-call]
            if node["output_type"] == "execute_result":
                node["execution_count"] = self.cell.execution_count
            self.cell["outputs"].append(node)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
        """Show nbval's words for an error in the cell, and pytest's for others."""
        own = isinstance(excinfo.value, pytest.fail.Exception | RuntimeError)
        return str(excinfo.value) if own else super().repr_failure(excinfo)


class RerunItem(pytest.Item):
    """What is compared of a page that was run otherwise: with its reference, or its own seed."""

    parent: PageFile

    def runtest(self) -> None:
        """Compare, and hand on what moved."""
        page, rerun = self.parent, self.parent.rerun
        if page.passed < len(page.cells) or rerun is None:
            pytest.skip("a cell of this page failed")
        if rerun.seed is not None:
            said = list(seeds.findings(page.page, rerun.seed, page.nb))
        else:
            found = Snapshot.of(page.nb)
            moves = list(compare(read_expected(page.page), found))
            said = [f"{move.owner}: {move}" for move in moves if move.distance > 1]
            sizes = {f"{move.owner}, {move.place}": move.distance for move in moves}
            self.user_properties.append((MOVES, (page.page, rerun.name, sizes)))
            path = ROOT / "_build" / "portability" / f"{page.page}@{rerun.name}.yml"
            write_atomically(path, found.to_yaml(f"# What {page.page}, {rerun.name} shows.\n"))
        if said:
            pytest.fail("\n".join([f"{page.page}, {rerun.name}:", *said]), pytrace=False)
