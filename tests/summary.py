"""Print how many tests of one ``make test`` passed, from its JUnit reports.

``python tests/summary.py FOLDER`` ends with 'N passed, N failed'.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def summary(folder: Path) -> str:
    """Count the tests of all reports, and say how long each report's took."""
    lines, counts = [], dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for report in sorted(folder.glob("*.xml")):
        suite = next(ElementTree.parse(report).iter("testsuite"))
        lines.append(f"{float(suite.get('time', 0)) / 60:6.1f} min  {report.stem}")
        counts = {what: count + int(suite.get(what, 0)) for what, count in counts.items()}
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    return "\n".join([*lines, f"{passed} passed, {failed} failed{skipped}"])


if __name__ == "__main__":
    print(summary(Path(sys.argv[1])))
