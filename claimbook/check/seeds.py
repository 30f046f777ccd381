"""The verdicts under other master seeds, and the numbers that do not hang on the seed as drawn."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from claimbook.check.snapshot import read_expected
from claimbook.files import lock
from claimbook.ledger import Record, amendments, schema
from claimbook.ledger.comparison import Measured
from claimbook.ledger.record import records
from claimbook.ledger.text import is_exact
from claimbook.pages import chapter_path
from claimbook.runs.notebooks import current

HEADLINE = "the headline"
NONE_OR_ALL = 0.01  # of its half-width: so near to 0 or 1 a share counts none, or all
SAME = 1e-9  # of it or its half-width; a value as near to that of another seed was not drawn
NOTHING = 1e-12  # the same of a number that is rounding


def findings(page: str, seed: int, notebook: Any) -> Iterator[str]:
    """Note the verdicts of a page under another master seed; say which differ, and what is odd.

    The run at the page's own seed, where it is cached, tells which numbers moved.
    """
    after = records(notebook)
    expected = {id: one.claim.verdict for id, one in read_expected(page).claims.items()}
    note(seed, {id: record.verdict for id, record in after.items()}, expected)
    for id, verdict in expected.items():
        other = after[id].verdict if id in after else "not checked"
        if other != verdict:
            yield f"{id}: the verdict changed from '{verdict}' to '{other}'"
    default = current(chapter_path(page))
    if default is None:
        yield f"it has no run with its own seed to compare with: make chapter NAME={page}"
    else:
        block = schema.load().chapters[page]
        yield from odd_numbers(records(default.notebook), after, block.fixed, block.sampled)


def note(seed: int, verdicts: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Note in ``tests/rows.txt`` that a seed confirms the rows' verdicts, or that it does not."""
    with lock(amendments.FILE.parent):
        notes = amendments.read()
        for id in verdicts.keys() & expected.keys() & notes.keys():
            notes[id] = notes[id].with_seed(seed, verdicts[id], expected[id])
        amendments.write(notes)


def odd_numbers(
    before: Mapping[str, Record],
    after: Mapping[str, Record],
    fixed: Sequence[str] = (),
    sampled: Sequence[str] = (),
) -> Iterator[str]:
    """Name the sampled values that another seed left alone, and the exact ones that it moved.

    The first were not drawn, unless they are ``fixed``; the second were, unless they are
    ``sampled`` on purpose, such as the least of some. Both list rows, or with a comma patterns of
    their values, as in ``"ch2-upper-bound, part 'every task*"``.
    """
    old, new = numbers_of(before), numbers_of(after)
    for name in [name for name in new if name in old]:
        number = new[name]
        change = abs(number.value - old[name].value)
        moved = change > max(SAME * max(abs(old[name].value), number.half_width), NOTHING)
        counts = min(abs(number.value), abs(number.value - 1)) < NONE_OR_ALL * number.half_width
        if not (
            is_exact(number.value, number.half_width) or moved or counts or _is_listed(name, fixed)
        ):
            yield f"{name}: {number.value:.6g} ± {number.half_width:.2g} did not move"
        has_interval = max(number.half_width, old[name].half_width) > NOTHING
        is_excused = name.endswith(HEADLINE) or _is_listed(name, sampled)
        if moved and not (has_interval or is_excused):
            yield f"{name}: moved, but has no half-width: it was sampled"


def _is_listed(name: str, entries: Sequence[str]) -> bool:
    """Tell whether an entry is the row of a value, or a pattern of its name."""
    return any(name.startswith(f"{entry}, ") or fnmatchcase(name, entry) for entry in entries)


def numbers_of(rows: Mapping[str, Record]) -> dict[str, Measured]:
    """Collect the numbers of some rows by what they are: headlines, parts and controls."""
    numbers: dict[str, Measured] = {}
    for id, record in rows.items():
        numbers[f"{id}, {HEADLINE}"] = Measured(record.value, record.half_width)
        for what, group in (("part", record.parts), ("control", record.controls)):
            for name, one in group.items():
                numbers[f"{id}, {what} '{name}'"] = Measured(one.value, one.half_width)
    return numbers
