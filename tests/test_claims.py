"""The rules of the ledger that no schema can state: ``book/claims.yml``, ``tests/expected``.

What the schema demands of each row is tested with it (``tests/claimbook/ledger/test_schema.py``).
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import rows
import sizes

from claimbook.checker.comparison import read_expected
from claimbook.checker.reference import Reference
from claimbook.checker.run import expected_path
from claimbook.files import ROOT
from claimbook.ledger import FAILS, NOT_TESTABLE, OURS, load, noted
from claimbook.ledger.schema import AUDIT_EXCUSES, RIGHT, Row
from claimbook.pages import toc_chapters
from claimbook.runs.page_key import SEEDS_FILE

TO_DO = "TODO"


class Claim(NamedTuple):
    """A row with the verdict that its chapter's reference has, or that is expected of it."""

    row: Row
    verdict: str
    measured: bool


def reference_of(chapter: str) -> Reference:
    """What a chapter is held to: nothing yet, where it is new."""
    return read_expected(chapter) if expected_path(chapter).exists() else Reference()


def claims() -> Iterator[Claim]:
    blocks = load()["chapters"]
    for chapter in toc_chapters():
        held = reference_of(chapter).claims
        for row in blocks[chapter]["claims"]:
            measured = row["id"] in held
            verdict = held[row["id"]].claim.verdict if measured else row["expected"]
            yield Claim(row, verdict, measured)


CLAIMS = list(claims())


def kinds(row: Row) -> set[str]:
    return {control["kind"] for control in row["controls"].values()}


def test_every_quotation_and_every_quantity_is_written():
    left = [
        f"{claim.row['id']}: {field}"
        for claim in CLAIMS
        for field, value in (
            ("printed", claim.row["source"].get("printed")),
            ("quantity", claim.row["quantity"]),
        )
        if TO_DO in str(value)
    ]
    assert not left, f"still to be written: {left}"


def test_no_verdict_rests_on_luck():
    """Three other master seeds or more gave the verdict of the reference, for every row."""
    recorded = json.loads((ROOT / SEEDS_FILE).read_text(encoding="utf8"))
    gone = recorded.keys() - {claim.row["id"] for claim in CLAIMS}
    assert not gone, f"{SEEDS_FILE} has {gone}, which are no rows; run: make seeds"
    for row, verdict, measured in CLAIMS:
        if not measured:
            continue
        found = recorded.get(row["id"], {})
        assert found.keys() >= set("123"), (
            f"{row['id']}: run its chapter with three seeds: make seeds"
        )
        other = {seed: one for seed, one in found.items() if one != verdict}
        assert not other, (
            f"{row['id']}: {verdict}, but with other seeds {other}; "
            "it needs more trials or a wider statement, not another seed"
        )


def test_where_a_row_fails_the_corrected_statement_is_tested_too():
    """A check that rejects everything would find against any statement."""
    bare = [one.row["id"] for one in CLAIMS if one.verdict == FAILS and RIGHT not in kinds(one.row)]
    assert not bare, f"{bare} fail and have no control of kind '{RIGHT}'"


def test_few_rows_are_spared_the_audit_or_the_test_each_with_its_reason():
    rows = [one.row for one in CLAIMS]
    spared = [row["audit"] for row in rows if "audit" in row]
    untested = [row["note"] for row in rows if row["expected"] == NOT_TESTABLE]
    assert len(spared) + len(untested) <= AUDIT_EXCUSES
    assert all(len(reason) > 20 for reason in spared + untested)


def test_the_sizes_that_rows_name_are_those_of_a_run():
    blocks = load()["chapters"]
    wrong = [said for name in toc_chapters() for said in sizes.misnamed(name, blocks[name])]
    assert not wrong, "\n".join(wrong)


def test_a_size_that_stands_nowhere_is_found():
    code = ["n = 20\nrows = read_record('05b_wide_peak')", "twice = 2 * n"]
    known = sizes.sizes(code, {"seed": 0, "trials": 40, "verbose": True})
    assert {20, 40, 80} <= known
    assert not {30, 41, 160} & known
    assert [
        found[1] for found in sizes.SIZE.finditer("over 150 000 prompts, 24 fresh test sets")
    ] == [
        "150 000",
        "24",
    ]
    assert not sizes.SIZE.search("$n=20$ tokens, 10-fold, n^2 prompts")


def test_the_front_pages_name_every_source():
    """A chapter on another paper is no secret: the first author stands in README and intro."""
    for page in ("README.md", "book/intro.md"):
        text = (ROOT / page).read_text(encoding="utf8")
        for key in load()["documents"].keys() - {OURS}:
            author = re.match("[a-z]+", key)[0].capitalize()
            assert author in text, f"{page} does not name {author}, whose '{key}' is a document"


def test_no_row_changes_unseen():
    """What a measured row says is as it was noted; a change has its entry in ``amended``."""
    notes, now = noted.read(), rows.now()
    refused = list(noted.refusals(notes, now))
    assert not refused, "\n".join(refused)
    stale = [claim for claim, note in notes.items() if now.get(claim) != note]
    assert not stale, f"look at {', '.join(stale)}; then: python tests/rows.py"


def test_every_row_with_a_reference_was_noted_when_it_was_measured():
    unnoted = {one.row["id"] for one in CLAIMS if one.measured} - noted.read().keys()
    assert not unnoted, f"{sorted(unnoted)}: run their chapters, or take tests/rows.txt from git"


def test_every_reference_is_of_a_row():
    ids = {one.row["id"] for one in CLAIMS}
    for chapter in toc_chapters():
        gone = set(reference_of(chapter).claims) - ids
        assert not gone, f"tests/expected/{chapter}.yml has {gone}, which are no rows"
