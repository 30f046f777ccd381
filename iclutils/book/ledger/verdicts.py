"""The ledger: claims written down in ``book/claims.yml`` before they are measured, and the verdicts computed here.

A chapter opens its block, ``ledger = claims.Ledger("01_attention_window", seed=seed, ...)``, and calls
``ledger.check(id, parts, controls=...)`` once for every row. The verdict follows from the parts alone:

    all supported                       holds
    some supported                      holds in part
    none supported, all contradicted    fails
    none supported, some undecided      not testable (undecided at this sample size)

Where the row names a later source that corrects it (``superseded_by``), *holds in part* and *fails*
become *superseded*. A negative control that is *not* rejected makes the row *not testable*: a check
that a wrong formula passes proves nothing. A verdict never raises; ``tests/expected`` compares.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from iclutils import validation
from iclutils.statistics import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison

CLAIMS_FILE = Path(__file__).resolve().parents[1] / "book" / "claims.yml"

HOLDS, IN_PART, FAILS = "holds", "holds in part", "fails"
SUPERSEDED, NOT_TESTABLE = "superseded", "not testable"
VERDICTS = (HOLDS, IN_PART, FAILS, SUPERSEDED, NOT_TESTABLE)
KINDS = ("identity", "inequality", "rate", "limit", "ordering", "training outcome")
READINGS = ("clear", "mangled", "illegible")

_ID = re.compile(r"[\w.-]+")
_ROW = {"id", "source", "statement", "kind", "statistic", "criterion", "tolerance", "controls", "expected"}
_OPTIONAL = {"note", "superseded_by"}
_SOURCE = {"document", "place", "reading"}


class LedgerError(ValueError):
    """``claims.yml`` breaks the schema; the message names file, row and field."""


def _fields(where: str, given: Any, required: set[str], optional: frozenset[str] | set[str] = frozenset()) -> None:
    if not isinstance(given, dict):
        raise LedgerError(f"{where}: must be a mapping; got {given!r}")
    for name in sorted(required - set(given)):
        raise LedgerError(f"{where}: field '{name}' is missing")
    for name in sorted(set(given) - required - optional):
        raise LedgerError(f"{where}: field '{name}' is unknown; allowed are {sorted(required | optional)}")


def _choice(where: str, field: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise LedgerError(f"{where}: field '{field}' must be one of {list(allowed)}; got {value!r}")


def _validate_row(where: str, row: Any, documents: Mapping[str, Any]) -> None:
    _fields(where, row, _ROW, _OPTIONAL)
    _fields(f"{where}, field 'source'", row["source"], _SOURCE)
    _choice(where, "source.document", row["source"]["document"], tuple(documents))
    _choice(where, "source.reading", row["source"]["reading"], READINGS)
    _choice(where, "kind", row["kind"], KINDS)
    _choice(where, "expected", row["expected"], VERDICTS)
    for field in ("id", "statement", "statistic", "criterion", "tolerance"):
        if not isinstance(row[field], str) or not row[field].strip():
            raise LedgerError(f"{where}: field '{field}' must be non-empty text; got {row[field]!r}")
    if not _ID.fullmatch(row["id"]):
        raise LedgerError(f"{where}: field 'id' must be of letters, digits, '-', '_' and '.'; got {row['id']!r}")
    if not isinstance(row["controls"], dict):
        raise LedgerError(f"{where}: field 'controls' must map each control's name to what is wrong in it")
    if row["expected"] == NOT_TESTABLE and not row.get("note"):
        raise LedgerError(f"{where}: field 'note' must say why the row is not testable")
    if not row["controls"] and row["expected"] != NOT_TESTABLE:
        raise LedgerError(f"{where}: field 'controls' needs at least one negative control")


def load(path: Path = CLAIMS_FILE) -> dict[str, Any]:
    """Read and validate the ledger file; return ``{"documents": ..., "chapters": {name: {settings, claims}}}``.

    Raises ``LedgerError`` (a ``ValueError``) that names the chapter, the row and the field.
    """
    data = yaml.safe_load(path.read_text(encoding="utf8"))
    _fields(path.name, data, {"documents", "chapters"})
    for key, document in data["documents"].items():
        _fields(f"{path.name}, document {key}", document, {"title", "kind", "version"})
    seen: dict[str, str] = {}
    for chapter, block in data["chapters"].items():
        _fields(f"{path.name}, chapter {chapter}", block, {"settings", "claims"})
        if "seed" not in block["settings"]:
            raise LedgerError(f"{path.name}, chapter {chapter}: field 'settings' must hold 'seed'")
        for number, row in enumerate(block["claims"], 1):
            name = row.get("id", f"number {number}") if isinstance(row, dict) else f"number {number}"
            where = f"{path.name}, chapter {chapter}, row {name}"
            _validate_row(where, row, data["documents"])
            if row["id"] in seen:
                raise LedgerError(f"{where}: field 'id' is already used in chapter {seen[row['id']]}")
            seen[row["id"]] = chapter
    return data


@dataclass(frozen=True)
class Record:
    """What one check found; the page, the scorecard and the tests are all made from records."""

    chapter: str
    id: str
    verdict: str
    value: float | None
    half_width: float | None
    parts: dict[str, dict[str, Any]]
    controls: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    default_settings: bool
    why: str = ""

    def line(self) -> str:
        """The one line that is printed and compared: ``id · verdict · value ± half-width``."""
        number = "" if self.value is None else f" · {format_value(self.value, self.half_width or 0.0)}"
        return f"{self.id} · {self.verdict}{number}"


def format_value(value: float, half_width: float) -> str:
    """``0.3312, 0.012 → '0.331 ± 0.012'``: the half-width to two digits, the value to the same place."""
    if half_width == 0:
        return f"{value:.0f} ± 0" if value == int(value) else f"{value:.12g} ± 0"
    power = math.floor(math.log10(max(abs(value), half_width)))
    scale = power if power >= 5 or power <= -4 else 0
    value, half_width = value / 10.0**scale, half_width / 10.0**scale
    places = max(0, 1 - math.floor(math.log10(half_width)))
    body = f"{value:.{places}f} ± {half_width:.{places}f}"
    return f"({body})e{scale:+03d}" if scale else body


def verdict_of(outcomes: list[str], superseded: bool = False) -> str:
    """The verdict that a row's part outcomes give (the table at the top of this module)."""
    if all(o == SUPPORTED for o in outcomes):
        return HOLDS
    if any(o == SUPPORTED for o in outcomes):
        return SUPERSEDED if superseded else IN_PART
    if any(o == UNDECIDED for o in outcomes):
        return NOT_TESTABLE
    return SUPERSEDED if superseded else FAILS


class Ledger:
    """One chapter's block of the ledger: checks its rows, prints a line each and records them for the site."""

    def __init__(self, chapter: str, *, path: Path = CLAIMS_FILE, **settings: Any) -> None:
        """Open the block of ``chapter``; ``settings`` are the chapter's knobs, compared with the block's defaults.

        Raises ``KeyError`` for an unknown chapter and ``ValueError`` where the knobs are not those of the block.
        """
        chapters = load(path)["chapters"]
        validation.one_of("chapter", chapter, chapters)
        block = chapters[chapter]
        if set(settings) != set(block["settings"]):
            raise ValueError(f"settings of {chapter} must be {sorted(block['settings'])}; got {sorted(settings)}")
        self.chapter = chapter
        self.rows = {row["id"]: row for row in block["claims"]}
        self.settings = settings
        self.default_settings = settings == block["settings"]
        self.records: dict[str, Record] = {}

    def check(self, id: str, parts: Comparison | Mapping[str, Comparison], *,
              controls: Mapping[str, Comparison], value: Comparison | float | None = None,
              half_width: float | None = None) -> Record:
        """Judge one row: ``parts`` are its comparisons, ``controls`` the ones that must *not* be supported.

        ``value`` is the number that the ledger shows: a Comparison, or a float with ``half_width``
        (0 only for a count); a single part is its own value. Raises ``KeyError`` for an id that is
        not in the chapter's block, ``ValueError`` for a second check of a row, for controls other
        than the row's, and for a value that is not finite.
        """
        row = self._row(id)
        named = {"": parts} if isinstance(parts, Comparison) else dict(parts)
        if not named:
            raise ValueError(f"parts of {id} must hold at least one comparison; got none")
        if set(controls) != set(row["controls"]):
            raise ValueError(f"controls of {id} must be {sorted(row['controls'])}; got {sorted(controls)}")
        headline = parts if isinstance(parts, Comparison) and value is None else value
        if isinstance(headline, Comparison):
            value, half_width = headline.value, headline.half_width
        if value is None or isinstance(value, Comparison) or half_width is None or not math.isfinite(value + half_width):
            raise ValueError(f"value and half_width of {id} must be finite numbers; got {value!r} ± {half_width!r}")
        verdict = verdict_of([part.outcome for part in named.values()], "superseded_by" in row)
        passed = [name for name, control in controls.items() if control.outcome == SUPPORTED]
        why = "undecided at this sample size" if verdict == NOT_TESTABLE else ""
        if passed:
            verdict, why = NOT_TESTABLE, f"negative control passed: {', '.join(passed)}"
        return self._record(Record(
            self.chapter, id, verdict, float(value), float(half_width),
            {name: asdict(part) for name, part in named.items()},
            {name: asdict(control) for name, control in controls.items()},
            self.settings, self.default_settings, why))

    def not_testable(self, id: str) -> Record:
        """Record a row that cannot be tested, with the reason that the row's ``note`` gives."""
        row = self._row(id)
        if row["expected"] != NOT_TESTABLE:
            raise ValueError(f"{id} is expected to be '{row['expected']}': check it; only rows with a reason are not testable")
        return self._record(Record(self.chapter, id, NOT_TESTABLE, None, None, {}, {}, self.settings,
                                   self.default_settings, row["note"]))

    def _row(self, id: str) -> dict[str, Any]:
        validation.one_of("id", id, self.rows)
        if id in self.records:
            raise ValueError(f"{id} is already checked in {self.chapter}; a row has one check")
        return self.rows[id]

    def _record(self, record: Record) -> Record:
        self.records[record.id] = record
        prefix = "" if record.default_settings else "at your settings: "
        print(prefix + record.line() + (f"  ({record.why})" if record.why else ""))
        tell(**{f"claim:{record.id}": json.dumps(asdict(record), ensure_ascii=False)})
        return record


def tell(**values: Any) -> None:
    """Glue values under their names for the page: ``tell(slope="0.31")``, then ``{glue:text}`slope``` in the prose.

    Outside a notebook it does nothing.
    """
    from IPython import get_ipython

    if get_ipython() is None:
        return
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value, display=False)


def outcomes(comparisons: Mapping[str, Comparison]) -> str:
    """A short count for prose, ``'7 of 9 supported, 1 contradicted, 1 undecided'``."""
    found = [c.outcome for c in comparisons.values()]
    rest = [f"{found.count(o)} {o}" for o in (CONTRADICTED, UNDECIDED) if o in found]
    return ", ".join([f"{found.count(SUPPORTED)} of {len(found)} supported", *rest])


AT_YOUR_SETTINGS = "at your settings: "  # marks the lines of a chapter whose knobs are turned
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)"
_LINE = re.compile(
    rf"(?P<id>{_ID.pattern}) · (?P<verdict>{'|'.join(sorted(VERDICTS, key=len, reverse=True))})"
    rf"(?: · (?P<open>\()?(?P<value>{_NUMBER}) ± (?P<half>{_NUMBER})(?(open)\)e(?P<power>[-+]\d+)))?"
    r"(?:  \((?P<why>.*)\))?")


@dataclass(frozen=True)
class Line:
    """One printed claim, read back: what ``tests/expected`` holds and what a chapter's run is compared with."""

    id: str
    verdict: str
    value: float | None
    half_width: float | None
    text: str

    def __str__(self) -> str:
        return self.text


def parse_line(text: str) -> Line:
    """Read ``id · verdict · value ± half-width`` (the number and a trailing ``  (why)`` may be absent).

    Raises ``ValueError`` for any other text.
    """
    match = _LINE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"text must read 'id · verdict · value ± half-width' with a verdict of {list(VERDICTS)}; got {text!r}")
    plain = text if match["why"] is None else text[:match.start("why") - 3]
    if match["value"] is None:
        return Line(match["id"], match["verdict"], None, None, plain)
    power = f"e{match['power']}" if match["power"] else ""
    return Line(match["id"], match["verdict"], float(match["value"] + power), float(match["half"] + power), plain)


def disagreement(expected: Line, found: Line, *, verdict_only: bool = False) -> str:
    """What is wrong with ``found``, in words, or ``""``: the verdict must be the same, the value within the expected ±.

    The half-width itself must agree within a factor of 1.5 (an error bar that has grown would hide a wrong
    value), and a value whose half-width is 0 is a count and must agree exactly.
    """
    if found.verdict != expected.verdict:
        return f"the verdict changed from '{expected.verdict}' to '{found.verdict}'"
    if verdict_only:
        return ""
    if expected.value is None or found.value is None or expected.half_width is None or found.half_width is None:
        return "" if expected.value == found.value else "one of the two lines has no value"
    gap = abs(found.value - expected.value)
    if expected.half_width == 0 or found.half_width == 0:
        if expected.half_width != found.half_width:
            return "one of the two values is a count (± 0) and the other is not"
        return "" if gap == 0 else f"the count changed by {found.value - expected.value:+g}"
    if gap > expected.half_width:
        return f"the value moved by {gap:.3g}, which is {gap / expected.half_width:.3g} times the expected ±"
    ratio = found.half_width / expected.half_width
    if not 1 / 1.5 <= ratio <= 1.5:
        return f"the half-width changed by the factor {ratio:.3g}; it may change by 1.5"
    return ""
