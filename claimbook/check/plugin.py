"""The hooks of the checker."""

import os
from pathlib import Path

import pytest

from claimbook.check.collection import DONE, PageFile, PageReruns
from claimbook.check.reruns import Rerun, reruns
from claimbook.files import ROOT
from claimbook.pages import CHAPTERS, is_second

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))  # of the kernels, whoever starts the session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the checker's options to the command line."""
    group = parser.getgroup("claimbook")
    option = group.addoption
    option("--set", default="", help="run at these settings: 'n=30 rho=1'; compare with nothing")
    option("--master-seeds", default="", help="run with these master seeds; compare the verdicts")
    option("--variants", default="", help="run as other machines compute: 'avx2 perturbed:2'")
    option("--pages", default="", help="compare the cached runs of these pages only")


def reruns_of(config: pytest.Config) -> list[Rerun]:
    """List the ways in which the command line asks for the pages to be run otherwise."""
    option = config.option
    return reruns(option.set, option.master_seeds, option.variants)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that cannot be read, and keep the cells of a page in one process."""
    if config.getoption("dist", "no") == "load":  # what -n alone asks for
        config.option.dist = "loadfile"
    try:
        reruns_of(config)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a page of the book where nbval was asked for."""
    option = parent.config.option
    is_page = file_path.suffix == ".md" and file_path.parent == ROOT / CHAPTERS
    if not is_page or not (option.nbval or option.nbval_lax):
        return None
    ways = reruns_of(parent.config)
    if not ways:
        page: PageFile = PageFile.from_parent(parent, path=file_path)
        return page
    pages: PageReruns = PageReruns.from_parent(parent, name=file_path.name, path=file_path)
    pages.reruns = ways
    return pages


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put a chapter's second page after all first pages, whose results it may use."""
    items.sort(key=lambda item: is_second(item.path.stem))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show how long pages took; of one that was run alone, or at other settings, its claims."""
    reports = [one for group in terminalreporter.stats.values() for one in group]
    calls = [one for one in reports if getattr(one, "when", "") == "call"]
    pages = sorted(value for one in calls for name, value in one.user_properties if name == DONE)
    for page, seconds, lines in pages:
        terminalreporter.line(f"{page}: {len(lines)} claims, {seconds:.0f} s of one core")
        if len(pages) <= 2 or config.option.set:
            for line in lines:
                terminalreporter.line(f"  {line}")
        if config.option.set and not any("moved: " in line for line in lines):
            terminalreporter.line("  no verdict moved")
