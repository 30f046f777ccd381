"""What a page shows, as data that a review can read and that ``tests/expected`` holds.

One entry a claim with its verdict, number, parts and controls; then the numbers in the prose, what
its open cells print, the displayed tables, and each figure's series at five places.

    python -m claimbook.check.snapshot NAME …      write tests/expected from the pages' runs
"""

import html
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from claimbook.check.agreement import distance, text_distance
from claimbook.check.figure_snapshot import Series, entries_of, series_of
from claimbook.files import ROOT, write_atomically
from claimbook.ledger import Record
from claimbook.ledger.audit import complaints
from claimbook.ledger.comparison import Comparison, Measured
from claimbook.ledger.record import glued, records
from claimbook.ledger.schema import VERDICTS, load
from claimbook.ledger.text import format_value, rounded
from claimbook.pages import chapter_path, code_cells, toc_chapters
from claimbook.runs.notebooks import current

PAGE = "page"  # the owner of what belongs to no claim
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
    against: str = ""
    dof: float | None = None

    @classmethod
    def of(cls, one: Comparison) -> "Part":
        """Take from a comparison what a snapshot holds."""
        value, half_width = rounded(one.value, one.half_width)
        dof = float(f"{one.dof:.3g}") if one.dof is not None and half_width else one.dof
        return cls(one.outcome, value, half_width, one.against, dof)

    def distance(self, actual: "Part") -> float:
        """Measure how far it moved; infinite for another outcome or condition."""
        same = text_distance(self.against, actual.against) <= 1
        if self.outcome != actual.outcome or not same:
            return math.inf
        return distance(self.number, actual.number)

    @property
    def number(self) -> Measured:
        """The number with its half-width."""
        return Measured(self.value, self.half_width, self.dof or math.inf)

    def __str__(self) -> str:
        number = format_value(self.value, self.half_width)
        return f"{self.outcome} · {number} {self.against}".rstrip()


class Headline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim's verdict, and the number that it shows."""

    id: str
    verdict: Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(VERDICTS)})$")]
    value: float
    half_width: float


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One claim: its verdict and number, its parts and controls."""

    claim: Headline
    parts: dict[str, Part]
    controls: dict[str, Part]

    @classmethod
    def of(cls, record: Record) -> "Claim":
        """Take from a record what a snapshot holds."""
        number = rounded(record.value, record.half_width)
        parts = {name: Part.of(one) for name, one in record.parts.items()}
        controls = {name: Part.of(one) for name, one in record.controls.items()}
        return cls(Headline(record.id, record.verdict, *number), parts, controls)

    @property
    def contents(self) -> dict[str, Part]:
        """All comparisons by their places; first the verdict, as one of the number shown.

        That number has the degrees of freedom of the part that it is.
        """
        shown = (self.claim.value, self.claim.half_width)
        same = [one.dof for one in self.parts.values() if (one.value, one.half_width) == shown]
        everything = {"": Part(self.claim.verdict, *shown, dof=next(iter(same), None))}
        for what, group in (("part", self.parts), ("control", self.controls)):
            everything |= {f"{what} '{name}'": one for name, one in group.items()}
        return everything


class Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claims of a page, the numbers in its prose, its open outputs, tables and figures."""

    entries: list[Claim] = msgspec.field(default_factory=list, name="claims")
    texts: dict[str, str] = msgspec.field(default_factory=dict, name="told")  # by glue_text
    printed: list[list[str]] = msgspec.field(default_factory=list)
    tables: list[list[str]] = msgspec.field(default_factory=list)
    figures: dict[str, list[Series]] = msgspec.field(default_factory=dict)

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims by their ids."""
        return {one.claim.id: one for one in self.entries}

    @property
    def contents(self) -> dict[tuple[str, str], Any]:
        """All that it holds, by owner (a claim's id, or ``PAGE``) and what it is there."""
        rest: dict[str, Any] = {f"told {name}": text for name, text in self.texts.items()}
        for what, blocks in (("output", self.printed), ("table", self.tables)):
            for number, lines in enumerate(blocks, 1):
                rest |= {f"{what} {number}, line {i}": line for i, line in enumerate(lines, 1)}
        for name, figure in self.figures.items():
            rest |= {name: "a figure"}
            rest |= {f"{name}, {axis}": entries for axis, entries in entries_of(figure)}
        shown: dict[tuple[str, str], Any] = {(PAGE, what): one for what, one in rest.items()}
        for id, claim in self.claims.items():
            shown |= {(id, what): part for what, part in claim.contents.items()}
        return shown

    @classmethod
    def of(cls, notebook: Any) -> "Snapshot":
        """Take the snapshot of an executed page."""
        claims = [Claim.of(record) for record in records(notebook).values()]
        snapshot = cls(claims, {name: str(value) for name, value in glued(notebook).items()})
        for cell in code_cells(notebook):
            lines = printed_lines(cell)
            if lines and not is_folded(cell):
                snapshot.printed.append(lines)
            for output in cell.get("outputs", []):
                table = "".join(output.get("data", {}).get("text/html", ""))
                if "<table" in table:
                    snapshot.tables.append(table_rows(table))
                csv = output.get("metadata", {}).get(SVG, {}).get("csv")
                if csv is not None:
                    figure = cell.metadata.get("mystnb", {}).get("figure", {})
                    name = figure.get("name", f"figure {len(snapshot.figures) + 1}")
                    snapshot.figures[name] = series_of(csv)
        return snapshot

    def to_yaml(self, head: str = "") -> str:
        """Write the snapshot as YAML under ``head``, with a line for a part or a series."""
        text = yaml.dump(self, Dumper=_Dumper, allow_unicode=True, width=10**6, sort_keys=False)
        return head + text


def is_folded(cell: Any) -> bool:
    """Tell whether a reader has to unfold a cell, or never sees it."""
    tags = cell.metadata.get("tags", [])
    return any(str(tag).startswith(("hide", "remove", "setup")) for tag in tags)


def printed_lines(cell: Any) -> list[str]:
    """List the lines of text that a cell printed, or shows as its value; verdicts are none."""
    texts = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream" and output["name"] == "stdout":
            texts.append(output["text"])
        elif set(output.get("data", {})) == {"text/plain"}:
            texts.append(output["data"]["text/plain"])
    return [line.rstrip() for text in texts for line in text.splitlines() if line.strip()]


def table_rows(text: str) -> list[str]:
    """Write the rows of an HTML table as text, the cells apart."""
    rows = []
    for row in _ROW.findall(text):
        cells = [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in _CELL.findall(row)]
        rows.append(" | ".join(" ".join(cell.split()) for cell in cells))
    return rows


def differences(expected: Snapshot, actual: Snapshot) -> dict[str, list[str]]:
    """Say by claim, and for the rest of the page, what moved further than it may.

    What only one of the two shows is a difference, too.
    """
    before, after = expected.contents, actual.contents
    faults: dict[str, list[str]] = {}
    for owner, what in before | after:
        old, new = before.get((owner, what)), after.get((owner, what))
        if new is None:
            fault = f"expected, but not found: {old}"
        elif old is None:
            fault = f"found, but not in tests/expected: {new}"
        else:
            far = text_distance(old, new) if isinstance(old, str) else old.distance(new)
            if far <= 1:
                continue
            is_number = math.isfinite(far)
            how = f"moved {far:.3g} times as far as it may" if is_number else "is another"
            fault = f"{how}\n  expected  {old}\n  found     {new}"
        faults.setdefault(owner, []).append(f"{what}: {fault}" if what else fault)
    return faults


class _Dumper(yaml.SafeDumper):
    """Writes a claim's verdict, a part and a series on one line each, and no empty field."""


def _struct(dumper: _Dumper, one: msgspec.Struct) -> Any:
    fields: Any = {it.encode_name: getattr(one, it.name) for it in msgspec.structs.fields(one)}
    fields = {name: value for name, value in fields.items() if value not in ("", None)}
    node: Any = dumper.represent_data([*fields.values()] if isinstance(one, Part) else fields)
    node.flow_style = isinstance(one, Headline | Part | Series)
    return node


def _number(dumper: _Dumper, number: float) -> yaml.Node:
    """Write a whole number without its decimal point."""
    is_whole = number.is_integer() and abs(number) < 1e15
    return dumper.represent_int(int(number)) if is_whole else dumper.represent_float(number)


_Dumper.add_multi_representer(msgspec.Struct, _struct)
_Dumper.add_representer(float, _number)


def breaches(page: str, notebook: Any) -> Iterator[str]:
    """Say which rules an executed page breaks.

    Folded cells print nothing; nothing is warned of; each row of the page's block is checked, in a
    way that could have come out otherwise, and at the ledger's settings.
    """
    for number, cell in enumerate(code_cells(notebook), 1):
        if is_folded(cell):
            for line in printed_lines(cell):
                yield f"printed by a folded cell: cell {number}: {line}"
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream" and output["name"] == "stderr":
                yield f"a cell wrote to stderr: cell {number}: {output['text'].strip()}"
    checks = records(notebook)
    for row in load().chapters[page].claims:
        if row.id in checks:
            yield from complaints(checks[row.id], row)
        else:
            yield f"{row.id}: this row of book/claims.yml has no check in the page"
    if not all(record.default_settings for record in checks.values()):
        yield "the page's knobs are not at the settings of its block ('at your settings')"


def expected_path(page: str, root: Path = ROOT) -> Path:
    """Locate the reference of a page."""
    return root / "tests" / "expected" / f"{page}.yml"


def read_expected(page: str, root: Path = ROOT) -> Snapshot:
    """Read the reference of a page.

    Raises ``ValueError`` where the file is missing, or is none that ``make expected`` wrote.
    """
    path = expected_path(page, root)
    where = path.relative_to(root)
    if not path.exists():
        raise ValueError(f"{where} is missing; write it with: make expected NAME={page}")
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=Snapshot)
    except msgspec.DecodeError as error:
        raise ValueError(f"{where}: {error}") from None


def main(pages: list[str]) -> int:
    """Write the references of some pages from their runs; name the pages that may not be."""
    status = 0
    for page in pages or toc_chapters():
        run = current(chapter_path(page))
        if run is None:
            refusals = ["it has no run that is current"]
        else:
            refusals = list(breaches(page, run.notebook))
        if run is not None and not refusals:
            head = f"# What {page} shows. Rewrite with: make expected NAME={page}\n"
            write_atomically(expected_path(page), Snapshot.of(run.notebook).to_yaml(head))
        for refusal in refusals:
            print(f"{page}: not written: {refusal}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
