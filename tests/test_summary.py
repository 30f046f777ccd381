"""The end of `make test`: where its time went, and how many tests passed, from its reports."""

import summary

REPORT = """<testsuites><testsuite tests="{tests}" failures="{failures}" errors="0" skipped="1"
time="{time}" timestamp="{timestamp}">{cases}</testsuite></testsuites>"""
CASE = '<testcase classname="{file}" name="{name}" time="{time}"/>'


def write(folder, name, time, timestamp, *cases, failures=0):
    """A report with these cases, each a file, a name and its seconds, and a skipped test."""
    lines = [CASE.format(file=file, name=test, time=spent) for file, test, spent in cases]
    facts = {"tests": len(cases) + 1, "failures": failures, "time": time, "timestamp": timestamp}
    (folder / f"{name}.xml").write_text(REPORT.format(cases="".join(lines), **facts))


def told(folder, capsys, code="0"):
    summary.main(folder, code)
    return capsys.readouterr().out.splitlines()


def both(folder):
    """Ten minutes of tests, two and a half of the build, five in the browser."""
    case = ("tests.claimbook.test_checker", "test_it", 20)
    write(folder, "check", 600, "2026-11-25T10:00:00+00:00", case)
    write(folder, "beside", 45, "2026-11-25T10:10:01+00:00", ("tests.test_lint", "test_it", 40))
    cases = [("tests.browser.test_paper", "test_one", 95), ("tests.browser.test_paper", "two", 4)]
    write(folder, "site", 300, "2026-11-25T10:12:30+00:00", *cases)


def test_the_time_of_each_part_and_of_what_took_longest(tmp_path, capsys):
    both(tmp_path)
    lines = told(tmp_path, capsys)
    assert lines[:3] == [
        "  10.0 min   57%  check",
        "   2.5 min   14%  strict build",
        "   5.0 min   29%  browser and print",
    ]
    assert lines[4:6] == ["    99  tests.browser.test_paper", "    40  tests.test_lint"]
    assert lines[8] == "    95  tests.browser.test_paper test_one"
    assert lines[-1] == "4 passed, 0 failed, 3 skipped"


def test_a_run_that_was_broken_off_says_what_there_is(tmp_path, capsys):
    case = ("tests.test_lint", "test_it", 40)
    write(tmp_path, "check", 60, "2026-11-25T10:00:00+00:00", case, failures=1)
    lines = told(tmp_path, capsys, "2")
    assert lines[0] == "   1.0 min  100%  check"
    assert lines[-1] == "0 passed, 1 failed, 1 skipped"


def test_a_step_that_is_no_test_counts_as_a_failure(tmp_path, capsys):
    both(tmp_path)
    assert told(tmp_path, capsys, "2")[-1] == "4 passed, 1 failed, 3 skipped"


def test_without_a_report_it_still_ends_with_the_counts(tmp_path, capsys):
    assert told(tmp_path, capsys, "2")[-1] == "0 passed, 1 failed"
