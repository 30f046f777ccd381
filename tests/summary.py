"""Where the time of one `make test` went, and how many tests passed, from its JUnit reports.

``python tests/summary.py FOLDER`` ends with 'N passed, N failed'. A second argument is the exit
code of the whole: where it is not 0 and no test failed, a step that is no test did (the set-up,
the strict build), and it counts as one failure.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

SLOWEST = 10


def totals(suites: list[ElementTree.Element]) -> tuple[int, int, int]:
    """(passed, failed, skipped) over all reports."""
    ran, failures, errors, skipped = (
        sum(int(suite.get(what, 0)) for suite in suites)
        for what in ("tests", "failures", "errors", "skipped")
    )
    return ran - failures - errors - skipped, failures + errors, skipped


def parts(suites: dict[str, ElementTree.Element]) -> dict[str, float]:
    """Seconds by the clock of the tests before the build, of the build, of the browser's.

    Lint runs beside the build; the print belongs to the first test of the last that needs it.
    """
    found = {name: float(suite.get("time", 0)) for name, suite in suites.items()}
    found.pop("beside", None)
    if set(found) != {"check", "site"}:
        return found
    stamps = [suites[name].attrib["timestamp"] for name in ("check", "site")]
    check, site = map(datetime.fromisoformat, stamps)
    between = site - check - timedelta(seconds=found["check"])
    build = between.total_seconds()
    return {"check": found["check"], "strict build": build, "browser and print": found["site"]}


def slowest(suites: list[ElementTree.Element]) -> tuple[Counter[str], Counter[str]]:
    """Seconds of the test files and of their tests; a chapter is a file, a cell of it a test."""
    files: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for suite in suites:
        for case in suite.iter("testcase"):
            seconds = float(case.get("time", 0))
            file = case.get("classname", "")
            files[file] += seconds
            tests[f"{file} {case.get('name')}"] += seconds
    return files, tests


def main(folder: Path, code: str) -> None:
    """Print it."""
    suites = {
        report.stem: next(ElementTree.parse(report).iter("testsuite"))
        for report in sorted(folder.glob("*.xml"))
    }
    shares = parts(suites)
    for part, seconds in shares.items():
        share = seconds / (sum(shares.values()) or 1)
        print(f"{seconds / 60:6.1f} min {share:5.0%}  {part}")
    for what, found in zip(("files", "tests"), slowest(list(suites.values())), strict=True):
        print(f"the slowest {what}, in seconds:")
        for name, seconds in found.most_common(SLOWEST):
            print(f"{seconds:6.0f}  {name}")
    passed, failed, skipped = totals(list(suites.values()))
    if code != "0" and not failed:
        failed = 1
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(sys.argv[2:] or ["0"]))
