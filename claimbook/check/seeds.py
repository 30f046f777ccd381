"""The verdicts under other master seeds, and the numbers that do not hang on the seed as drawn."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from claimbook.check.snapshot import read_expected
from claimbook.files import lock
from claimbook.ledger import Record, amendments, schema
from claimbook.ledger.record import records
from claimbook.ledger.text import Number, is_exact
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
        found = after[id].verdict if id in after else "not checked"
        if found != verdict:
            yield f"{id}: the verdict changed from '{verdict}' to '{found}'"
    default = current(chapter_path(page))
    if default is None:
        yield f"it has no run with its own seed to compare with: make chapter NAME={page}"
    else:
        block = schema.load().chapters[page]
        yield from odd_numbers(records(default.notebook), after, block.fixed, block.drawn)


def note(seed: int, verdicts: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Note in ``tests/rows.txt`` that a seed confirms the rows' verdicts, or that it does not.

    A row whose criterion is not as it was noted is passed over.
    """
    now = amendments.notes_of(schema.load())
    with lock(amendments.FILE.parent):
        notes = amendments.read()
        for id in verdicts.keys() & expected.keys() & notes.keys():
            if notes[id].criterion == now[id].criterion:
                notes[id] = notes[id].with_seed(seed, verdicts[id], expected[id])
        amendments.write(notes)


def odd_numbers(
    before: Mapping[str, Record],
    after: Mapping[str, Record],
    fixed: Sequence[str] = (),
    drawn: Sequence[str] = (),
) -> Iterator[str]:
    """Name the sampled values that another seed left alone, and the exact ones that it moved.

    The first were not drawn, unless they are ``fixed``; the second were sampled, unless they are
    ``drawn`` on purpose, such as the least of some. Both list rows, or with a comma patterns of
    their values, as in ``"ch2-upper-bound, part 'every task*"``.
    """
    for claim in after.keys() & before.keys():
        old = numbers_of(before[claim])
        for name, now in numbers_of(after[claim]).items():
            if name not in old:
                continue
            said = f"{claim}, {name}"
            size = max(abs(old[name].value), now.half_width)
            moved = abs(now.value - old[name].value) > max(SAME * size, NOTHING)
            counts = min(abs(now.value), abs(now.value - 1)) < NONE_OR_ALL * now.half_width
            if not (is_exact(*now) or moved or counts or _is_listed(said, fixed)):
                yield f"{said}: {now.value:.6g} ± {now.half_width:.2g} did not move"
            has_interval = max(now.half_width, old[name].half_width) > NOTHING
            if moved and not (has_interval or name == HEADLINE or _is_listed(said, drawn)):
                yield f"{said}: moved, but has no half-width: it was sampled"


def _is_listed(said: str, entries: Sequence[str]) -> bool:
    """Tell whether an entry is the row of a value, or a pattern of its name."""
    return any(said.startswith(f"{entry}, ") or fnmatchcase(said, entry) for entry in entries)


def numbers_of(record: Record) -> dict[str, Number]:
    """Collect the numbers of a row by what they are: the headline, its parts and its controls."""
    shown: dict[str, Any] = {} if record.value is None else {HEADLINE: record}
    shown |= {f"part '{name}'": part for name, part in record.parts.items()}
    shown |= {f"control '{name}'": control for name, control in record.controls.items()}
    return {name: Number(one.value, one.half_width or 0.0) for name, one in shown.items()}
