"""What a chapter shows, as data that a review can read: the reference in ``tests/expected``.

One entry a claim with its verdict, number, parts and controls; then the numbers in the prose, what
its open cells print, the displayed tables, and each figure's series with their values at five
places. Words are compared exactly. Numbers may differ as another machine's rounding makes them
differ: a claim's, a part's and a control's as :func:`claimbook.ledger.lines.distance` says, those
in prose, output and tables as :mod:`claimbook.checker.rounding` does, those of figures as
:mod:`claimbook.checker.drawn`. How it is written is :mod:`claimbook.checker.written`.
"""

import html
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from claimbook.checker import drawn, rounding
from claimbook.checker.drawn import Series, figure_differences, series_of
from claimbook.checker.rounding import alike
from claimbook.ledger import Record, outputs
from claimbook.ledger.comparison import Comparison
from claimbook.ledger.lines import USUAL_DOF, Number, distance, moved, rounded
from claimbook.ledger.schema import VERDICTS

SVG = "image/svg+xml"
_ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(?:td|th|caption)[^>]*>(.*?)</(?:td|th|caption)>", re.DOTALL)


class Part(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One comparison of a claim: its outcome, its number, what that was held against.

    ``dof`` are the degrees of freedom behind the half-width, where it has a number of them.
    """

    outcome: str
    value: float
    half_width: float
    against: str
    dof: float | None = None

    @property
    def number(self) -> Number:
        """The number with its half-width."""
        return Number(self.value, self.half_width)

    def distance(self, found: "Part") -> float:
        """How far the number of another run is from this one, in units of how far it may be."""
        return distance(self.number, found.number, self.known)

    @property
    def known(self) -> float:
        """The degrees of freedom, or the usual ones where nobody says them."""
        return self.dof or USUAL_DOF

    def __str__(self) -> str:
        return f"{self.outcome}: {self.number} {self.against}"


class Headline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim's verdict, and the number that it shows; a claim that was not tested has none."""

    id: str
    verdict: Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(VERDICTS)})$")]
    value: float | None = None
    half_width: float | None = None

    @property
    def number(self) -> Number | None:
        """The number with its half-width."""
        return None if self.value is None else Number(self.value, self.half_width or 0.0)

    def __str__(self) -> str:
        return self.verdict if self.value is None else f"{self.verdict} · {self.number}"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One claim: its verdict and number, its parts and controls."""

    claim: Headline
    parts: dict[str, Part]
    controls: dict[str, Part]

    @property
    def dof(self) -> float:
        """The degrees of freedom of the number that it shows: those of the part that it is."""
        same = (one.known for one in self.parts.values() if one.number == self.claim.number)
        return next(same, USUAL_DOF)


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is held of a chapter: its claims, and what else its page shows.

    That is the numbers in the prose, what open cells print, the tables and the figures.
    """

    entries: list[Claim] = msgspec.field(default_factory=list, name="claims")
    told: dict[str, str] = msgspec.field(default_factory=dict)
    printed: list[list[str]] = msgspec.field(default_factory=list)
    tables: list[list[str]] = msgspec.field(default_factory=list)
    figures: dict[str, list[Series]] = msgspec.field(default_factory=dict)

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims by their ids."""
        return {one.claim.id: one for one in self.entries}


# ------------------------------------------------------------------ from a run


def of_run(notebook: Any) -> Reference:
    """What the executed ``notebook`` shows."""
    claims = [claim_of(record) for record in outputs.records(notebook).values()]
    told = {name: str(value) for name, value in outputs.told(notebook).items()}
    shown = Reference(claims, told)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        lines = printed_lines(cell)
        if lines and not is_folded(cell):
            shown.printed.append(lines)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "<table" in "".join(data.get("text/html", "")):
                shown.tables.append(table_rows("".join(data["text/html"])))
            carried = output.get("metadata", {}).get(SVG, {})
            if "csv" in carried:
                options = cell.metadata.get("mystnb", {})
                name = options.get("figure", {}).get("name", f"figure {len(shown.figures) + 1}")
                shown.figures[name] = series_of(carried["csv"])
    return shown


def claim_of(record: Record) -> Claim:
    """What a reference holds of a record."""
    number = () if record.value is None else rounded(record.value, record.half_width or 0.0)
    parts, controls = (
        {name: part_of(one) for name, one in some.items()}
        for some in (record.parts, record.controls)
    )
    return Claim(Headline(record.id, record.verdict, *number), parts, controls)


def part_of(found: Comparison) -> Part:
    """What a reference holds of a comparison."""
    value, half_width = rounded(found.value, found.half_width)
    dof = found.dof if found.dof is None or not half_width else float(f"{found.dof:.3g}")
    return Part(found.outcome, value, half_width, found.against, dof)


def is_folded(cell: Any) -> bool:
    """Whether a reader has to unfold a cell, or never sees it; set-up is folded at the end."""
    tags = cell.metadata.get("tags", [])
    return any(str(tag).startswith(("hide", "remove", "setup")) for tag in tags)


def printed_lines(cell: Any) -> list[str]:
    """The lines of text that a cell printed, or shows as its value; verdicts are none."""
    texts = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream" and output["name"] == "stdout":
            texts.append(output["text"])
        elif set(output.get("data", {})) == {"text/plain"}:
            texts.append(output["data"]["text/plain"])
    return [line.rstrip() for text in texts for line in text.splitlines() if line.strip()]


def table_rows(text: str) -> list[str]:
    """The rows of an HTML table as text, the cells apart."""
    rows = []
    for row in _ROW.findall(text):
        cells = [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in _CELL.findall(row)]
        rows.append(" | ".join(" ".join(cell.split()) for cell in cells))
    return rows


# ------------------------------------------------------------------ compared


def claim_differences(
    expected: Claim, found: Claim, *, verdict_only: bool = False
) -> Iterator[str]:
    """Where a claim is another than it was: in its verdict or number, or else in what it compares.

    ``verdict_only`` leaves the numbers out, for other master seeds.
    """
    before, now = expected.claim, found.claim
    said = "" if verdict_only else moved(before.number, now.number, expected.dof)
    if now.verdict != before.verdict:
        said = f"the verdict changed from '{before.verdict}' to '{now.verdict}'"
    if said:
        yield f"{said}\n  expected  {before}\n  found     {now}"
    if said or verdict_only:
        return
    for what, old, new in (
        ("part", expected.parts, found.parts),
        ("control", expected.controls, found.controls),
    ):
        if list(old) != list(new):
            yield f"its {what}s are {list(new)}, and were {list(old)}"
            continue
        for name, part in old.items():
            said = part_difference(part, new[name])
            if said:
                yield f"{what} '{name}': {said}\n  expected  {part}\n  found     {new[name]}"


def part_difference(expected: Part, found: Part) -> str:
    """How a comparison differs from what it was; empty where it does not."""
    if expected.outcome != found.outcome:
        return f"the outcome changed from {expected.outcome} to {found.outcome}"
    if not alike(expected.against, found.against):
        return f"it is held against '{found.against}', and was against '{expected.against}'"
    return moved(expected.number, found.number, expected.known)


def page_differences(expected: Reference, found: Reference) -> Iterator[str]:
    """Where the prose, the outputs, the tables or the figures are others than they were."""
    before, now = texts_of(expected), texts_of(found)
    gone, new = ([*one.keys() - other.keys()] for one, other in ((before, now), (now, before)))
    if gone or new:
        yield f"only expected {sorted(gone)}, only found {sorted(new)}"
    for name, text in before.items():
        if name in now and not alike(text, now[name]):
            yield f"{name}\n  expected  {text}\n  found     {now[name]}"
    if list(expected.figures) != list(found.figures):
        yield f"the figures are {list(found.figures)}, and were {list(expected.figures)}"
        return
    for name, series in expected.figures.items():
        yield from figure_differences(name, series, found.figures[name])


def moves(expected: Reference, found: Reference) -> dict[str, float]:
    """How far each number that both show has moved, in units of how far it may: above 1 is red."""
    apart: dict[str, float] = {}
    for id, claim in expected.claims.items():
        if id not in found.claims:
            continue
        other = found.claims[id]
        for what, old, new in (
            ("part", claim.parts, other.parts),
            ("control", claim.controls, other.controls),
        ):
            both = {name: (part, new[name]) for name, part in old.items() if name in new}
            apart |= {f"{id}, {what} '{name}'": a.distance(b) for name, (a, b) in both.items()}
    before, now = texts_of(expected), texts_of(found)
    apart |= {name: rounding.distance(before[name], now[name]) for name in before if name in now}
    for name, figure in expected.figures.items():
        apart |= drawn.moves(name, figure, found.figures.get(name, []))
    return apart


def texts_of(page: Reference) -> dict[str, str]:
    """The numbers in the prose, and the lines of the outputs and tables, each with its place."""
    found = {f"told {name}": text for name, text in page.told.items()}
    for what, blocks in (("output", page.printed), ("table", page.tables)):
        for number, lines in enumerate(blocks, 1):
            found |= {f"{what} {number}, line {i}": line for i, line in enumerate(lines, 1)}
    return found
