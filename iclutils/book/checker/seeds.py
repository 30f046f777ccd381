"""The verdicts under other master seeds, which are recorded for the ledger page."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from iclutils.book.ledger import schema
from iclutils.book.runs.files import ROOT, read_json, write_atomically
from iclutils.book.runs.key import SEEDS_FILE

REPORT = "report"  # of a report's properties: what a run found
Verdicts = dict[str, dict[str, str]]  # of a claim under a seed


class Report(NamedTuple):
    """What one run of a chapter found, and its processor time in seconds."""

    chapter: str
    master_seed: int | None
    lines: list[str]
    verdicts: dict[str, str]
    seconds: float


def record(reports: Sequence[Report], terminal: pytest.TerminalReporter) -> None:
    """Merge this session's verdicts into ``book/recorded/seeds.json`` and print them."""
    table: Verdicts = defaultdict(dict)
    for report in reports:
        for claim, verdict in report.verdicts.items():
            table[claim][str(report.master_seed)] = verdict
    merge(table)
    show(table, terminal)


def merge(table: Verdicts) -> None:
    """Add verdicts to the record, in the order of ids and seeds; claims that are gone leave it."""
    path = ROOT / SEEDS_FILE
    known: Verdicts = read_json(path) if path.exists() else {}
    blocks = schema.load(ROOT / "book" / "claims.yml")["chapters"].values()
    claims = sorted(row["id"] for block in blocks for row in block["claims"])
    kept: Verdicts = {}
    for claim in claims:
        found = known.get(claim, {}) | table.get(claim, {})
        if found:
            kept[claim] = {seed: found[seed] for seed in sorted(found, key=int)}
    write_atomically(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def show(table: Verdicts, terminal: pytest.TerminalReporter) -> None:
    """Print a table: a row a claim, a column a seed, a mark where the verdicts differ."""
    terminal.section("verdicts by master seed")
    seeds = sorted({seed for found in table.values() for seed in found}, key=int)
    width = max((len(claim) for claim in table), default=5) + 2
    head = "".join(f"seed {seed}".ljust(16) for seed in seeds)
    terminal.line("claim".ljust(width) + head)
    for claim, found in table.items():
        cells = "".join(found.get(seed, "-").ljust(16) for seed in seeds)
        mark = "" if len(set(found.values())) == 1 else "  <- differ"
        terminal.line(claim.ljust(width) + cells + mark)
