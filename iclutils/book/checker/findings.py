"""What a failed check says, and what of it is worth saying at once."""

import re
from collections.abc import Generator

import pytest

AT_ONCE = "at_once"  # the attribute of a report that carries the words to the terminal
FOLLOWS = "follows"  # the attribute of a report that says that it is a consequence alone

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Finding(Exception):
    """A failed check, shown by its message alone."""


class Consequence(Finding):
    """A check that fails only because an earlier one did; that one has been shown already."""


def words(where: str, error: BaseException) -> str:
    """A failure in words: where it happened and what it was; empty for a consequence.

    Of an error in a cell these are the last words of its traceback.

    >>> words("06_stages, cell 3 of 9", ZeroDivisionError("division by zero"))
    '06_stages, cell 3 of 9 failed\\n  ZeroDivisionError: division by zero'
    """
    if isinstance(error, Consequence):
        return ""
    if isinstance(error, Finding):
        return f"{where} failed\n  {error}"
    traceback = getattr(error, "inner_traceback", None) or ""
    lines = [line for line in _COLOURS.sub("", traceback).splitlines() if line.strip()]
    if not lines:
        return f"{where} failed\n  {type(error).__name__}: {error}"
    return f"{where} failed\n  {error}\n  {lines[-1].strip()}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a failed check its words."""
    report = yield
    name = getattr(item, "where", None)
    if name and report.failed and call.excinfo is not None:
        setattr(report, AT_ONCE, words(name, call.excinfo.value))
        setattr(report, FOLLOWS, isinstance(call.excinfo.value, Consequence))
    return report
