"""The checks of what a whole chapter printed, against its reference and against the ledger."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from iclutils.book.checker.findings import Consequence, Finding
from iclutils.book.checker.run import ChapterRun, expected_path
from iclutils.book.ledger.lines import Line, disagreement, parse_line
from iclutils.book.runs.files import ROOT


def read_expected(chapter: str) -> dict[str, Line]:
    """The chapter's reference lines by claim id.

    Raises ``ValueError`` where the file is missing, is no list of lines, or has two for a claim.
    """
    path = expected_path(chapter)
    where = path.relative_to(ROOT)
    if not path.exists():
        raise ValueError(f"{where} is missing; write it with: make expected NAME={chapter}")
    texts = yaml.safe_load(path.read_text(encoding="utf8"))
    if not isinstance(texts, list) or not texts:
        raise ValueError(f"{where} must be a list of lines 'id · verdict · value ± half-width'")
    try:
        lines = [parse_line(text) for text in texts]
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    ids = [line.id for line in lines]
    twice = sorted({claim for claim in ids if ids.count(claim) > 1})
    if twice:
        raise ValueError(f"{where}: a claim has two lines: {twice}")
    return dict(zip(ids, lines, strict=True))


class AfterCells(pytest.Item):
    """A check of what the whole chapter printed."""

    def __init__(self, *, run: ChapterRun, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run = run

    @property
    def where(self) -> str:
        """The check's name in messages."""
        return f"{self.run.label}, {self.name}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where pytest says that the test is."""
        nodeid = "" if self.parent is None else self.parent.nodeid
        return self.path, 0, f"{nodeid}::{self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """A finding is shown by its message alone."""
        if isinstance(excinfo.value, Finding):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

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


class ClaimItem(AfterCells):
    """One line of ``tests/expected``."""

    def judge(self) -> None:
        """The claim was printed, and it agrees with its reference."""
        claim = self.name.removeprefix("claim:")
        expected = self.run.expected[claim]
        found = self.run.found().get(claim)
        if found is None:
            missing = "the chapter did not print this claim"
            raise Finding(f"{claim}: {missing}\n  expected  {expected}")
        verdict_only = self.run.master_seed is not None
        difference = disagreement(expected, found, verdict_only=verdict_only)
        if difference:
            lines = f"  expected  {expected}\n  found     {found}"
            raise Finding(f"{claim}: {difference}\n{lines}")


class LedgerItem(AfterCells):
    """The chapter's block of the ledger and what it printed match one to one.

    In mode ``expected`` the printed lines then become the reference.
    """

    def runtest(self) -> None:
        """Judge, hand the printed lines to the summary, and note the outcome beside the run."""
        if self.run.whole:
            claims = [printed.text for printed in self.run.printed]
            self.user_properties.append(("claims", claims))
            self.user_properties.append(("chapter", self.run.chapter))
            self.user_properties.append(("master_seed", self.run.master_seed))
            self.user_properties.append(("seconds", self.run.seconds))
        try:
            super().runtest()
        finally:
            if self.config.option.chapters in ("compare", "try"):
                self.run.was_judged()

    def judge(self) -> None:
        """Nothing is missing, nothing is left over, and every check could have failed."""
        rewrite = self.config.option.chapters == "expected"
        findings = list(self.run.ledger_findings(must_be_expected=not rewrite))
        if rewrite and not findings:
            self.run.write_expected()
        findings += self.run.audit_findings()
        if findings:
            listed = "\n  ".join(findings)
            raise Finding(f"{self.run.chapter}:\n  {listed}")
