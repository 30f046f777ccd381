"""The schema of ``book/claims.yml``, where claims are written down before they are measured."""

import copy
import functools
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import yaml

from iclutils.book.ledger import knobs
from iclutils.book.ledger.knobs import Knob
from iclutils.book.runs.files import ROOT

CLAIMS_FILE = ROOT / "book" / "claims.yml"

HOLDS, IN_PART, FAILS = "holds", "holds in part", "fails"
SUPERSEDED, UNDECIDED_ROW, NOT_TESTABLE = "superseded", "undecided", "not testable"
VERDICTS = (HOLDS, IN_PART, FAILS, SUPERSEDED, UNDECIDED_ROW, NOT_TESTABLE)
KINDS = ("identity", "inequality", "rate", "limit", "ordering", "training outcome")
READINGS = ("clear", "mangled", "illegible")
OURS = "ours"
WRONG, NULL, RIGHT = "wrong", "null", "right"
CONTROL_KINDS = (WRONG, NULL, RIGHT)
ID = re.compile(r"[\w.-]+")
AUDIT_EXCUSES = 10
BRIEF = 140  # characters: two lines of a page
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_COMMIT = re.compile(r"[0-9a-f]{7,40}(, [0-9a-f]{7,40})*")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's, where PyYAML was built with it


class Document(TypedDict):
    """A source that claims are taken from.

    ``short`` is its name in tables, ``links`` are addresses by what they lead to (``arXiv``,
    ``proceedings``, ``code``).
    """

    title: str
    kind: str
    version: str
    short: NotRequired[str]
    links: NotRequired[dict[str, str]]


class Source(TypedDict):
    """Where a claim is printed: a key of ``documents``, the place, and how legible our copy is.

    ``printed`` are the source's own words, verbatim but for ``…`` (left out) and ``[…]`` (our
    repair): one text or several. A row of our own has neither; ``suggested_by`` may say what made
    us ask.
    """

    document: str
    place: str
    reading: NotRequired[str]
    printed: NotRequired[str | list[str]]
    suggested_by: NotRequired[str]


class Control(TypedDict):
    """A comparison that says whether the check can tell right from wrong.

    A *wrong* one holds a false formula or setting and must be contradicted, a *null* one has no
    effect to find and must not be supported, a *right* one holds a corrected formula and must be
    supported.
    """

    kind: str
    what: str


class Amendment(TypedDict):
    """A change of a row after its first number was seen."""

    date: Any
    what: str
    why: str
    commit: NotRequired[str]


class Row(TypedDict):
    """One claim: what is said, how it is tested, and the verdict that was expected beforehand.

    ``brief`` is the statement in one plain sentence of at most :data:`BRIEF` characters, as a page
    says it beside the verdict. ``quantity`` names the number that is shown; one that begins with
    ``log of`` or ``log₁₀ of`` is a logarithm, and a line shows what it is the logarithm of.
    ``controls`` maps names to :class:`Control`.
    ``audit`` says why what :mod:`iclutils.book.ledger.audit` finds about the row may stand; at most
    :data:`AUDIT_EXCUSES` rows of the book have it.
    """

    id: str
    source: Source
    brief: str
    statement: str
    kind: str
    statistic: str
    criterion: str
    tolerance: str
    quantity: str
    controls: dict[str, Control]
    expected: str
    amended: NotRequired[list[Amendment]]
    note: NotRequired[str]
    superseded_by: NotRequired[str]
    audit: NotRequired[str]


class Block(TypedDict):
    """One chapter's claims, the settings at which they are judged, and what its knobs may be."""

    settings: dict[str, Any]
    knobs: dict[str, Knob]
    claims: list[Row]


class Claims(TypedDict):
    """All of ``claims.yml``: documents by key, blocks by chapter."""

    documents: dict[str, Document]
    chapters: dict[str, Block]


class LedgerError(ValueError):
    """``claims.yml`` breaks the schema; the message names file, row and field."""


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
    data: Claims = yaml.load(path.read_text(encoding="utf8"), Loader=_Loader)
    _validate(path.name, data)
    return data


def _validate(file: str, data: Any) -> None:
    _fields(file, data, Claims)
    for key, document in data["documents"].items():
        _validate_document(f"{file}, document {key}", document)
    chapter_of: dict[str, str] = {}
    for chapter, block in data["chapters"].items():
        _fields(f"{file}, chapter {chapter}", block, Block)
        if "seed" not in block["settings"]:
            raise LedgerError(f"{file}, chapter {chapter}: field 'settings' must hold 'seed'")
        _validate_knobs(f"{file}, chapter {chapter}", block)
        for number, row in enumerate(block["claims"], 1):
            where = f"{file}, chapter {chapter}, row {_row_name(row, number)}"
            _validate_row(where, row, data["documents"])
            if row["id"] in chapter_of:
                taken = chapter_of[row["id"]]
                raise LedgerError(f"{where}: field 'id' is already used in chapter {taken}")
            chapter_of[row["id"]] = chapter


def _validate_knobs(where: str, block: Block) -> None:
    """Each knob has its range, and its default and the value to try it with lie in that."""
    settings = block["settings"]
    if not isinstance(block["knobs"], dict) or set(block["knobs"]) != set(settings):
        raise LedgerError(f"{where}: field 'knobs' must hold {sorted(settings)}")
    for name, knob in block["knobs"].items():
        here = f"{where}, field 'knobs.{name}'"
        _fields(here, knob, Knob)
        if knob["turned"] == settings[name]:
            raise LedgerError(f"{here}: 'turned' is the default, {settings[name]!r}")
        if not isinstance(settings[name], bool) and not {"low", "above"} & set(knob):
            raise LedgerError(f"{here}: 'low' or 'above' is missing")
        for value in (settings[name], knob["turned"]):
            try:
                knobs.check(block["knobs"], settings, settings | {name: value})
            except (TypeError, ValueError) as error:
                raise LedgerError(f"{here}: {error}") from None


def _validate_document(where: str, document: Any) -> None:
    _fields(where, document, Document)
    links = document.get("links", {})
    if not isinstance(links, dict):
        raise LedgerError(f"{where}: field 'links' must map labels to addresses; got {links!r}")
    for label, address in links.items():
        _text(where, "links", label)
        if not isinstance(address, str) or not address.startswith("https://"):
            wanted = "must be an address that starts with https://"
            raise LedgerError(f"{where}: field 'links.{label}' {wanted}; got {address!r}")


def _row_name(row: Any, number: int) -> str:
    unnamed = f"number {number}"
    return row.get("id", unnamed) if isinstance(row, dict) else unnamed


def _validate_row(where: str, row: Any, documents: Mapping[str, Any]) -> None:
    _fields(where, row, Row)
    _validate_source(where, row["source"], documents)
    _choice(where, "kind", row["kind"], KINDS)
    _choice(where, "expected", row["expected"], VERDICTS)
    for field in ("id", "brief", "statement", "statistic", "criterion", "tolerance", "quantity"):
        _text(where, field, row[field])
    if not ID.fullmatch(row["id"]):
        allowed = "letters, digits, '-', '_' and '.'"
        raise LedgerError(f"{where}: field 'id' must be of {allowed}; got {row['id']!r}")
    _validate_brief(where, row["brief"])
    _validate_controls(where, row)
    for field in ("note", "audit"):
        if field in row:
            _text(where, field, row[field])
    _validate_amendments(where, row.get("amended", []))


def _validate_brief(where: str, brief: str) -> None:
    """A page shows it as it is written, in the place of the statement."""
    if len(brief) > BRIEF or not brief.endswith(".") or "$" in brief:
        wanted = f"must be a sentence without formulas of at most {BRIEF} characters"
        raise LedgerError(f"{where}: field 'brief' {wanted}; got {brief!r}")


def _validate_amendments(where: str, amendments: Any) -> None:
    if not isinstance(amendments, list):
        raise LedgerError(f"{where}: field 'amended' must be a list of changes; got {amendments!r}")
    for number, amendment in enumerate(amendments, 1):
        here = f"{where}, field 'amended', number {number}"
        _fields(here, amendment, Amendment)
        if not _DATE.fullmatch(str(amendment["date"])):
            given = amendment["date"]
            raise LedgerError(f"{here}: field 'date' must read 2026-11-21; got {given!r}")
        for field in ("what", "why"):
            _text(here, field, amendment[field])
        if "commit" in amendment and not _COMMIT.fullmatch(str(amendment["commit"])):
            given = amendment["commit"]
            wanted = "must be the hash of a commit (or several, with commas), in quotation marks"
            raise LedgerError(f"{here}: field 'commit' {wanted}; got {given!r}")


def _validate_source(where: str, source: Any, documents: Mapping[str, Any]) -> None:
    """A printed claim has its words and how legible they are; one of our own has neither."""
    _fields(f"{where}, field 'source'", source, Source)
    _choice(where, "source.document", source["document"], documents)
    if source["document"] == OURS:
        for field in ("reading", "printed"):
            if field in source:
                raise LedgerError(
                    f"{where}: field 'source.{field}' is for printed claims, not ours"
                )
        return
    for field in ("reading", "printed"):
        if field not in source:
            raise LedgerError(f"{where}: field 'source.{field}' is missing")
    if "suggested_by" in source:
        raise LedgerError(f"{where}: field 'source.suggested_by' is for claims of ours only")
    _choice(where, "source.reading", source["reading"], READINGS)
    printed = source["printed"]
    for text in printed if isinstance(printed, list) and printed else [printed]:
        _text(where, "source.printed", text)


def _text(where: str, field: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip():
        raise LedgerError(f"{where}: field '{field}' must be non-empty text; got {text!r}")


def _validate_controls(where: str, row: Row) -> None:
    if not isinstance(row["controls"], dict):
        wanted = "must map each control's name to its kind and what it is"
        raise LedgerError(f"{where}: field 'controls' {wanted}; got {row['controls']!r}")
    for name, control in row["controls"].items():
        field = f"controls.{name}"
        _fields(f"{where}, field '{field}'", control, Control)
        _choice(where, f"{field}.kind", control["kind"], CONTROL_KINDS)
        _text(where, f"{field}.what", control["what"])
    if row["expected"] == NOT_TESTABLE and not row.get("note"):
        raise LedgerError(f"{where}: field 'note' must say why the row is not testable")
    if not row["controls"] and row["expected"] != NOT_TESTABLE:
        raise LedgerError(f"{where}: field 'controls' needs at least one control")


def _fields(where: str, given: Any, schema: Any) -> None:
    """Whether a mapping has the fields of a ``TypedDict``: the required ones and no unknown one."""
    if not isinstance(given, dict):
        raise LedgerError(f"{where}: must be a mapping; got {given!r}")
    required = schema.__required_keys__
    allowed = sorted(required | schema.__optional_keys__)
    for name in sorted(required - set(given)):
        raise LedgerError(f"{where}: field '{name}' is missing")
    for name in sorted(set(given) - set(allowed)):
        raise LedgerError(f"{where}: field '{name}' is unknown; allowed are {allowed}")


def _choice(where: str, field: str, value: Any, allowed: Collection[str]) -> None:
    if value not in allowed:
        options = list(allowed)
        raise LedgerError(f"{where}: field '{field}' must be one of {options}; got {value!r}")
