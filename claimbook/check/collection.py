"""A page as pytest sees it: a file of cells, each a test."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from unittest import mock

import nbformat
import nbval.plugin as nbv
import pytest

from claimbook.check import kernel, seeds
from claimbook.check.reruns import Rerun, set_parameters
from claimbook.check.snapshot import Snapshot, differences, read_expected
from claimbook.files import ROOT, lock, write_atomically
from claimbook.ledger import amendments, schema
from claimbook.ledger.record import records
from claimbook.pages import code_cells, read_chapter
from claimbook.runs import notebooks, page_key, provenance

OUTPUT_WAIT = 60  # seconds for a cell's output after its reply; nbval's 5 s are few on busy cores
COLOUR = re.compile(r"\x1b\[[\d;]*m")  # of a terminal
DONE = "done"  # a property of a test's report: the page, its seconds and its lines


class PageReruns(pytest.Collector):
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
        """Yield the cells of the page; settings that it cannot have are refused."""
        self.nb = read_chapter(self.path)
        if self.rerun is not None:
            try:
                set_parameters(self.nb, self.rerun.settings)
                schema.load().chapters[self.path.stem].refuse(self.rerun.settings)
            except ValueError as error:
                raise self.CollectError(str(error)) from None
        self.cells = code_cells(self.nb)
        self.notes = amendments.notes_of(schema.load())  # of the rows as they are before the run
        for number, cell in enumerate(self.cells, 1):
            cell["outputs"] = []
            cell["execution_count"] = number
            options: Any = defaultdict(bool)  # no tag or comment excuses a cell
            yield PageCell.from_parent(
                self, name=f"cell{number}", cell_num=number, cell=cell, options=options
            )

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
        """Note the rows whose first number was seen now."""
        with lock(amendments.FILE.parent):
            amendments.note_first_run({id: self.notes[id] for id in records(self.nb)})

    def finish(self, report: list[tuple[str, object]]) -> None:
        """Cache the run, or compare a rerun; add to the properties of the ``report``.

        A page that was edited meanwhile has no run: nobody knows what ran.
        """
        seconds = kernel.ask(self.kernel, expression=kernel.SECONDS)
        lines = [record.line() for record in records(self.nb).values()]
        name, usual = self.path.stem, schema.load().chapters[self.path.stem].settings
        if self.rerun is not None:
            turned = [f"{a}={b!r} (default {usual[a]!r})" for a, b in self.rerun.settings.items()]
            name = ", ".join([name, *(turned or [self.rerun.name])])
        report.append((DONE, (name, seconds, lines)))
        if self.rerun is not None:
            compare_rerun(self.path.stem, self.rerun, self.nb)
            return
        if self.key == page_key.page_key(self.path):
            about = {**self.provenance, "seconds": seconds}
            notebooks.store(self.nb, self.path, self.key, about)


def compare_rerun(page: str, rerun: Rerun, notebook: Any) -> None:
    """Compare a variant with the reference, and another master seed with the page's own run."""
    faults = []
    if rerun.seed is not None:
        faults = list(seeds.findings(page, rerun.seed, notebook))
    elif rerun.environment:
        snapshot = Snapshot.of(notebook)
        path = ROOT / "_build" / "portability" / f"{page}@{rerun.name}.yml"
        write_atomically(path, snapshot.to_yaml(f"# What {page}, {rerun.name} shows.\n"))
        moved = differences(read_expected(page), snapshot)
        faults = [f"{owner}: {one}" for owner, those in moved.items() for one in those]
    if faults:
        pytest.fail("\n".join([f"{page}, {rerun.name}:", *faults]), pytrace=False)


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
            page.finish(self.user_properties)
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
        """Show of an error the lines of the cell, where each of its calls lies, and its words."""
        error = excinfo.value
        if not isinstance(error, nbv.NbCellError):
            own = isinstance(error, pytest.fail.Exception | RuntimeError)
            return str(error) if own else super().repr_failure(excinfo)
        blocks = COLOUR.sub("", error.inner_traceback or "").strip().split("\n\n")
        lines = [one.partition("\n")[0] if one.startswith("File ") else one for one in blocks]
        return "\n".join([str(error), *lines])
