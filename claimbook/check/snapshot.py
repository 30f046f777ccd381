"""What a page shows, as data that a review can read and that ``tests/expected`` holds.

One entry a claim with its verdict, number, parts and controls; then the numbers in the prose, what
its open cells print, the displayed tables, and each figure's series at five places.

    python -m claimbook.check.snapshot NAME …      write tests/expected from the pages' runs
"""

import html
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from claimbook.check.agreement import USUAL_DOF
from claimbook.check.figure_snapshot import Series, series_of
from claimbook.files import ROOT, write_atomically
from claimbook.ledger import Record
from claimbook.ledger.comparison import Comparison
from claimbook.ledger.record import glued, records
from claimbook.ledger.schema import VERDICTS
from claimbook.ledger.text import Number, rounded
from claimbook.pages import chapter_path, code_cells, toc_chapters
from claimbook.runs.notebooks import current

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

    def __str__(self) -> str:
        return f"{self.outcome}: {self.number} {self.against}"


class Headline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim's verdict, and the number that it shows."""

    id: str
    verdict: Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(VERDICTS)})$")]
    value: float
    half_width: float

    @property
    def number(self) -> Number:
        """The number with its half-width."""
        return Number(self.value, self.half_width)

    def __str__(self) -> str:
        return f"{self.verdict} · {self.number}"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One claim: its verdict and number, its parts and controls."""

    claim: Headline
    parts: dict[str, Part]
    controls: dict[str, Part]

    @classmethod
    def of(cls, record: Record) -> "Claim":
        """Take from a record what a snapshot holds."""
        number = rounded(record.value or 0.0, record.half_width or 0.0)
        parts, controls = (
            {name: part_of(one) for name, one in some.items()}
            for some in (record.parts, record.controls)
        )
        return cls(Headline(record.id, record.verdict, *number), parts, controls)

    @property
    def dof(self) -> float:
        """The degrees of freedom of the number that it shows: those of the part that it is."""
        same = (part.dof for part in self.parts.values() if part.number == self.claim.number)
        return next(same, None) or USUAL_DOF


def part_of(found: Comparison) -> Part:
    """Take from a comparison what a snapshot holds."""
    value, half_width = rounded(found.value, found.half_width)
    dof = found.dof if found.dof is None or not half_width else float(f"{found.dof:.3g}")
    return Part(found.outcome, value, half_width, found.against, dof)


class Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claims of a page, the numbers in its prose, its open outputs, tables and figures."""

    entries: list[Claim] = msgspec.field(default_factory=list, name="claims")
    told: dict[str, str] = msgspec.field(default_factory=dict)
    printed: list[list[str]] = msgspec.field(default_factory=list)
    tables: list[list[str]] = msgspec.field(default_factory=list)
    figures: dict[str, list[Series]] = msgspec.field(default_factory=dict)

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims by their ids."""
        return {one.claim.id: one for one in self.entries}

    @property
    def texts(self) -> dict[str, str]:
        """The numbers in the prose, and the lines of outputs and tables, each with its place."""
        texts = {f"told {name}": text for name, text in self.told.items()}
        for what, blocks in (("output", self.printed), ("table", self.tables)):
            for number, lines in enumerate(blocks, 1):
                texts |= {f"{what} {number}, line {i}": line for i, line in enumerate(lines, 1)}
        return texts

    @classmethod
    def of(cls, notebook: Any) -> "Snapshot":
        """Take the snapshot of an executed page."""
        claims = [Claim.of(record) for record in records(notebook).values()]
        told = {name: str(value) for name, value in glued(notebook).items()}
        snapshot = cls(claims, told)
        for cell in code_cells(notebook):
            lines = printed_lines(cell)
            if lines and not is_folded(cell):
                snapshot.printed.append(lines)
            for output in cell.get("outputs", []):
                table = "".join(output.get("data", {}).get("text/html", ""))
                if "<table" in table:
                    snapshot.tables.append(table_rows(table))
                carried = output.get("metadata", {}).get(SVG, {})
                if "csv" in carried:
                    figure = cell.metadata.get("mystnb", {}).get("figure", {})
                    name = figure.get("name", f"figure {len(snapshot.figures) + 1}")
                    snapshot.figures[name] = series_of(carried["csv"])
        return snapshot

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """Read what :meth:`to_yaml` wrote.

        Raises ``ValueError`` for anything else, and for two entries of one claim.
        """
        try:
            snapshot = msgspec.yaml.decode(text, type=cls)
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from None
        ids = [one.claim.id for one in snapshot.entries]
        twice = [id for id in snapshot.claims if ids.count(id) > 1]
        if twice:
            raise ValueError(f"two entries for {twice[0]}")
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


# ------------------------------------------------------------------ files


class _Dumper(yaml.SafeDumper):
    """Writes snapshots."""


def _fields(dumper: _Dumper, one: msgspec.Struct) -> yaml.Node:
    named = [(field.encode_name, getattr(one, field.name)) for field in msgspec.structs.fields(one)]
    given = [(name, value) for name, value in named if value not in ("", None)]
    on_one_line = isinstance(one, Headline | Series)
    return dumper.represent_mapping("tag:yaml.org,2002:map", given, on_one_line)


def _array(dumper: _Dumper, part: Part) -> yaml.Node:
    fields = [one for one in msgspec.structs.astuple(part) if one is not None]
    return dumper.represent_sequence("tag:yaml.org,2002:seq", fields, flow_style=True)


def _number(dumper: _Dumper, number: float) -> yaml.Node:
    """Write a whole number without its decimal point."""
    if number.is_integer() and abs(number) < 1e15:
        return dumper.represent_int(int(number))
    return dumper.represent_float(number)


_Dumper.add_multi_representer(msgspec.Struct, _fields)
_Dumper.add_representer(Part, _array)
_Dumper.add_representer(float, _number)


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
        return Snapshot.parse(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def write_expected(page: str, notebook: Any, root: Path = ROOT) -> None:
    """Make what an executed page shows its reference."""
    head = f"# What {page} shows. Rewrite with: make expected NAME={page}\n"
    write_atomically(expected_path(page, root), Snapshot.of(notebook).to_yaml(head))


def main(pages: list[str]) -> int:
    """Write the references of some pages from their runs; name the pages that may not be."""
    from claimbook.check.rules import breaches

    status = 0
    for page in pages or toc_chapters():
        run = current(chapter_path(page))
        refused = ["it has no run that is current"] if run is None else breaches(page, run.notebook)
        for said in refused:
            print(f"{page}: not written: {said}")
            status, run = 1, None
        if run is not None:
            write_expected(page, run.notebook)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
