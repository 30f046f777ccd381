"""The schema of ``book/claims.yml``, where claims are written down before they are measured."""

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from claimbook.files import ROOT, read_yaml
from claimbook.ledger.conditions import Condition, condition_of

CLAIMS_FILE = ROOT / "book" / "claims.yml"

Expected = Literal["holds", "holds in part", "fails", "undecided"]
HOLDS, IN_PART, FAILS, UNDECIDED_ROW = "holds", "holds in part", "fails", "undecided"
NOT_TESTABLE = "not testable"  # where a control did not do what its kind demands
VERDICTS = (HOLDS, IN_PART, FAILS, UNDECIDED_ROW, NOT_TESTABLE)
Kind = Literal["identity", "inequality", "rate", "limit", "ordering", "training outcome"]
ControlKind = Literal["wrong", "null", "right"]
WRONG, NULL, RIGHT = "wrong", "null", "right"
OURS = "ours"
AUDIT_EXCUSES = 10
BRIEF = 140  # characters: two lines of a page

Text = Annotated[str, Meta(pattern=r"\S")]
Reason = Annotated[str, Meta(min_length=6)]
Address = Annotated[str, Meta(pattern="^https://")]
Id = Annotated[str, Meta(pattern=r"^[\w.-]+$")]
Sentence = Annotated[str, Meta(max_length=BRIEF, pattern=r"^[^$]*\.$")]  # without formulas
Commits = Annotated[str, Meta(pattern="^[0-9a-f]{7,40}(, [0-9a-f]{7,40})*$")]


class Strict(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping of the file, with the fields that it may have."""


class Document(Strict, frozen=True):
    """A source that claims are taken from.

    ``short`` is its name in tables, ``links`` are addresses by what they lead to (``arXiv``,
    ``proceedings``, ``code``).
    """

    title: str
    kind: str
    version: str
    short: str
    links: dict[Text, Address]


class Source(Strict, frozen=True):
    """Where a claim is printed: a key of ``documents``, the place, and how legible our copy is.

    ``printed`` are the source's own words, verbatim but for ``…`` (left out) and ``[…]`` (our
    repair): one text or several. A row of our own has neither; ``suggested_by`` may say what made
    us ask.
    """

    document: str
    location: str = msgspec.field(name="place")
    reading: Literal["clear", "mangled", "illegible"] | None = None
    printed: Text | Annotated[list[Text], Meta(min_length=1)] | None = None
    suggested_by: str | None = None

    def __post_init__(self) -> None:
        ours = self.document == OURS
        for field, value in (("reading", self.reading), ("printed", self.printed)):
            if (value is not None) == ours:
                fault = "is for printed claims, not ours" if ours else "is missing"
                raise ValueError(f"field '{field}' {fault}")
        if self.suggested_by is not None and not ours:
            raise ValueError("field 'suggested_by' is for claims of ours only")


class Control(Strict, frozen=True):
    """A comparison that says whether the check can tell right from wrong.

    A *wrong* one holds a false formula or setting and must be contradicted, a *null* one has no
    effect to find and must not be supported, a *right* one holds a corrected formula and must be
    supported. ``condition`` is what it is held to (:mod:`claimbook.ledger.conditions`).
    """

    kind: ControlKind
    what: Text
    condition: str

    def __post_init__(self) -> None:
        Condition.parse(self.condition)


class Amendment(Strict, frozen=True):
    """A change of a row after its first number was seen."""

    date: datetime.date
    what: Reason
    why: Reason
    commit: Commits | None = None


class Row(Strict, frozen=True):
    """One claim: what is said, how it is tested, and the verdict that was expected beforehand.

    ``brief`` is the statement in one plain sentence of at most :data:`BRIEF` characters, as a page
    says it beside the verdict. ``quantity`` names the number that is shown; one that begins with
    ``log of`` or ``log₁₀ of`` is a logarithm, and a line shows what it is the logarithm of.
    ``parts`` is the criterion: the condition of each part (:mod:`claimbook.ledger.conditions`);
    ``tolerance`` says where margins and intervals come from. ``controls`` maps names to
    :class:`Control`. ``audit`` says why what :mod:`claimbook.ledger.audit` finds about the row may
    stand; at most :data:`AUDIT_EXCUSES` rows of the book have it.
    """

    id: Id
    source: Source
    brief: Sentence
    statement: Text
    kind: Kind
    statistic: Text
    parts: str | Annotated[dict[str, str], Meta(min_length=1)]
    tolerance: Text
    quantity: Text
    controls: Annotated[dict[str, Control], Meta(min_length=1)]
    expected: Expected
    amended: list[Amendment] = []
    note: Text | None = None
    audit: Text | None = None

    def __post_init__(self) -> None:
        for name in self.conditions:
            try:
                condition_of(self.conditions, name)
            except (ValueError, re.error) as error:
                raise ValueError(f"field 'parts', '{name}': {error}") from None
        dates = [one.date for one in self.amended]
        if dates != sorted(dates):
            raise ValueError("field 'amended' must be in the order of its dates")

    @property
    def conditions(self) -> dict[str, str]:
        """The conditions by the names of the parts; a part that stands alone has none."""
        return {"": self.parts} if isinstance(self.parts, str) else self.parts


class Block(Strict, frozen=True):
    """One chapter's claims, and the settings at which they are judged.

    ``ranges`` are the least and the largest value at which a setting can be computed, ``fixed`` the
    rows, or some of their values, that no master seed moves, and ``sampled`` the numbers without an
    interval that one may move.
    """

    settings: dict[str, Any]
    claims: list[Row]
    ranges: dict[str, tuple[float, float]] = {}
    fixed: list[str] = []
    sampled: list[str] = []

    def __post_init__(self) -> None:
        if "seed" not in self.settings:
            raise ValueError("field 'settings' must hold 'seed'")

    def refuse(self, settings: Mapping[str, Any]) -> None:
        """Raise ``ValueError`` for a setting out of its range, or of another kind than its own."""
        for name, (low, high) in self.ranges.items():
            usual = self.settings[name]
            value, is_whole = settings.get(name, usual), isinstance(usual, int)
            if not isinstance(value, int if is_whole else int | float) or not low <= value <= high:
                kind = "a whole number" if is_whole else "a number"
                allowed = f"{low:g} on" if high == math.inf else f"{low:g} to {high:g}"
                raise ValueError(f"{name} must be {kind} from {allowed}; got {value!r}")


class Claims(Strict, frozen=True):
    """All of ``claims.yml``: documents by key, blocks by chapter."""

    documents: dict[str, Document]
    chapters: dict[str, Block]

    def __post_init__(self) -> None:
        chapter_of: dict[str, str] = {}
        for name, block in self.chapters.items():
            for row in block.claims:
                where = f"chapter {name}, row {row.id}: field"
                if row.source.document not in self.documents:
                    known = list(self.documents)
                    raise ValueError(f"{where} 'source.document' must be one of {known}")
                if row.id in chapter_of:
                    other = chapter_of[row.id]
                    raise ValueError(f"{where} 'id' is already used in chapter {other}")
                chapter_of[row.id] = name

    @property
    def rows(self) -> Iterator[Row]:
        """All rows, in the order of the file."""
        for block in self.chapters.values():
            yield from block.claims


def plain(claims: Struct) -> Any:
    """Return the mappings of the file, without the fields that were not given."""
    return msgspec.to_builtins(claims, builtin_types=(datetime.date,))


def load(path: Path = CLAIMS_FILE) -> Claims:
    """Read and validate the ledger file.

    Raises ``ValueError``, which names chapter, row and field, where the file breaks the schema.
    """
    data = read_yaml(path)
    try:
        return msgspec.convert(data, Claims)
    except msgspec.ValidationError as error:
        raise ValueError(f"{path.name}, {next(_faults(data), error)}") from None


def _faults(data: Any) -> Iterator[str]:
    """Say in which rows and chapters a ledger breaks the schema, and how."""
    with suppress(AttributeError, KeyError, TypeError):
        for name, block in data["chapters"].items():
            pieces = [(f", row {row['id']}", row, Row) for row in block.get("claims", [])]
            for where, piece, schema in [*pieces, ("", block, Block)]:
                try:
                    msgspec.convert(piece, schema)
                except msgspec.ValidationError as error:
                    yield f"chapter {name}{where}: {error}"
