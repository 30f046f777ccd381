"""How far what a page shows has moved from its reference, in units of how far it may."""

import math

from claimbook.check.agreement import text_distance
from claimbook.check.snapshot import Snapshot


def differences(expected: Snapshot, actual: Snapshot) -> dict[str, list[str]]:
    """Say by claim, and for the rest of the page, what moved further than it may.

    What only one of the two shows is a difference, too.
    """
    before, now = expected.contents, actual.contents
    faults: dict[str, list[str]] = {}
    for owner, what in before | now:
        old, new = before.get((owner, what)), now.get((owner, what))
        if new is None:
            fault = f"expected, but not found: {old}"
        elif old is None:
            fault = f"found, but not in tests/expected: {new}"
        else:
            far = text_distance(old, new) if isinstance(old, str) else old.distance(new)
            if far <= 1:
                continue
            is_number = math.isfinite(far)
            how = f"moved {far:.3g} times as far as it may" if is_number else "is another"
            fault = f"{how}\n  expected  {old}\n  found     {new}"
        faults.setdefault(owner, []).append(f"{what}: {fault}" if what else fault)
    return faults
