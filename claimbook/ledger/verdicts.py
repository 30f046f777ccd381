"""The verdicts on the claims of ``book/claims.yml``, computed from comparisons alone.

A chapter opens its block, ``ledger = Ledger("01_attention_window", seed=seed, ...)``, and calls
``ledger.check(id, parts, controls=...)`` once for every row with its estimates by name. The ledger
compares them with the row's conditions (:mod:`claimbook.ledger.conditions`), so that what is
tested is what is written. The verdict follows from the parts:

    all supported                               holds
    some supported, some contradicted           holds in part
    all contradicted                            fails
    anything else, since a part is undecided    undecided

Where the row names a later source that corrects it (``superseded_by``), *holds in part* and *fails*
become *superseded*. A control that does not do what its kind demands (a *wrong* formula that is not
contradicted, a *null* that is supported, a *right* one that is not) makes the row *not testable*: a
check that cannot tell right from wrong proves nothing. A verdict never raises; ``tests/expected``
compares.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from claimbook.ledger import knobs
from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison, measured
from claimbook.ledger.conditions import ComparedWith, Condition, Part, condition_of, pattern_of
from claimbook.ledger.finding import finding_of
from claimbook.ledger.prose import show
from claimbook.ledger.record import Record
from claimbook.ledger.schema import (
    CLAIMS_FILE,
    FAILS,
    HOLDS,
    IN_PART,
    NOT_TESTABLE,
    NULL,
    RIGHT,
    SUPERSEDED,
    UNDECIDED_ROW,
    WRONG,
    Row,
    load,
)


def verdict_of(outcomes: Sequence[str], superseded: bool = False) -> str:
    """The verdict that the outcomes of a row's parts give (the table at the top of this module).

    >>> verdict_of(["supported", "contradicted"])
    'holds in part'
    """
    found = set(outcomes)
    if found == {SUPPORTED}:
        return HOLDS
    if SUPPORTED in found and CONTRADICTED in found:
        return SUPERSEDED if superseded else IN_PART
    if found == {CONTRADICTED}:
        return SUPERSEDED if superseded else FAILS
    return UNDECIDED_ROW


# by kind: how a control that failed is described, and the outcomes that it may have
DEMANDED = {
    WRONG: ("contradicted", {CONTRADICTED}),
    NULL: ("left unsupported", {CONTRADICTED, UNDECIDED}),
    RIGHT: ("supported", {SUPPORTED}),
}


def blunt_controls(row: Row, controls: Mapping[str, Comparison]) -> list[str]:
    """The controls that did not do what their kind demands, each with what that is."""
    blunt = []
    for name, control in controls.items():
        kind = row["controls"][name]["kind"]
        demand, allowed = DEMANDED[kind]
        if control.outcome not in allowed:
            blunt.append(f"the {kind} control '{name}' was not {demand}")
    return blunt


Handed = Part | ComparedWith


class Ledger:
    """One chapter's block of the ledger: checks its rows, shows a line each, records them."""

    def __init__(self, chapter: str, *, path: Path = CLAIMS_FILE, **settings: Any) -> None:
        """Open the block of ``chapter``; ``settings`` are the chapter's knobs.

        Knobs that differ from the block's mark every line as made at the reader's settings.
        Raises ``KeyError`` for a chapter without a block, ``ValueError`` where the names of the
        knobs are not those of the block, and ``ValueError`` or ``TypeError``, by the knob's name,
        where one has a value that it may not have.
        """
        chapters = load(path)["chapters"]
        if chapter not in chapters:
            raise KeyError(f"chapter must be one of {list(chapters)}; got {chapter!r}")
        block = chapters[chapter]
        if set(settings) != set(block["settings"]):
            wanted = sorted(block["settings"])
            raise ValueError(f"settings of {chapter} must be {wanted}; got {sorted(settings)}")
        knobs.check(block["knobs"], block["settings"], settings)
        self.chapter = chapter
        self.rows = {row["id"]: row for row in block["claims"]}
        self.settings = settings
        self.default_settings = settings == block["settings"]
        self.records: dict[str, Record] = {}

    def check(
        self,
        id: str,
        parts: Handed | Mapping[str, Handed],
        *,
        controls: Mapping[str, Handed],
        value: Handed | None = None,
    ) -> Record:
        """Judge one row: hold its ``parts`` and ``controls`` against the ledger's conditions.

        Each is an estimate, or a number where nothing was sampled;
        :func:`~claimbook.ledger.compared_with` adds the numbers that its condition names. ``value``
        is the number that the ledger shows; a single part is its own. Raises ``KeyError`` for an id
        that is not in the chapter's block and for a part without a condition, ``ValueError`` for a
        second check of a row, for no parts, for a condition without a part, for controls other than
        the row's, and for a value that is not finite.
        """
        row = self._row(id)
        named = dict(parts) if isinstance(parts, Mapping) else {"": parts}
        if not named:
            raise ValueError(f"parts of {id} must hold at least one estimate; got none")
        if set(controls) != set(row["controls"]):
            wanted = sorted(row["controls"])
            raise ValueError(f"controls of {id} must be {wanted}; got {sorted(controls)}")
        judged_parts = self._parts(row, named)
        judged_controls = {
            name: self._control(row, name, control) for name, control in controls.items()
        }
        if value is None and not isinstance(parts, Mapping):
            value = parts
        shown, shown_half_width = _headline(id, value)
        why = "; ".join(blunt_controls(row, judged_controls))
        came_out = [part.outcome for part in judged_parts.values()]
        verdict = NOT_TESTABLE if why else verdict_of(came_out, "superseded_by" in row)
        found = Record(
            chapter=self.chapter,
            id=id,
            verdict=verdict,
            value=shown,
            half_width=shown_half_width,
            parts=judged_parts,
            controls=judged_controls,
            settings=self.settings,
            default_settings=self.default_settings,
            why=why,
            finding=finding_of(row, judged_parts, shown, shown_half_width, why),
        )
        return self._record(found)

    def _parts(self, row: Row, parts: Mapping[str, Handed]) -> dict[str, Comparison]:
        """The parts against their conditions; at the book's settings none is left over."""
        conditions = row["parts"]
        if self.default_settings and not isinstance(conditions, str):
            used = {pattern_of(conditions, name) for name in parts}
            left = [name for name in conditions if name not in used]
            if left:
                raise ValueError(f"{row['id']}: no part is held to the conditions {left}")
        compared = {}
        for name, found in parts.items():
            with _naming(f"{row['id']}, part '{name}'"):
                compared[name] = condition_of(conditions, name).compare(found, self.settings)
        return compared

    def _control(self, row: Row, name: str, control: Handed) -> Comparison:
        """A control against its condition."""
        with _naming(f"{row['id']}, control '{name}'"):
            condition = Condition.parse(row["controls"][name]["condition"])
            return condition.compare(control, self.settings)

    def not_testable(self, id: str) -> Record:
        """Record a row that cannot be tested, with the reason that the row's ``note`` gives.

        Raises ``KeyError`` for an id that is not in the chapter's block and ``ValueError`` for a
        second check of a row and for a row that the ledger expects to be tested.
        """
        row = self._row(id)
        if row["expected"] != NOT_TESTABLE:
            raise ValueError(
                f"{id} is expected to be '{row['expected']}': "
                "check it; only rows with a reason are not testable"
            )
        found = Record(
            chapter=self.chapter,
            id=id,
            verdict=NOT_TESTABLE,
            value=None,
            half_width=None,
            parts={},
            controls={},
            settings=self.settings,
            default_settings=self.default_settings,
            why=row["note"],
            finding=f"Not tested: {row['note']}",
        )
        return self._record(found)

    def _row(self, id: str) -> Row:
        if id not in self.rows:
            raise KeyError(f"id must be one of {list(self.rows)}; got {id!r}")
        if id in self.records:
            raise ValueError(f"{id} is already checked in {self.chapter}; a row has one check")
        return self.rows[id]

    def _record(self, record: Record) -> Record:
        self.records[record.id] = record
        show(record.line(), record.to_json())
        return record


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Let an error of a comparison name its row."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error.args[0]}") from None


def _headline(id: str, value: Handed | None) -> tuple[float, float]:
    """The number that the ledger shows for a row, and its half-width."""
    if isinstance(value, ComparedWith):
        value = value.estimate
    with suppress(TypeError, ValueError):
        shown = measured(value)  # type: ignore[arg-type]
        if math.isfinite(shown.value):
            return shown.value, shown.half_width
    raise ValueError(f"value of {id} must be an estimate or a finite number; got {value!r}")
