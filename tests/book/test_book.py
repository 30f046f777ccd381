"""The book's cached runs, held to their references in tests/expected and to the rules of a page.

A page that was not run, or not green, has no run under its key: `make chapter NAME=…`.
"""

from functools import cache

import pytest

from claimbook.check.snapshot import PAGE, Snapshot, breaches, differences, read_expected
from claimbook.ledger import load
from claimbook.pages import chapter_path, toc_chapters
from claimbook.runs.notebooks import current


def pytest_generate_tests(metafunc):
    pages = metafunc.config.option.pages.split() or toc_chapters()
    if "claim" in metafunc.fixturenames:
        blocks = load().chapters
        rows = [(page, row.id) for page in pages for row in blocks[page].claims]
        metafunc.parametrize(("page", "claim"), rows, ids=[claim for _, claim in rows])
    else:
        metafunc.parametrize("page", pages)


@cache
def run_of(page):
    run = current(chapter_path(page))
    if run is None:
        pytest.fail(f"no current run; make one with: make chapter NAME={page}", pytrace=False)
    return run.notebook


@cache
def differences_of(page):
    return differences(read_expected(page), Snapshot.of(run_of(page)))


def test_claim(page, claim):
    """Verdict, number, parts and controls are those of the reference."""
    if lines := differences_of(page).get(claim, []):
        pytest.fail("\n".join([f"{claim} of {page}:", *lines]), pytrace=False)


def test_page(page):
    """The rest of the page shows what its reference does, and it breaks no rule."""
    if lines := [*breaches(page, run_of(page)), *differences_of(page).get(PAGE, [])]:
        pytest.fail("\n".join([f"{page}:", *lines]), pytrace=False)
