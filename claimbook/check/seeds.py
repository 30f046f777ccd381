"""The verdicts under other master seeds, and the draws that do not hang on the seed."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from claimbook.check.snapshot import read_expected
from claimbook.files import ROOT, lock
from claimbook.ledger import Record, amendments, schema
from claimbook.ledger.audit import disguised
from claimbook.ledger.record import records
from claimbook.ledger.text import Number, is_exact
from claimbook.pages import chapter_path
from claimbook.runs.notebooks import current

NONE_OR_ALL = 0.01  # of its half-width: so near to 0 or 1 a share counts none, or all
SAME = 1e-9  # of it or its half-width; a value as near to that of another seed was not drawn


def findings(page: str, seed: int, notebook: Any) -> Iterator[str]:
    """Note the verdicts of a page under another master seed; say which differ, and what is fixed.

    The run at the page's own seed, where it is cached, tells which sampled values did not move.
    """
    after = records(notebook)
    expected = read_expected(page).claims
    note(seed, {id: record.verdict for id, record in after.items()}, page)
    for id, claim in expected.items():
        verdict = after[id].verdict if id in after else "not checked"
        if verdict != claim.claim.verdict:
            yield f"{id}: the verdict changed from '{claim.claim.verdict}' to '{verdict}'"
    default = current(chapter_path(page))
    if default is None:
        yield f"it has no run with its own seed to compare with: make chapter NAME={page}"
        return
    block = schema.load(ROOT / "book" / "claims.yml").chapters[page]
    before = records(default.notebook)
    yield from unmoved(before, after, block.fixed)
    yield from disguised_numbers(before, after, block.drawn)


def note(seed: int, verdicts: Mapping[str, str], page: str) -> None:
    """Note in ``tests/rows.txt`` that a seed confirms the rows' verdicts, or that it does not.

    A row whose criterion is not as it was noted is passed over.
    """
    path = ROOT / "tests" / "rows.txt"
    expected = read_expected(page).claims
    now = amendments.notes_of(schema.load(ROOT / "book" / "claims.yml"))
    with lock(path.parent):
        notes = amendments.read(path)
        for id, verdict in verdicts.items():
            held = notes.get(id)
            if held is not None and id in expected and held.criterion == now[id].criterion:
                notes[id] = held.with_seed(seed, verdict, expected[id].claim.verdict)
        amendments.write(notes, path)


def unmoved(
    before: Mapping[str, Record], after: Mapping[str, Record], fixed: Sequence[str] = ()
) -> Iterator[str]:
    """Name the sampled values that another master seed left as they were: they are not drawn.

    What is ``fixed`` may stay: a row, or with a comma a pattern of its values, as in
    ``"ch2-upper-bound, part 'every task*"``. An entry of which something moved is named.
    """
    sampled = [
        (f"{claim}, {name}", number, moved)
        for claim, record in after.items()
        if claim in before
        for name, number, moved in _sampled(before[claim], record)
    ]
    for said, number, moved in sampled:
        if not moved and not any(_covers(entry, said) for entry in fixed):
            yield f"{said}: {number.value:.6g} ± {number.half_width:.2g} did not move"
    for entry in fixed:
        moves = [moved for said, _, moved in sampled if _covers(entry, said)]
        if entry.partition(", ")[0] in after and (any(moves) or not moves):
            how = "some of it moved" if moves else "nothing in it is sampled"
            yield f"{entry}: listed as fixed, but {how}"


def disguised_numbers(
    before: Mapping[str, Record], after: Mapping[str, Record], drawn: Sequence[str] = ()
) -> Iterator[str]:
    """Name the numbers without an interval that another master seed moved: they were sampled.

    Those that are ``drawn`` may be so on purpose, such as the least of some.
    """
    for claim, record in after.items():
        for said in disguised(before[claim], record) if claim in before else ():
            if not any(_covers(entry, said) for entry in drawn):
                yield f"{said}: moved, but has no half-width: it was sampled"


def _covers(entry: str, said: str) -> bool:
    """Tell whether an entry of what is fixed is the row of a value, or a pattern of its name."""
    return said.startswith(f"{entry}, ") or fnmatchcase(said, entry)


def _sampled(before: Record, after: Record) -> Iterator[tuple[str, Number, bool]]:
    """Go through a row's sampled values under another seed: what each is, and whether it moved."""
    old = numbers_of(before)
    for name, now in numbers_of(after).items():
        if name not in old or is_exact(*now):
            continue
        if min(abs(now.value), abs(now.value - 1)) < NONE_OR_ALL * now.half_width:
            continue
        size = max(abs(old[name].value), now.half_width)
        yield name, now, abs(now.value - old[name].value) > SAME * size


def numbers_of(record: Record) -> dict[str, Number]:
    """Collect the numbers of a row by what they are: the headline, its parts and its controls."""
    shown = {} if record.value is None else {"the headline": record}
    parts = {f"part '{name}'": part for name, part in record.parts.items()}
    controls = {f"control '{name}'": control for name, control in record.controls.items()}
    numbers: dict[str, Any] = {**shown, **parts, **controls}
    return {name: Number(one.value, one.half_width or 0.0) for name, one in numbers.items()}
