"""What the executed chapters found, and how it is worded."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from claimbook.files import ROOT
from claimbook.ledger import Record, amendments, format_value, outputs
from claimbook.ledger.comparison import SUPPORTED
from claimbook.ledger.text import what_came_out
from claimbook.pages import SPECIALIST, chapter_path
from claimbook.runs import notebooks
from claimbook.site import stamps
from claimbook.site.stamps import NOT_RUN, Run


class Entry(NamedTuple):
    """A row of ``claims.yml`` with the chapter that it belongs to."""

    chapter: str
    row: Mapping[str, Any]


class Scored(NamedTuple):
    """A row of the ledger that was run, and what was found."""

    chapter: str
    row: Mapping[str, Any]
    record: Record


@dataclass(frozen=True)
class Results:
    """The records and runs of all executed chapters, and the verdicts of other master seeds."""

    records: Mapping[str, Mapping[str, Record]]  # by chapter, then by the row's id
    runs: Mapping[str, Run]  # by chapter
    seeds: Mapping[str, Mapping[str, str]]  # by the row's id, then by seed

    def record(self, chapter: str, claim: str) -> Record:
        """What was found about a row; where its chapter was not run, a record that says so."""
        found = self.records.get(chapter, {}).get(claim)
        said = "The chapter was not run."
        nothing = Record(chapter, claim, NOT_RUN, None, None, {}, {}, {}, True, finding=said)
        return found or nothing

    def run(self, chapter: str) -> Run:
        """The run of a chapter; an empty one where there is none."""
        return self.runs.get(chapter, Run())

    def cards(self, chapter: str) -> str:
        """The page with the cards of a chapter's rows: its second page, where it has one."""
        second = chapter + SPECIALIST
        return second if second in self.runs else chapter

    def digest(self) -> str:
        """Changes with anything that a page may show of the runs."""
        found = [self.records, self.runs, self.seeds]
        state = json.dumps(found, sort_keys=True, default=asdict)
        return hashlib.sha256(state.encode()).hexdigest()


def row_anchor(claim: str) -> str:
    """Where a row's card stands on its page."""
    return f"claim-{claim}"


def read_results(
    cached_runs: Mapping[str, notebooks.Run | None], ledger: Mapping[str, Any]
) -> Results:
    """What the chapters' runs found, and what is recorded of other master seeds."""
    records: dict[str, dict[str, Record]] = {}
    runs: dict[str, Run] = {}
    for name, cached in cached_runs.items():
        records[name] = {}
        runs[name] = Run()
        if cached is not None:
            found = outputs.records(cached.notebook)
            default = all(record.default_settings for record in found.values())
            state = stamps.state(name, cached.notebook, default)
            given = ledger["chapters"].get(name, {}).get("settings", {})
            used = next((record.settings for record in found.values()), given)
            records[name] = found
            runs[name] = Run(state, cached.seconds, used.get("seed"), cached.provenance)
    notes = amendments.read(ROOT / "tests" / "rows.txt")
    return Results(records, runs, {row: note.by_seed for row, note in notes.items()})


def heading(chapter: str) -> str:
    """A chapter's title, from its file (a page may need it before that file is read)."""
    text = chapter_path(chapter, ROOT).read_text(encoding="utf8")
    for line in text.splitlines():
        if line.startswith("# "):
            return line.removeprefix("# ").strip()
    return chapter


def value_text(record: Record) -> str:
    """The value of a row, as ``0.331 ± 0.012``."""
    if record.value is None:
        return "no value"
    return format_value(record.value, record.half_width or 0.0)


def finding_text(record: Record) -> str:
    """What holds, what does not, and where, without the number; or why nothing was tested."""
    return what_came_out(record.parts, record.why) if record.parts else record.finding


def reservation(record: Record) -> str:
    """The finding where the verdict does not say it all, as of parts that came out differently."""
    outcomes = [part.outcome for part in record.parts.values()]
    plain = len(outcomes) == 1 or set(outcomes) == {SUPPORTED}
    return "" if plain and not record.why else finding_text(record)
