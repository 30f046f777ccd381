"""The hooks of the checker."""

import os
import shutil
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from iclutils.book.checker import elsewhere, findings, seeds
from iclutils.book.checker.chapters import ChapterFile, KnobsOfChapter, SeedsOfChapter
from iclutils.book.checker.display import Display, real_stdout
from iclutils.book.checker.findings import pytest_runtest_makereport as pytest_runtest_makereport
from iclutils.book.checker.progress import PROGRESS, Progress
from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT

cache.prepare_environment(ROOT)

MODES = {
    "compare": "run, and compare with tests/expected (default)",
    "try": "the same, but a chapter whose knobs are turned is not compared",
    "run": "run only, to fill the cache",
    "expected": "run, and rewrite tests/expected",
}
DISPLAY = pytest.StashKey[Display]()
_FOLDER = "chapters_progress"  # of what xdist hands to a worker


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
        "--elsewhere",
        action="store_true",
        help="run as on a plainer processor, with two threads, and compare",
    )


def runs_chapters(config: pytest.Config) -> bool:
    """Whether nbval was asked for, without which no chapter is collected."""
    return bool(config.option.nbval or config.option.nbval_lax)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A chapter of the book is a file of tests where nbval was asked for."""
    is_chapter = file_path.suffix == ".md" and file_path.parent == ROOT / cache.CHAPTERS
    if not is_chapter or not runs_chapters(parent.config):
        return None
    collector: type[pytest.Collector] = ChapterFile
    if parent.config.option.master_seeds:
        collector = SeedsOfChapter
    elif parent.config.option.knobs:
        collector = KnobsOfChapter
    chapter: pytest.Collector = collector.from_parent(parent, path=file_path)
    return chapter


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Chapters first, the longest of them first: then two processes end at about the same time.

    A chapter's second page comes after all first pages, whose results it may use.
    """

    def rank(item: pytest.Item) -> tuple[int, float]:
        chapter = item.getparent(ChapterFile)
        if chapter is None:
            return (2, 0.0)
        name = chapter.path.stem
        return (int(cache.is_second(name)), -cache.last_seconds(name, ROOT))

    items.sort(key=rank)


# ------------------------------------------------------------------ while chapters run


def pytest_configure(config: pytest.Config) -> None:
    """Name the folder through which the processes tell how far they are, and make the cache."""
    own = ROOT / "_build" / "progress" / str(os.getpid())
    given = getattr(config, "workerinput", {}).get(_FOLDER)
    config.stash[PROGRESS] = Progress(Path(given) if given else own)
    if config.option.elsewhere:
        elsewhere.prepare()
    if config.option.fill_cache and not hasattr(config, "workerinput"):
        from jupyter_cache import get_cache

        # its database, before two processes at once would both try to make it
        get_cache(cache.cache_path(ROOT)).list_cache_records()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist the folder."""
    node.workerinput[_FOLDER] = str(node.config.stash[PROGRESS].folder)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Show how far the chapters are, in the one process that owns the terminal."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if is_worker or not runs_chapters(config) or config.option.collectonly:
        return
    stream = real_stdout()
    if stream is None or not config.pluginmanager.has_plugin("terminalreporter"):
        return
    folder = config.stash[PROGRESS].folder
    shutil.rmtree(folder, ignore_errors=True)
    terminal = config.get_terminal_writer()
    display = Display(stream, folder, lambda: terminal.width_of_current_line)
    config.stash[DISPLAY] = display
    config.add_cleanup(stream.close)
    config.pluginmanager.register(Reports(display), "chapter-reports")
    display.start()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave the terminal to pytest's summary."""
    display = session.config.stash.get(DISPLAY, None)
    if display is not None:
        display.stop()
        shutil.rmtree(session.config.stash[PROGRESS].folder, ignore_errors=True)


class Reports:
    """The hooks that know a report but not the session, for the process that owns the terminal."""

    def __init__(self, display: Display) -> None:
        self._display = display

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport, config: pytest.Config
    ) -> tuple[str, str, str] | None:
        """No dots for cells: the display tells how far a chapter is, and its failures in words."""
        is_chapter = report.nodeid.startswith(f"{cache.CHAPTERS.as_posix()}/")
        if config.get_verbosity() > 0 or not is_chapter or report.when != "call":
            return None
        if report.skipped:
            return None
        return report.outcome, "", report.outcome.upper()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(
        self, report: pytest.TestReport
    ) -> Generator[None, object, object]:
        """Say a failure at once, in words; pytest shows the whole of it at the end."""
        with self._display.paused():
            result = yield
            words = getattr(report, findings.AT_ONCE, "")
            if words:
                self._display.tick(time.time())
                self._display.line(words)
            return result


# ------------------------------------------------------------------ at the end


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The verdicts of other master seeds, or the lines of chapters that were tried or rewritten."""
    reports = sorted(printed(terminalreporter), key=lambda it: (it.chapter, it.master_seed or 0))
    if config.option.master_seeds:
        seeds.record(reports, terminalreporter)
    elif config.option.chapters in ("try", "expected"):
        for report in reports:
            length = f"{len(report.claims)} claims, {report.seconds:.0f} s of one core"
            terminalreporter.section(f"{report.chapter}: {length}")
            for line in report.claims:
                terminalreporter.line(line)


def printed(terminal: pytest.TerminalReporter) -> Iterator[seeds.Report]:
    """What the chapters of this session printed."""
    for outcome in ("passed", "failed", "skipped"):
        for report in terminal.stats.get(outcome, []):
            found = dict(getattr(report, "user_properties", []))
            if "claims" in found and report.when == "call":
                yield seeds.Report(**found)
