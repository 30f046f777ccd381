"""Failures in words."""

from iclutils.book.checker.findings import Consequence, Finding, words


def test_a_finding_is_its_message():
    assert words("00_mini, claim:a", Finding("a: moved")) == "00_mini, claim:a failed\n  a: moved"


def test_an_error_in_a_cell_is_the_end_of_its_traceback():
    error = RuntimeError("Cell execution caused an exception")
    error.inner_traceback = "\n\x1b[31mlong\x1b[39m\n\x1b[31mZeroDivisionError\x1b[39m: by zero\n"
    assert words("00_mini, cell 3 of 4", error) == (
        "00_mini, cell 3 of 4 failed\n"
        "  Cell execution caused an exception\n"
        "  ZeroDivisionError: by zero"
    )


def test_what_follows_from_an_earlier_failure_is_not_said_again():
    assert words("00_mini, ledger", Consequence("did not run through")) == ""
