"""The verdicts on the claims of ``book/claims.yml``, computed from comparisons alone.

A chapter opens its block, ``ledger = Ledger("01_attention_window", seed=seed, ...)``, and calls
``ledger.check(id, parts, controls=...)`` once for every row. The verdict follows from the parts:

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

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from iclutils.book.ledger import knobs
from iclutils.book.ledger.finding import finding_of
from iclutils.book.ledger.lines import AT_YOUR_SETTINGS, format_value
from iclutils.book.ledger.prose import tell
from iclutils.book.ledger.schema import (
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
from iclutils.ground import validation
from iclutils.ground.statistics import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison


@dataclass(frozen=True)
class Record:
    """What one check found; the page, the scorecard and the tests are all made from records.

    ``value`` and ``half_width`` are the number that the ledger shows; a row that was not tested has
    none. ``parts`` and ``controls`` are the comparisons by name; a part that stands alone has the
    empty name. ``settings`` are the chapter's knobs, and ``default_settings`` says whether they are
    those of the ledger. ``finding`` is one sentence: what holds, what does not, where.
    """

    chapter: str
    id: str
    verdict: str
    value: float | None
    half_width: float | None
    parts: dict[str, Comparison]
    controls: dict[str, Comparison]
    settings: dict[str, Any]
    default_settings: bool
    why: str = ""
    finding: str = ""

    def line(self) -> str:
        """The one line that is printed and compared: ``id · verdict · value ± half-width``."""
        if self.value is None:
            return f"{self.id} · {self.verdict}"
        return f"{self.id} · {self.verdict} · {format_value(self.value, self.half_width or 0.0)}"

    def to_json(self) -> str:
        """The record as JSON, as it is kept in an executed chapter."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record that :meth:`to_json` wrote.

        Raises ``ValueError`` where ``text`` is no JSON and ``TypeError`` where it is no record's.
        """
        fields = json.loads(text)
        for group in ("parts", "controls"):
            fields[group] = {name: Comparison(**found) for name, found in fields[group].items()}
        return cls(**fields)


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


class Judgement(NamedTuple):
    """A row's verdict, and why it is *not testable* where a control did not do what it must."""

    verdict: str
    why: str


def judgement(
    row: Row, parts: Mapping[str, Comparison], controls: Mapping[str, Comparison]
) -> Judgement:
    """The verdict on a row from its ``parts`` and ``controls``."""
    why = "; ".join(blunt_controls(row, controls))
    if why:
        return Judgement(NOT_TESTABLE, why)
    outcomes = [part.outcome for part in parts.values()]
    return Judgement(verdict_of(outcomes, "superseded_by" in row), "")


class Ledger:
    """One chapter's block of the ledger: checks its rows, prints a line each, records them."""

    def __init__(self, chapter: str, *, path: Path = CLAIMS_FILE, **settings: Any) -> None:
        """Open the block of ``chapter``; ``settings`` are the chapter's knobs.

        Knobs that differ from the block's mark every printed line as made at the reader's settings.
        Raises ``KeyError`` for a chapter without a block, ``ValueError`` where the names of the
        knobs are not those of the block, and ``ValueError`` or ``TypeError``, by the knob's name,
        where one has a value that it may not have.
        """
        chapters = load(path)["chapters"]
        validation.one_of("chapter", chapter, chapters)
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
        parts: Comparison | Mapping[str, Comparison],
        *,
        controls: Mapping[str, Comparison],
        value: Comparison | float | None = None,
        half_width: float | None = None,
    ) -> Record:
        """Judge one row by its ``parts``; the ``controls`` must do what their kinds demand.

        ``value`` is the number that the ledger shows: a Comparison, or a float with ``half_width``
        (0 where nothing was sampled); a single part is its own value. Raises ``KeyError`` for an id
        that is not in the chapter's block, ``ValueError`` for a second check of a row, for no
        parts, for controls other than the row's, and for a value that is not finite.
        """
        row = self._row(id)
        named = {"": parts} if isinstance(parts, Comparison) else dict(parts)
        if not named:
            raise ValueError(f"parts of {id} must hold at least one comparison; got none")
        if set(controls) != set(row["controls"]):
            wanted = sorted(row["controls"])
            raise ValueError(f"controls of {id} must be {wanted}; got {sorted(controls)}")
        if value is None and isinstance(parts, Comparison):
            value = parts
        shown, shown_half_width = _headline(id, value, half_width)
        verdict, why = judgement(row, named, controls)
        found = Record(
            chapter=self.chapter,
            id=id,
            verdict=verdict,
            value=shown,
            half_width=shown_half_width,
            parts=named,
            controls=dict(controls),
            settings=self.settings,
            default_settings=self.default_settings,
            why=why,
            finding=finding_of(row, named, shown, shown_half_width, why),
        )
        return self._record(found)

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
        validation.one_of("id", id, self.rows)
        if id in self.records:
            raise ValueError(f"{id} is already checked in {self.chapter}; a row has one check")
        return self.rows[id]

    def _record(self, record: Record) -> Record:
        self.records[record.id] = record
        prefix = "" if record.default_settings else AT_YOUR_SETTINGS
        reason = f"  ({record.why})" if record.why else ""
        print(prefix + record.line() + reason)
        tell(**{f"claim:{record.id}": record.to_json()})
        return record


def _headline(
    id: str, value: Comparison | float | None, half_width: float | None
) -> tuple[float, float]:
    """The number that the ledger shows for a row, and its half-width."""
    if isinstance(value, Comparison):
        half_width = value.half_width
        value = value.value
    if value is None or half_width is None or not math.isfinite(value + half_width):
        wanted = f"value and half_width of {id} must be finite numbers"
        raise ValueError(f"{wanted}; got {value!r} ± {half_width!r}")
    return float(value), float(half_width)
