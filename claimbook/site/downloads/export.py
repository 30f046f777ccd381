"""The ledger as data: ``ledger.csv`` and ``ledger.json`` beside the page of all rows."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from claimbook.pages import CHAPTERS
from claimbook.site.results import Entry, Results, row_anchor
from claimbook.site.words import quotations

FILES = {
    "book/ledger.csv": "one line a row",
    "book/ledger.json": "the same with the parts and controls as they nest",
}
SOURCE = ("document", "place", "reading", "printed", "suggested_by")
WRITTEN = (
    "kind",
    "brief",
    "statement",
    "statistic",
    "tolerance",
    "quantity",
    "expected",
)
MAY_BE_WRITTEN = ("amended", "audit", "note")
FOUND = ("verdict", "finding", "value", "half_width", "default_settings", "why", "parts")
ORIGIN = ("commit", "clean", "environment", "date")


def ledger_row(entry: Entry, results: Results) -> dict[str, Any]:
    """A row as written before measuring, and what this build's run found."""
    chapter, row = entry
    record = results.record(chapter, row["id"])
    run = results.run(chapter)
    found = asdict(record)
    controls = {
        name: {**control, **found["controls"].get(name, {})}
        for name, control in row["controls"].items()
    }
    out: dict[str, Any] = {
        "chapter": chapter,
        "id": row["id"],
        "anchor": f"{CHAPTERS.name}/{results.cards(chapter)}.html#{row_anchor(row['id'])}",
    }
    out |= {field: row["source"].get(field) for field in SOURCE}
    out["printed"] = quotations(row)
    out |= {field: row[field] for field in WRITTEN}
    out |= {field: row.get(field) for field in MAY_BE_WRITTEN}
    out["criterion"] = row.get("parts", "none")
    out["amended"] = [
        {field: str(value) for field, value in change.items()}  # a date as text
        for change in row.get("amended", [])
    ]
    out |= {field: found[field] for field in FOUND}
    out |= {
        "controls": controls,
        "settings": record.settings,
        "seed": run.seed,
        "seeds": results.seeds.get(row["id"], {}),
        "chapter_seconds": run.seconds,
        "run": run.state,
    }
    out |= {field: run.origin.get(field) for field in ORIGIN}
    return out


def cell(value: Any) -> Any:
    """One value of the table; what nests is JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def ledger_files(entries: Iterable[Entry], results: Results) -> dict[str, str]:
    """The two files by their places on the site."""
    rows = [ledger_row(entry, results) for entry in entries]
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({field: cell(value) for field, value in row.items()} for row in rows)
    texts = (table.getvalue(), json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    return dict(zip(FILES, texts, strict=True))
