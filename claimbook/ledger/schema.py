"""The schema of ``book/claims.yml``, where claims are written down before they are measured."""

import copy
import datetime
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args

import msgspec
from msgspec import Meta

from claimbook.files import ROOT, read_yaml
from claimbook.ledger import knobs
from claimbook.ledger.conditions import Condition, check_conditions
from claimbook.ledger.knobs import Knob

CLAIMS_FILE = ROOT / "book" / "claims.yml"

Verdict = Literal["holds", "holds in part", "fails", "superseded", "undecided", "not testable"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
HOLDS, IN_PART, FAILS, SUPERSEDED, UNDECIDED_ROW, NOT_TESTABLE = VERDICTS
Kind = Literal["identity", "inequality", "rate", "limit", "ordering", "training outcome"]
ControlKind = Literal["wrong", "null", "right"]
WRONG, NULL, RIGHT = get_args(ControlKind)
OURS = "ours"
AUDIT_EXCUSES = 10
BRIEF = 140  # characters: two lines of a page

Text = Annotated[str, Meta(pattern=r"\S")]
Address = Annotated[str, Meta(pattern="^https://")]
Id = Annotated[str, Meta(pattern=r"^[\w.-]+$")]
Sentence = Annotated[str, Meta(max_length=BRIEF, pattern=r"^[^$]*\.$")]  # without formulas
Commits = Annotated[str, Meta(pattern="^[0-9a-f]{7,40}(, [0-9a-f]{7,40})*$")]


class LedgerError(ValueError):
    """``claims.yml`` breaks the schema; the message names file, row and field."""


class Document(TypedDict):
    """A source that claims are taken from.

    ``short`` is its name in tables, ``links`` are addresses by what they lead to (``arXiv``,
    ``proceedings``, ``code``).
    """

    title: str
    kind: str
    version: str
    short: NotRequired[str]
    links: NotRequired[dict[Text, Address]]


class Source(TypedDict):
    """Where a claim is printed: a key of ``documents``, the place, and how legible our copy is.

    ``printed`` are the source's own words, verbatim but for ``…`` (left out) and ``[…]`` (our
    repair): one text or several. A row of our own has neither; ``suggested_by`` may say what made
    us ask.
    """

    document: str
    place: str
    reading: NotRequired[Literal["clear", "mangled", "illegible"]]
    printed: NotRequired[Text | Annotated[list[Text], Meta(min_length=1)]]
    suggested_by: NotRequired[str]


class Control(TypedDict):
    """A comparison that says whether the check can tell right from wrong.

    A *wrong* one holds a false formula or setting and must be contradicted, a *null* one has no
    effect to find and must not be supported, a *right* one holds a corrected formula and must be
    supported. ``condition`` is what it is held to (:mod:`claimbook.ledger.conditions`).
    """

    kind: ControlKind
    what: Text
    condition: str


class Amendment(TypedDict):
    """A change of a row after its first number was seen."""

    date: datetime.date
    what: Text
    why: Text
    commit: NotRequired[Commits]


class Row(TypedDict):
    """One claim: what is said, how it is tested, and the verdict that was expected beforehand.

    ``brief`` is the statement in one plain sentence of at most :data:`BRIEF` characters, as a page
    says it beside the verdict. ``quantity`` names the number that is shown; one that begins with
    ``log of`` or ``log₁₀ of`` is a logarithm, and a line shows what it is the logarithm of.
    ``parts`` is the criterion: the condition of each part (:mod:`claimbook.ledger.conditions`);
    ``tolerance`` says where margins and intervals come from. A row that is not testable has none.
    ``controls`` maps names to :class:`Control`.
    ``audit`` says why what :mod:`claimbook.ledger.audit` finds about the row may stand; at most
    :data:`AUDIT_EXCUSES` rows of the book have it.
    """

    id: Id
    source: Source
    brief: Sentence
    statement: Text
    kind: Kind
    statistic: Text
    parts: NotRequired[str | dict[str, str]]
    tolerance: Text
    quantity: Text
    controls: dict[str, Control]
    expected: Verdict
    amended: NotRequired[list[Amendment]]
    note: NotRequired[Text]
    superseded_by: NotRequired[str]
    audit: NotRequired[Text]


class Block(TypedDict):
    """One chapter's claims, the settings at which they are judged, and what its knobs may be."""

    settings: dict[str, Any]
    knobs: dict[str, Knob]
    claims: list[Row]


class Claims(TypedDict):
    """All of ``claims.yml``: documents by key, blocks by chapter."""

    documents: dict[str, Document]
    chapters: dict[str, Block]


def load(path: Path = CLAIMS_FILE) -> Claims:
    """Read and validate the ledger file.

    The file is parsed once for each state of it on disk; every caller gets a copy of its own.
    Raises :class:`LedgerError` (a ``ValueError``), which names chapter, row and field, where the
    file breaks the schema.
    """
    state = path.stat()
    return copy.deepcopy(_parsed(path, state.st_mtime_ns, state.st_size))


@functools.cache
def _parsed(path: Path, _mtime_ns: int, _size: int) -> Claims:
    """The validated content of ``path``; time and size stand for the content in the cache's key."""
    try:
        data: Claims = read_yaml(path)
    except ValueError as error:
        raise LedgerError(str(error)) from None
    _validate(path.name, data)
    return data


def held(where: str, given: Any, schema: Any) -> None:
    """Refuse what is no ``schema``, and fields that it does not have.

    Raises :class:`LedgerError`, which begins with ``where``.
    """
    try:
        kept = msgspec.convert(given, schema)
    except msgspec.ValidationError as error:
        raise LedgerError(f"{where}: {error}") from None
    for place in _unknown(given, kept):
        raise LedgerError(f"{where}: field '{place}' is unknown")


def _unknown(given: Any, kept: Any) -> Iterator[str]:
    """The fields of mappings that msgspec, asked for a ``TypedDict``, passed over."""
    if isinstance(given, dict):
        for name, value in given.items():
            if name not in kept:
                yield name
            else:
                yield from (f"{name}.{below}" for below in _unknown(value, kept[name]))
    elif isinstance(given, list):
        for number, (value, same) in enumerate(zip(given, kept, strict=True)):
            yield from (f"{number}.{below}" for below in _unknown(value, same))


def _outline(given: Any) -> Any:
    """A mapping whose values are empty: what is in them is held one by one, under its own name."""
    return {name: type(one)() for name, one in given.items()} if isinstance(given, dict) else given


def _validate(file: str, data: Any) -> None:
    held(file, _outline(data), Claims)
    for key, document in data["documents"].items():
        held(f"{file}, document {key}", document, Document)
    chapter_of: dict[str, str] = {}
    for chapter, block in data["chapters"].items():
        here = f"{file}, chapter {chapter}"
        held(here, _outline(block), Block)
        _validate_knobs(here, block)
        for number, row in enumerate(block["claims"], 1):
            name = row.get("id") if isinstance(row, dict) else None
            where = f"{here}, row {name or f'number {number}'}"
            held(where, row, Row)
            _validate_row(where, row, data["documents"])
            if row["id"] in chapter_of:
                taken = chapter_of[row["id"]]
                raise LedgerError(f"{where}: field 'id' is already used in chapter {taken}")
            chapter_of[row["id"]] = chapter


def _validate_knobs(where: str, block: Block) -> None:
    """Each knob has its range, and its default and the value to try it with lie in that."""
    settings = block["settings"]
    if "seed" not in settings:
        raise LedgerError(f"{where}: field 'settings' must hold 'seed'")
    held(where, block["knobs"], dict[str, Knob])
    if set(block["knobs"]) != set(settings):
        raise LedgerError(f"{where}: field 'knobs' must hold {sorted(settings)}")
    for name, knob in block["knobs"].items():
        here = f"{where}, field 'knobs.{name}'"
        if knob["turned"] == settings[name]:
            raise LedgerError(f"{here}: 'turned' is the default, {settings[name]!r}")
        if not isinstance(settings[name], bool) and not {"low", "above"} & set(knob):
            raise LedgerError(f"{here}: 'low' or 'above' is missing")
    turned = {f"knobs.{name}": {name: knob["turned"]} for name, knob in block["knobs"].items()}
    tried: dict[str, dict[str, Any]] = {"settings": {}} | turned
    for field, other in tried.items():
        try:
            knobs.check(block["knobs"], settings, settings | other)
        except (TypeError, ValueError) as error:
            raise LedgerError(f"{where}, field '{field}': {error}") from None


def _validate_row(where: str, row: Row, documents: Mapping[str, Any]) -> None:
    """What one field of a row demands of another, and that its conditions can be read."""
    _validate_source(where, row["source"], documents)
    tested = row["expected"] != NOT_TESTABLE
    if not tested and "note" not in row:
        raise LedgerError(f"{where}: field 'note' must say why the row is not testable")
    if tested and not row["controls"]:
        raise LedgerError(f"{where}: field 'controls' needs at least one control")
    if tested or "parts" in row:
        try:
            check_conditions(row.get("parts"))
        except ValueError as error:
            raise LedgerError(f"{where}: field 'parts' {error}") from None
    for name, control in row["controls"].items():
        try:
            Condition.parse(control["condition"])
        except ValueError as error:
            raise LedgerError(f"{where}: field 'controls.{name}.condition': {error}") from None


def _validate_source(where: str, source: Source, documents: Mapping[str, Any]) -> None:
    """A printed claim has its words and how legible they are; one of our own has neither."""
    if source["document"] not in documents:
        given = source["document"]
        wanted = f"must be one of {list(documents)}"
        raise LedgerError(f"{where}: field 'source.document' {wanted}; got {given!r}")
    ours = source["document"] == OURS
    for field in ("reading", "printed"):
        if (field in source) == ours:
            wrong = "is for printed claims, not ours" if ours else "is missing"
            raise LedgerError(f"{where}: field 'source.{field}' {wrong}")
    if "suggested_by" in source and not ours:
        raise LedgerError(f"{where}: field 'source.suggested_by' is for claims of ours only")
