"""What a chapter shows, as text that a review can read: the reference in ``tests/expected``.

One entry a claim with its line, its parts and its controls; then the numbers in the prose, the
displayed tables, and each figure's series with their values at five places. Words are compared
exactly. Numbers may differ as another machine's rounding makes them differ: a claim's, a part's and
a control's as :func:`iclutils.book.ledger.lines.disagreement` says, those in prose and tables as
:mod:`iclutils.book.checker.rounding` does, those of figures as :mod:`iclutils.book.checker.drawn`.
"""

import csv
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from iclutils.book.checker.drawn import AXES, DOT, PLACES, Series, figure_differences
from iclutils.book.checker.rounding import alike
from iclutils.book.ledger import Record, format_value
from iclutils.book.ledger.lines import Line, disagreement, parse_line, parse_number
from iclutils.book.runs import cache
from iclutils.ground.statistics import Comparison

SVG = "image/svg+xml"
_ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(?:td|th|caption)[^>]*>(.*?)</(?:td|th|caption)>", re.DOTALL)


@dataclass(frozen=True)
class Claim:
    """One claim: its line, and its parts and controls as ``outcome · value ± half · condition``."""

    line: Line
    parts: Mapping[str, str] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """What else a chapter's page shows: numbers in the prose, tables, figures."""

    told: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Sequence[str]] = ()
    figures: Mapping[str, Mapping[str, Series]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reference:
    """All that is held of a chapter."""

    claims: Mapping[str, Claim] = field(default_factory=dict)
    page: Page = field(default_factory=Page)


# ------------------------------------------------------------------ from a run


def of_run(notebook: Any, lines: Mapping[str, Line]) -> Reference:
    """What the executed ``notebook`` shows, whose printed claims are ``lines``."""
    records = cache.records(notebook)
    claims = {id: claim_of(line, records.get(id)) for id, line in lines.items()}
    return Reference(claims, page_of(notebook))


def claim_of(line: Line, record: Record | None) -> Claim:
    """A claim with the comparisons of its record."""
    if record is None:
        return Claim(line)
    parts = {name: comparison_text(part) for name, part in record.parts.items()}
    controls = {name: comparison_text(one) for name, one in record.controls.items()}
    return Claim(line, parts, controls)


def comparison_text(part: Comparison) -> str:
    """One comparison in a line: ``supported · 0.331 ± 0.012 · > 0``."""
    number = format_value(part.value, part.half_width)
    return DOT.join((part.outcome, number, part.against))


def page_of(notebook: Any) -> Page:
    """The prose's numbers, the tables and the figures of an executed notebook."""
    told = {
        name: str(value) for name, value in cache.glued(notebook) if not name.startswith("claim:")
    }
    tables = []
    figures: dict[str, Mapping[str, Series]] = {}
    for cell in notebook.cells:
        outputs = cell.get("outputs", []) if cell.cell_type == "code" else []
        for output in outputs:
            data = output.get("data", {})
            if "<table" in "".join(data.get("text/html", "")):
                tables.append(table_rows("".join(data["text/html"])))
            carried = output.get("metadata", {}).get(SVG, {})
            if "csv" in carried:
                options = cell.metadata.get("mystnb", {})
                name = options.get("figure", {}).get("name", f"figure {len(figures) + 1}")
                figures[name] = series_of(carried["csv"])
    return Page(told, tables, figures)


def table_rows(text: str) -> list[str]:
    """The rows of an HTML table as text, the cells apart."""
    rows = []
    for row in _ROW.findall(text):
        cells = [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in _CELL.findall(row)]
        rows.append(" | ".join(" ".join(cell.split()) for cell in cells))
    return rows


def series_of(text: str) -> dict[str, Series]:
    """The series of a figure's table: how many points, and each axis at five places."""
    grouped: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        key = tuple(row.get(name, "") for name in ("panel", "title", "series", "kind", "colour"))
        grouped.setdefault(key, []).append(row)
    found: dict[str, Series] = {}
    for (panel, title, series, kind, colour), rows in grouped.items():
        name = DOT.join(piece for piece in (panel, title, series, kind, colour) if piece)
        shown: Series = {"points": len(rows)}
        picked = [rows[place] for place in places(len(rows))]
        for axis in AXES:
            values = [row.get(axis, "") for row in picked]
            if any(values):
                shown[axis] = " ".join(shortened(value) for value in values)
        found[name] = shown
    return found


def places(count: int) -> list[int]:
    """Five places of a series, its ends among them; all of a shorter one."""
    if count <= PLACES:
        return list(range(count))
    return [round(step * (count - 1) / (PLACES - 1)) for step in range(PLACES)]


def shortened(value: str) -> str:
    """A number of a figure to four digits; words as they are, without spaces."""
    try:
        return f"{float(value):.4g}"
    except ValueError:
        return value.replace(" ", "_") or "-"


# ------------------------------------------------------------------ as text


def write(reference: Reference, head: str) -> str:
    """The reference as YAML under ``head``."""
    claims = [
        {"line": str(one.line), "parts": dict(one.parts), "controls": dict(one.controls)}
        for one in reference.claims.values()
    ]
    page = reference.page
    figures = {name: dict(series) for name, series in page.figures.items()}
    tables = [list(table) for table in page.tables]
    data = {"claims": claims, "told": dict(page.told), "tables": tables, "figures": figures}
    return head + yaml.safe_dump(data, allow_unicode=True, width=1000, sort_keys=False)


def parse(text: str) -> Reference:
    """Read what :func:`iclutils.book.checker.reference.write` wrote.

    Raises ``ValueError`` for anything else, and for two entries of one claim.
    """
    data = yaml.safe_load(text)
    names = {"claims", "told", "tables", "figures"}
    if not isinstance(data, dict) or set(data) != names or not data["claims"]:
        raise ValueError(f"must hold {sorted(names)}, with at least one claim")
    claims: dict[str, Claim] = {}
    for entry in data["claims"]:
        if not isinstance(entry, dict) or set(entry) != {"line", "parts", "controls"}:
            raise ValueError(f"a claim must have line, parts and controls; got {entry!r}")
        line = parse_line(entry["line"])
        if line.id in claims:
            raise ValueError(f"two entries for {line.id}")
        claims[line.id] = Claim(line, entry["parts"], entry["controls"])
    page = Page(data["told"], data["tables"], data["figures"])
    return Reference(claims, page)


# ------------------------------------------------------------------ compared


def claim_differences(expected: Claim, found: Claim) -> Iterator[str]:
    """Where a claim's parts and controls are others than they were."""
    for what, old, new in (
        ("part", expected.parts, found.parts),
        ("control", expected.controls, found.controls),
    ):
        if list(old) != list(new):
            yield f"its {what}s are {list(new)}, and were {list(old)}"
            continue
        for name, text in old.items():
            said = comparison_difference(text, new[name])
            if said:
                yield f"{what} '{name}': {said}\n  expected  {text}\n  found     {new[name]}"


def comparison_difference(expected: str, found: str) -> str:
    """How a comparison differs from what it was; empty where it does not."""
    old, new = expected.split(DOT), found.split(DOT)
    if old[0] != new[0]:
        return f"the outcome changed from {old[0]} to {new[0]}"
    if not alike(old[2], new[2]):
        return f"it is held against '{new[2]}', and was against '{old[2]}'"
    lines = [Line("", one[0], *parse_number(one[1]), DOT.join(one)) for one in (old, new)]
    return disagreement(*lines)


def page_differences(expected: Page, found: Page) -> Iterator[str]:
    """Where the prose, the tables or the figures are others than they were."""
    yield from told_differences(expected.told, found.told)
    if len(expected.tables) != len(found.tables):
        yield f"{len(found.tables)} tables, and there were {len(expected.tables)}"
    else:
        for number, (old, new) in enumerate(zip(expected.tables, found.tables, strict=True), 1):
            if len(old) != len(new):
                yield f"table {number} has {len(new)} rows, and had {len(old)}"
                continue
            for before, now in zip(old, new, strict=True):
                if not alike(before, now):
                    yield f"table {number}\n  expected  {before}\n  found     {now}"
    if list(expected.figures) != list(found.figures):
        yield f"the figures are {list(found.figures)}, and were {list(expected.figures)}"
        return
    for name, series in expected.figures.items():
        yield from figure_differences(name, series, found.figures[name])


def told_differences(expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """Where a number in the prose is another."""
    if set(expected) != set(found):
        missing, added = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
        yield f"told: only expected {missing}, only found {added}"
        return
    for name, text in expected.items():
        if not alike(text, found[name]):
            yield f"told {name}\n  expected  {text}\n  found     {found[name]}"
