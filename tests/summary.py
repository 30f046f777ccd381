"""Add up the JUnit reports of one `make test`.

``python tests/summary.py FOLDER`` prints 'N passed, N failed'. A second argument is the exit code
of the whole: where it is not 0 and no test failed, a step that is no test did (lint, types, the
strict build), and it counts as one failure.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def totals(folder: Path) -> tuple[int, int, int]:
    """(passed, failed, skipped) over all reports in ``folder``."""
    ran = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            ran += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    return ran - failed - skipped, failed, skipped


if __name__ == "__main__":
    passed, failed, skipped = totals(Path(sys.argv[1]))
    if sys.argv[2:] not in ([], ["0"]) and not failed:
        failed = 1
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
