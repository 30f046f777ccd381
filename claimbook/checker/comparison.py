"""The checks of what a whole chapter shows, against its reference and against the ledger."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from claimbook.checker import reference, written
from claimbook.checker.findings import Consequence, Finding
from claimbook.checker.portability import MOVES
from claimbook.checker.reference import Reference
from claimbook.checker.run import ChapterRun, expected_path
from claimbook.checker.seeds import REPORT, Report
from claimbook.files import ROOT


def read_expected(chapter: str) -> Reference:
    """What the chapter is held to.

    Raises ``ValueError`` where the file is missing, or is none that ``make expected`` wrote.
    """
    path = expected_path(chapter)
    where = path.relative_to(ROOT)
    if not path.exists():
        raise ValueError(f"{where} is missing; write it with: make expected NAME={chapter}")
    try:
        return written.parse(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


class ChapterItem(pytest.Item):
    """A test of one run of a chapter."""

    def __init__(self, *, run: ChapterRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run = run

    @property
    def where(self) -> str:
        """The test's name in messages."""
        return f"{self.run.label}, {self.name}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where pytest says that the test is."""
        return self.path, 0, self.nodeid

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """A finding is shown by its message alone."""
        if isinstance(excinfo.value, Finding):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class AfterCells(ChapterItem):
    """A check of what the whole chapter shows."""

    def runtest(self) -> None:
        """Judge the run, if it is one."""
        if not self.run.whole:
            reason = "one of its cells failed (see there)"
            raise Consequence(f"{self.run.chapter} did not run through: {reason}")
        if self.config.option.chapters == "try" and self.run.at_own_settings:
            pytest.skip("at your settings: not compared")
        self.run.judged[self.name] = False
        self.judge()
        self.run.judged[self.name] = True

    def judge(self) -> None:
        """Raise a :class:`Finding` where the check fails."""
        raise NotImplementedError


def refuse(name: str, findings: Iterable[str]) -> None:
    """Raise a :class:`Finding` that lists what there is."""
    listed = list(findings)
    if listed:
        raise Finding("\n  ".join([f"{name}:", *listed]))


class ClaimItem(AfterCells):
    """One claim of ``tests/expected``: its verdict and number, its parts, its controls."""

    def judge(self) -> None:
        """The claim was checked, and it agrees with its reference."""
        claim = self.name.removeprefix("claim:")
        expected = self.run.expected.claims[claim]
        found = self.run.shown.claims.get(claim)
        if found is None:
            raise Finding(f"{claim}: not checked by the chapter\n  expected  {expected.claim}")
        verdict_only = self.run.master_seed is not None
        differences = reference.claim_differences(expected, found, verdict_only=verdict_only)
        said = "\n".join(differences)
        if said:
            raise Finding(f"{claim}: {said}")


class KnobItem(AfterCells):
    """The chapter with a knob turned: it ran to its end, judged each row, and said so."""

    def judge(self) -> None:
        """Nothing is missing; another master seed has moved whatever is drawn."""
        refuse(self.run.label, self.run.knob_findings())
        self.run.knob_ran()


class PageItem(AfterCells):
    """The numbers in the prose, the outputs, the tables and the figures."""

    def judge(self) -> None:
        """They are what ``tests/expected`` holds, but for rounding."""
        differences = list(reference.page_differences(self.run.expected, self.run.shown))
        if differences:
            raise Finding(f"{self.run.chapter}: what the page shows\n" + "\n".join(differences))


class LedgerItem(AfterCells):
    """The chapter's block of the ledger and what it checked match one to one.

    In mode ``expected`` what it shows then becomes the reference. A chapter that is tried before it
    has one is judged by its rows and the audit alone.
    """

    def runtest(self) -> None:
        """Judge, hand the verdicts to the summary, and note the outcome beside the run."""
        run = self.run
        if run.whole:
            lines = [record.line() for record in run.records]
            verdicts = {record.id: record.verdict for record in run.records}
            report = Report(run.chapter, run.master_seed, lines, verdicts, run.seconds)
            self.user_properties.append((REPORT, tuple(report)))
        try:
            super().runtest()
        finally:
            if self.config.option.chapters in ("compare", "try"):
                run.was_judged()

    def judge(self) -> None:
        """Nothing is missing, nothing is left over, and every check could have failed."""
        mode = self.config.option.chapters
        first = mode == "try" and not self.run.expected.claims
        rewrite = mode == "expected"
        said = self.run.ledger_findings(must_be_expected=not (rewrite or first))
        refuse(self.run.chapter, [*said, *self.run.audit_findings()])
        if rewrite:
            self.run.write_expected()
        if first:
            wanted = f"make expected NAME={self.run.chapter}"
            pytest.skip(f"judged, and compared with nothing: no reference yet ({wanted})")


class MovesItem(AfterCells):
    """What moved in a run under another arithmetic; it fails nothing, the others do."""

    def judge(self) -> None:
        """Hand the moves to the summary, and keep what the page showed for whoever compares."""
        run = self.run
        moves = reference.moves(run.expected, run.shown)
        self.user_properties.append((MOVES, (run.chapter, str(run.variant), moves)))
        run.keep_shown()
