"""The last line of `make test` counts what passed and what failed, over all reports."""

import pytest
from summary import summary

SUITE = '<testsuite tests="{}" failures="{}" errors="0" skipped="1" time="90"/>'


@pytest.mark.parametrize(
    ("reports", "code", "last"),
    [
        ([(4, 0), (3, 0)], "0", "5 passed, 0 failed, 2 skipped"),
        ([(4, 1)], "2", "2 passed, 1 failed, 1 skipped"),
        ([(4, 0)], "2", "3 passed, 1 failed, 1 skipped"),  # a step that is no test
        ([], "2", "0 passed, 1 failed"),
    ],
)
def test_the_counts_are_those_of_all_reports(tmp_path, reports, code, last):
    for number, counts in enumerate(reports):
        (tmp_path / f"{number}.xml").write_text(f"<testsuites>{SUITE.format(*counts)}</testsuites>")
    lines = summary(tmp_path, code).splitlines()
    assert lines[-1] == last
    assert lines[:-1] == [f"   1.5 min  {number}" for number in range(len(reports))]
