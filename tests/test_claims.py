"""The rules of the ledger that no schema can state: ``book/claims.yml``, ``tests/expected``."""

import re

from claimbook.check.snapshot import expected_path, read_expected
from claimbook.ledger import FAILS, amendments, load
from claimbook.ledger.schema import AUDIT_EXCUSES, RIGHT
from claimbook.pages import toc_chapters

TO_DO = "TODO"
CLAIMS = load()
CHAPTERS = toc_chapters()
ROWS = {row.id: row for chapter in CHAPTERS for row in CLAIMS.chapters[chapter].claims}
VERDICTS = {
    claim.claim.id: claim.claim.verdict
    for chapter in CHAPTERS
    if expected_path(chapter).exists()  # a new chapter has none
    for claim in read_expected(chapter).entries
}
NOTES = amendments.read()


def test_every_quotation_and_every_quantity_is_written():
    left = [id for id, row in ROWS.items() if TO_DO in f"{row.source.printed} {row.quantity}"]
    assert not left, f"still to be written: {left}"


def test_no_verdict_rests_on_luck():
    """Three other master seeds or more gave the verdict of the reference, for every row."""
    for id, verdict in VERDICTS.items():
        note = NOTES[id]
        assert note.verdict == verdict, f"{id}: its seeds confirm another verdict; run make seeds"
        other = [seed for seed, found in note.by_seed.items() if found != verdict]
        assert not other, (
            f"{id}: {verdict}, but not with the seeds {other}; "
            "it needs more trials or a wider statement, not another seed"
        )
        assert set("123") <= set(note.seeds), f"{id}: run its chapter with three seeds: make seeds"


def test_where_a_row_fails_the_corrected_statement_is_tested_too():
    """A check that rejects everything would find against any statement."""
    for id, verdict in VERDICTS.items():
        kinds = {control.kind for control in ROWS[id].controls.values()}
        assert verdict != FAILS or RIGHT in kinds, f"{id} fails and has no control '{RIGHT}'"


def test_few_rows_are_spared_the_audit_each_with_its_reason():
    spared = [row.audit for row in ROWS.values() if row.audit is not None]
    assert len(spared) <= AUDIT_EXCUSES
    assert all(len(reason) > 20 for reason in spared)


def test_a_row_of_which_numbers_had_been_seen_says_so_first():
    """The front page counts the notes that begin so."""
    for id, row in ROWS.items():
        note = row.note or ""
        began = " ".join(f"{one.what} {one.why}" for one in row.amended[:1])
        seen = re.search(r"^(new|the) row\b.*\b(seen|look|pilots?)\b", began)
        assert not seen or note.startswith("Seen before: "), f"{id}: {began}"
        assert "Seen before" not in note[1:], f"{id}: it is the first thing to say"


def test_no_row_changes_unseen():
    """What a measured row says is as it was noted; a change has its entry in ``amended``."""
    refused = list(amendments.refusals(NOTES, CLAIMS))
    assert not refused, "\n".join(refused)
    now = amendments.update(NOTES, CLAIMS)
    stale = [id for id, note in NOTES.items() if now.get(id) != note]
    command = "python -m claimbook.ledger.amendments"
    assert not stale, f"look at {', '.join(stale)}; then: {command}"


def test_every_reference_is_of_a_row_that_was_noted_when_it_was_measured():
    gone = VERDICTS.keys() - ROWS.keys()
    assert not gone, f"tests/expected has {sorted(gone)}, which are no rows"
    unnoted = VERDICTS.keys() - NOTES.keys()
    assert not unnoted, f"{sorted(unnoted)}: run their chapters, or take tests/rows.txt from git"
