"""The verdicts on the claims of ``book/claims.yml``, computed from comparisons alone.

A chapter opens its block, ``ledger = Ledger("01_attention_window", seed=seed, ...)``, and calls
``ledger.check(id, parts, controls=...)`` once for every row with its estimates by name. The ledger
compares them with the row's conditions (:mod:`claimbook.ledger.conditions`), so that what is
tested is what is written. The verdict follows from the parts:

    all supported                               holds
    some supported, some contradicted           holds in part
    all contradicted                            fails
    anything else, since a part is undecided    undecided

A control that does not do what its kind demands (a *wrong* formula that is not contradicted, a
*null* that is supported, a *right* one that is not) makes the row *not testable*: a check that
cannot tell right from wrong proves nothing. A verdict never raises; ``tests/expected`` compares.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from claimbook.files import ROOT, read_yaml
from claimbook.ledger import schema
from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison, measured
from claimbook.ledger.conditions import ComparedWith, Part, condition_of
from claimbook.ledger.record import Record, display
from claimbook.ledger.schema import CLAIMS_FILE, Row, load
from claimbook.ledger.text import format_value, what_came_out

Value = Part | ComparedWith
FALSE_CONTRADICTION = 1 / 20_000  # of one sampled part, at most: half of an interval's level

# by kind of control: how one that failed is described, and the outcomes that it may have
DEMANDED = {
    schema.WRONG: ("contradicted", {CONTRADICTED}),
    schema.NULL: ("left unsupported", {CONTRADICTED, UNDECIDED}),
    schema.RIGHT: ("supported", {SUPPORTED}),
}


def verdict_of(outcomes: Iterable[str]) -> str:
    """Derive the verdict from the outcomes of a row's parts (the table above).

    >>> verdict_of(["supported", "contradicted"])
    'holds in part'
    """
    seen = set(outcomes)
    if seen == {SUPPORTED}:
        return schema.HOLDS
    if {SUPPORTED, CONTRADICTED} <= seen:
        return schema.IN_PART
    return schema.FAILS if seen == {CONTRADICTED} else schema.UNDECIDED_ROW


def failed_controls(row: Row, controls: Mapping[str, Comparison]) -> list[str]:
    """List the controls that did not do what their kind demands, each with what that is."""
    failed = []
    for name, control in controls.items():
        kind = row.controls[name].kind
        demand, allowed = DEMANDED[kind]
        if control.outcome not in allowed:
            failed.append(f"the {kind} control '{name}' was not {demand}")
    return failed


class Ledger:
    """One chapter's block of the ledger: checks its rows, shows a line each, records them."""

    def __init__(self, chapter: str, *, path: Path = CLAIMS_FILE, **settings: Any) -> None:
        """Open the block of ``chapter``; ``settings`` are the chapter's knobs.

        Settings that differ from the block's are printed, and mark every line as made at them.
        Raises ``KeyError`` for a chapter without a block, and ``ValueError`` where the names of the
        settings are not those of the block, or a setting is out of its range.
        """
        chapters = load(path).chapters
        if chapter not in chapters:
            raise KeyError(f"chapter must be one of {list(chapters)}; got {chapter!r}")
        block = chapters[chapter]
        if set(settings) != set(block.settings):
            known = sorted(block.settings)
            raise ValueError(f"settings of {chapter} must be {known}; got {sorted(settings)}")
        block.refuse(settings)
        self.chapter = chapter
        self.rows = {row.id: row for row in block.claims}
        self.settings = settings
        self.default_settings = settings == block.settings
        self.records: dict[str, Record] = {}
        for name, value in block.settings.items():
            if settings[name] != value:
                print(f"{name} = {settings[name]!r} (default: {value!r})")

    def check(
        self,
        id: str,
        parts: Value | Mapping[str, Value],
        *,
        controls: Mapping[str, Value],
        value: Value | None = None,
    ) -> Record:
        """Judge one row: compare its ``parts`` and ``controls`` with the ledger's conditions.

        Each is an estimate, or a number where nothing was sampled;
        :func:`~claimbook.ledger.compared_with` adds the numbers that its condition names. ``value``
        is the number that the ledger shows; a single part is its own. Raises ``KeyError`` for an id
        that is not in the chapter's block and for what has no condition, ``ValueError`` for a
        second check of a row, for no parts, for a condition without a part or a control, and for a
        value that is not finite.
        """
        if id not in self.rows:
            raise KeyError(f"id must be one of {list(self.rows)}; got {id!r}")
        if id in self.records:
            raise ValueError(f"{id} is already checked in {self.chapter}; a row has one check")
        row = self.rows[id]
        named = dict(parts) if isinstance(parts, Mapping) else {"": parts}
        if not named:
            raise ValueError(f"parts of {id} must hold at least one estimate; got none")
        if value is None and not isinstance(parts, Mapping):
            value = parts
        estimate: Any = value.estimate if isinstance(value, ComparedWith) else value
        try:
            shown = measured(estimate)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the number shown of {id}: {error}") from None
        compared = self._compare(row, "part", row.conditions, named)
        tests = {name: control.condition for name, control in row.controls.items()}
        compared_controls = self._compare(row, "control", tests, controls)
        why = "; ".join(failed_controls(row, compared_controls))
        verdict = verdict_of(one.outcome for one in compared.values())
        number = format_value(shown.value, shown.half_width)
        record = Record(
            chapter=self.chapter,
            id=id,
            verdict=schema.NOT_TESTABLE if why else verdict,
            value=shown.value,
            half_width=shown.half_width,
            parts=compared,
            controls=compared_controls,
            settings=self.settings,
            default_settings=self.default_settings,
            why=why,
            finding=f"{what_came_out(compared, why)} Measured: {number} ({row.quantity}).",
            beside="" if self.default_settings else self._beside(row, verdict),
        )
        self.records[id] = record
        display(record)
        return record

    def _beside(self, row: Row, verdict: str) -> str:
        """Say what is found at the book's settings; of a verdict that moved, what is claimed."""
        expected = ROOT / "tests" / "expected" / f"{self.chapter}.yml"
        claims = read_yaml(expected)["claims"] if expected.exists() else []
        for known in (one["claim"] for one in claims if one["claim"]["id"] == row.id):
            number = format_value(known["value"], known["half_width"])
            moved = "" if known["verdict"] == verdict else f"\n    moved: {row.brief}"
            return f"  (default: {known['verdict']} · {number}){moved}"
        return ""

    def _compare(
        self, row: Row, what: str, conditions: Mapping[str, str], values: Mapping[str, Value]
    ) -> dict[str, Comparison]:
        """Compare parts or controls; at the book's settings every condition has one."""
        compared, used = {}, set()
        for name, value in values.items():
            try:
                pattern, condition = condition_of(conditions, name)
                compared[name] = condition.compare(value, self.settings)
            except (KeyError, TypeError, ValueError) as error:
                raise type(error)(f"{row.id}, {what} '{name}': {error.args[0]}") from None
            used.add(pattern)
        unused = [name for name in conditions if name not in used]
        if self.default_settings and unused:
            raise ValueError(f"{row.id}: conditions without a {what}: {unused}")
        return compared
