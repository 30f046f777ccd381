"""The verdicts under other master seeds, which are recorded for the ledger page."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from claimbook.files import ROOT, read_json, write_atomically
from claimbook.ledger import schema
from claimbook.runs.page_key import SEEDS_FILE

REPORT = "report"  # of a report's properties: what a run found


class Report(NamedTuple):
    """What one run of a chapter found, and its processor time in seconds."""

    chapter: str
    master_seed: int | None
    lines: list[str]
    verdicts: dict[str, str]
    seconds: float


def record(reports: Iterable[Report]) -> None:
    """Add the reports' verdicts to ``book/recorded/seeds.json``, in the order of ids and seeds.

    Claims that are gone leave it.
    """
    path = ROOT / SEEDS_FILE
    known: dict[str, dict[str, str]] = read_json(path) if path.exists() else {}
    for report in reports:
        for claim, verdict in report.verdicts.items():
            known.setdefault(claim, {})[str(report.master_seed)] = verdict
    blocks = schema.load(ROOT / "book" / "claims.yml")["chapters"].values()
    claims = sorted(row["id"] for block in blocks for row in block["claims"])
    kept = {
        claim: {seed: known[claim][seed] for seed in sorted(known[claim], key=int)}
        for claim in claims
        if claim in known
    }
    write_atomically(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
