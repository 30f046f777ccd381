"""The rules of the ledger that no schema can state: ``book/claims.yml``, ``tests/expected``.

What the schema demands of each row is tested with it (``tests/book/ledger/test_schema.py``).
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

import rows

from iclutils.book.checker.comparison import read_expected
from iclutils.book.ledger import FAILS, NOT_TESTABLE, OURS, Row, load
from iclutils.book.ledger.schema import AUDIT_EXCUSES, RIGHT
from iclutils.book.runs import cache
from iclutils.book.runs.files import ROOT

TO_DO = "TODO"


class Claim(NamedTuple):
    """A row with the verdict that its chapter's reference has."""

    row: Row
    verdict: str


def claims() -> Iterator[Claim]:
    blocks = load()["chapters"]
    for chapter in cache.toc_chapters():
        held = read_expected(chapter).claims
        for row in blocks[chapter]["claims"]:
            verdict = held[row["id"]].line.verdict if row["id"] in held else row["expected"]
            yield Claim(row, verdict)


CLAIMS = list(claims())


def kinds(row: Row) -> set[str]:
    return {control["kind"] for control in row["controls"].values()}


def test_every_quotation_and_every_quantity_is_written():
    left = [
        f"{row['id']}: {field}"
        for row, _ in CLAIMS
        for field, value in (
            ("printed", row["source"].get("printed")),
            ("quantity", row["quantity"]),
        )
        if TO_DO in str(value)
    ]
    assert not left


def test_no_verdict_rests_on_luck():
    """Three other master seeds or more gave the verdict of the reference, for every row.

    Where one differs, its row needs more trials or a wider statement, not another seed.
    """
    recorded = json.loads((ROOT / cache.SEEDS_FILE).read_text(encoding="utf8"))
    assert recorded.keys() == {row["id"] for row, _ in CLAIMS}
    for row, verdict in CLAIMS:
        found = recorded[row["id"]]
        assert found.keys() >= set("123"), row["id"]
        assert set(found.values()) == {verdict}, row["id"]


def test_where_a_row_fails_the_corrected_statement_is_tested_too():
    """A check that rejects everything would find against any statement."""
    assert not [
        row["id"] for row, verdict in CLAIMS if verdict == FAILS and RIGHT not in kinds(row)
    ]


def test_every_row_that_is_tested_has_a_control():
    bare = [row["id"] for row, verdict in CLAIMS if not row["controls"]]
    untested = [row["id"] for row, verdict in CLAIMS if verdict == NOT_TESTABLE]
    assert set(bare) <= set(untested)


def test_what_is_ours_is_not_said_to_be_printed():
    for row, _ in CLAIMS:
        is_ours = row["source"]["document"] == OURS
        assert is_ours != ("printed" in row["source"]), row["id"]
        assert is_ours != ("reading" in row["source"]), row["id"]


def test_few_rows_are_let_stand_against_the_audit():
    excused = [row["id"] for row, _ in CLAIMS if "audit" in row]
    assert len(excused) <= AUDIT_EXCUSES


def test_no_row_changes_unseen():
    """What a row says is as it was when it was last looked at; ``tests/rows.py`` notes a change."""
    now, then = rows.digests(), rows.kept()
    changed = [claim for claim in now if now[claim] != then.get(claim)]
    gone = [claim for claim in then if claim not in now]
    assert not changed + gone, "look at them, then: python tests/rows.py"


def test_every_reference_is_of_a_row():
    ids = {row["id"] for row, _ in CLAIMS}
    for chapter in cache.toc_chapters():
        assert set(read_expected(chapter).claims) <= ids, chapter
