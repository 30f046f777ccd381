"""The hooks of the checker."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from claimbook.checker import findings, kernel, portability, seeds
from claimbook.checker.chapters import FIRST_NUMBERS, ChapterFile, TurnsOfChapter
from claimbook.checker.findings import Progress
from claimbook.checker.findings import pytest_runtest_makereport as pytest_runtest_makereport
from claimbook.files import ROOT
from claimbook.ledger import amendments
from claimbook.ledger.amendments import Note
from claimbook.pages import CHAPTERS
from claimbook.runs import notebooks

kernel.prepare_environment(ROOT)

MODES = {
    "compare": "run, and compare with tests/expected (default)",
    "try": "the same, but a chapter with turned knobs or without a reference is not compared",
    "run": "run only, to fill the cache",
    "expected": "run, and rewrite tests/expected",
}
CAUSES = 8  # that are repeated on the last screen
CAUSE_LINES = 4  # of each


def pytest_addoption(parser: pytest.Parser) -> None:
    """The checker's options on the command line."""
    group = parser.getgroup("chapters")
    group.addoption(
        "--chapters",
        default="compare",
        choices=list(MODES),
        help="; ".join(f"{mode}: {meaning}" for mode, meaning in MODES.items()),
    )
    group.addoption(
        "--fill-cache",
        action="store_true",
        help="hand each chapter that ran through to the book build",
    )
    group.addoption(
        "--master-seeds",
        default="",
        help="run with these master seeds instead; compare and record verdicts only",
    )
    group.addoption(
        "--knobs",
        default="",
        help="run with these knobs turned instead, one at a time ('n=30 rho=1'); all: every one",
    )
    group.addoption(
        "--variants",
        default="",
        help="run as other machines compute instead ('avx2 perturbed:2'), and compare; all: each",
    )


def runs_chapters(config: pytest.Config) -> bool:
    """Whether nbval was asked for, without which no chapter is collected."""
    return bool(config.option.nbval or config.option.nbval_lax)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A chapter of the book is a file of tests where nbval was asked for."""
    is_chapter = file_path.suffix == ".md" and file_path.parent == ROOT / CHAPTERS
    if not is_chapter or not runs_chapters(parent.config):
        return None
    option = parent.config.option
    repeated = option.master_seeds or option.knobs or option.variants
    collector = TurnsOfChapter if repeated else ChapterFile
    chapter: pytest.Collector = collector.from_parent(parent, path=file_path)
    return chapter


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Chapters first, the longest of them first: then two processes end at about the same time.

    A chapter's second page comes after all first pages, whose results it may use.
    """

    def rank(item: pytest.Item) -> tuple[float, ...]:
        chapter = item.getparent(ChapterFile)
        return (2,) if chapter is None else notebooks.by_length(chapter.path.stem)

    items.sort(key=rank)


# ------------------------------------------------------------------ while chapters run


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say how far the chapters are, in the one process that owns the terminal."""
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and runs_chapters(config) and not config.option.collectonly:
        config.pluginmanager.register(Progress(terminal), "chapter-progress")


# ------------------------------------------------------------------ at the end


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, None, None]:
    """Record the verdicts of other master seeds, or show the lines of chapters that were tried.

    At last what failed, in the words in which it was told when it happened: below pytest's own
    summary, which repeats whole tracebacks where the environment says CI.
    """
    yield
    note_first_numbers(terminalreporter)
    found = [seeds.Report(*one) for one in handed_on(terminalreporter, seeds.REPORT)]
    reports = sorted(found, key=lambda one: (one.chapter, one.master_seed or 0))
    if config.option.master_seeds and reports:  # none where no chapter could be collected
        seeds.record(reports)
    elif config.option.chapters in ("try", "expected"):
        for report in reports:
            length = f"{len(report.lines)} claims, {report.seconds:.0f} s of one core"
            terminalreporter.section(f"{report.chapter}: {length}")
            for line in report.lines:
                terminalreporter.line(line)
    moves = list(handed_on(terminalreporter, portability.MOVES))
    if moves:
        terminalreporter.section("what moved, in units of how far it may")
    for line in portability.report(moves):
        terminalreporter.line(line)
    failed = terminalreporter.stats.get("failed", [])
    told = [words for report in failed if (words := getattr(report, findings.AT_ONCE, ""))]
    errors = terminalreporter.stats.get("error", [])
    chapters = CHAPTERS.as_posix()
    refused = [str(one.longrepr) for one in errors if one.nodeid.startswith(chapters)]
    causes = list(dict.fromkeys(told + refused))  # of all chapters at once: a broken ledger
    if causes:
        terminalreporter.section("what failed")
    for words in causes[:CAUSES]:
        terminalreporter.line("\n".join(words.splitlines()[:CAUSE_LINES]))
    if len(causes) > CAUSES:
        terminalreporter.line(f"and {len(causes) - CAUSES} more, which are told above")


def note_first_numbers(terminal: pytest.TerminalReporter) -> None:
    """Note the rows that were run for the first time, as they were written before."""
    seen = {
        claim: Note(*note)
        for found in handed_on(terminal, FIRST_NUMBERS)
        for claim, note in found.items()
    }
    for claim in amendments.note_first_run(seen, ROOT / "tests" / "rows.txt"):
        terminal.line(f"{claim} is noted in tests/rows.txt; a later change is told in 'amended'")


def handed_on(terminal: pytest.TerminalReporter, name: str) -> Iterator[Any]:
    """What the tests of this session have among their properties under this name."""
    for reports in terminal.stats.values():
        for report in reports:
            found = dict(getattr(report, "user_properties", []))
            if name in found and report.when == "call":
                yield found[name]
