"""Knobs: each chapter is run again with one of them turned, and must still run to its end."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from claimbook.files import ROOT
from claimbook.ledger import Record, outputs, schema
from claimbook.ledger.audit import disguised
from claimbook.ledger.lines import Number, is_exact
from claimbook.pages import chapter_path
from claimbook.runs import notebooks

ALL = "all"  # on the command line: each knob, turned as the ledger says
NONE_OR_ALL = 0.01  # of its half-width: so near to 0 or 1 a share counts none, or all
SAME = 1e-9  # of it or its half-width; a value as near to that of another seed was not drawn


class Turn(NamedTuple):
    """One knob of a chapter, and the value it is given."""

    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def declared(chapter: str) -> Mapping[str, Any]:
    """The knobs of a chapter as the ledger declares them, by name."""
    chapters = schema.load(ROOT / "book" / "claims.yml").chapters
    knobs: Mapping[str, Any] = chapters[chapter].knobs
    return knobs


def turns(chapter: str, asked: str) -> list[Turn]:
    """What is to be turned in a chapter: all its knobs, or those that ``asked`` names.

    ``asked`` is ``all``, or pairs like ``"n=30 rho=-1"``.
    """
    if asked == ALL:
        return [Turn(name, knob["turned"]) for name, knob in declared(chapter).items()]
    pairs = [word.partition("=") for word in asked.split()]
    return [Turn(name, ast.literal_eval(value)) for name, _, value in pairs]


def turn(notebook: Any, knob: Turn) -> None:
    """Give a knob another value, in a line of its own behind its own.

    Raises ``ValueError`` where the knob is not set in exactly one place of the cell that opens the
    ledger.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    opening = [cell for cell in cells if "Ledger(" in cell.source]
    places = [line for cell in opening for line in set_at(cell.source, knob.name)]
    if len(opening) != 1 or len(places) != 1:
        where = "the one cell that opens the ledger"
        raise ValueError(f"{knob.name} must be set once in {where}; found {len(places)} places")
    lines = opening[0].source.splitlines()
    lines.insert(places[0], f"{knob.name} = {knob.value!r}")
    opening[0].source = "\n".join(lines)


def set_at(source: str, name: str) -> Iterator[int]:
    """The last lines of the statements at the top of a cell that give ``name`` a value."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        parts = [part for target in targets for part in ast.walk(target)]
        if any(isinstance(part, ast.Name) and part.id == name for part in parts):
            yield node.end_lineno or node.lineno


def recorded_rows(chapter: str) -> list[str]:
    """What does not hang on the master seed, as the knob ``seed`` lists it.

    An entry is a row, of which nothing is drawn from the seed, or a row and which of its values are
    not: ``"ch2-upper-bound, part 'every task*"``.
    """
    return list(declared(chapter)["seed"].get("recorded", []))


def unmoved(
    before: dict[str, Record], after: dict[str, Record], recorded: Sequence[str] = ()
) -> Iterator[str]:
    """The sampled values that another master seed left as they were: they are not drawn from it.

    What is ``recorded`` may stay as it was; an entry of which something moved is named.
    """
    sampled = [
        (f"{claim}, {name}", number, moved)
        for claim, record in after.items()
        for name, number, moved in _sampled(before[claim], record)
    ]
    for said, number, moved in sampled:
        if not moved and not any(_covers(entry, said) for entry in recorded):
            yield f"{said}: {number.value:.6g} ± {number.half_width:.2g} did not move"
    for entry in recorded:
        moves = [moved for said, _, moved in sampled if _covers(entry, said)]
        if entry.partition(", ")[0] in after and (any(moves) or not moves):
            how = "some of it moved" if moves else "nothing in it is sampled"
            yield f"{entry}: listed as recorded, but {how}"


def disguised_numbers(
    before: dict[str, Record], after: dict[str, Record], chapter: str
) -> Iterator[str]:
    """Name the numbers without an interval that another master seed moved.

    The knob ``seed`` lists as ``drawn`` those that are so on purpose, such as the least of some.
    """
    drawn = declared(chapter)["seed"].get("drawn", [])
    for claim, record in after.items():
        for said in disguised(before[claim], record):
            if not any(_covers(entry, said) for entry in drawn):
                yield f"{said}: moved, but has no half-width: it was sampled"


def _covers(entry: str, said: str) -> bool:
    """Whether an entry of what is recorded is the row of a value, or a pattern of its name."""
    return said.startswith(f"{entry}, ") or fnmatchcase(said, entry)


def _sampled(before: Record, after: Record) -> Iterator[tuple[str, Number, bool]]:
    """A row's sampled values under another master seed: what each is, and whether it moved."""
    old = numbers_of(before)
    for name, now in numbers_of(after).items():
        if name not in old or is_exact(*now):
            continue
        if min(abs(now.value), abs(now.value - 1)) < NONE_OR_ALL * now.half_width:
            continue
        size = max(abs(old[name].value), now.half_width)
        yield name, now, abs(now.value - old[name].value) > SAME * size


def numbers_of(record: Record) -> dict[str, Number]:
    """The numbers of a row by what they are: the one that it shows, its parts and its controls."""
    shown = {} if record.value is None else {"the headline": record}
    parts = {f"part '{name}'": part for name, part in record.parts.items()}
    controls = {f"control '{name}'": control for name, control in record.controls.items()}
    found: dict[str, Any] = {**shown, **parts, **controls}
    return {name: Number(one.value, one.half_width or 0.0) for name, one in found.items()}


def default_records(chapter: str) -> dict[str, Record] | None:
    """What the chapter found at its own settings, or None where it has not been run."""
    run = notebooks.current(chapter_path(chapter))
    return None if run is None else outputs.records(run.notebook)
