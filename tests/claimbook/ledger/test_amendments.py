"""A row is noted at its first run; from then on a change of it is said."""

import datetime

import pytest

from claimbook.ledger import amendments, load
from claimbook.ledger.amendments import Note

TODAY = datetime.date(2026, 11, 25)
ENTRY = {"date": "2026-11-23", "what": "a word", "why": "a reason"}
NOTE = Note("c", "w", 2, "holds", ("1", "2"))
AMENDED = {"amended": [ENTRY]}
BLOCK = "chapters.00_mini"
ROW = f"{BLOCK}.claims.2"
PAPER = {"title": "P", "short": "P", "kind": "paper", "version": "2", "links": {}}
# fields of row k, its block, its source or its controls, with another value
CRITERION = {
    "parts": "> -99",
    "controls.null.condition": "> 1000",
    "controls.right.kind": "wrong",
    "controls": {"null": {"kind": "null", "what": "no effect", "condition": "= 1 ± 0.5"}},
    "expected": "fails",
    "source.document": "paper2",
    "settings.n": 11,
}
WORDS = {
    **dict.fromkeys(("statement", "statistic", "tolerance", "quantity"), "other words"),
    **dict.fromkeys(("source.place", "source.printed", "controls.null.what"), "other words"),
    "brief": "It rises.",
    "kind": "limit",
}
FREE = dict.fromkeys(("note", "audit"), "other words")


@pytest.fixture
def claims(write):
    def claims(fields=()):
        changes = {"documents.paper2": PAPER}
        for name, value in dict(fields).items():
            changes[f"{BLOCK if name == 'settings.n' else ROW}.{name}"] = value
        return load(write(changes))

    return claims


@pytest.mark.parametrize("field", [*CRITERION, *WORDS, *FREE])
def test_a_change_after_the_first_number_is_refused_without_an_entry(claims, field):
    """Every field on which a verdict or its reading hangs is held."""
    change = {field: (CRITERION | WORDS | FREE)[field]}
    notes = {"k": amendments.notes_of(claims())["k"]}
    assert list(amendments.refusals(notes, claims())) == []
    refused = list(amendments.refusals(notes, claims(change)))
    assert len(refused) == (field not in FREE)
    assert all(("words" in one) == (field in WORDS) for one in refused)
    assert list(amendments.refusals(notes, claims(change | AMENDED), TODAY)) == []


def test_an_entry_is_not_taken_away_and_a_row_that_is_renamed_is_no_new_one(claims):
    assert "none is taken away" in NOTE.refusal(NOTE._replace(amended=1))
    (refused,) = amendments.refusals({"old": NOTE}, claims())
    assert refused.startswith("old: was measured and is gone, or renamed")
    names = {"amended": [ENTRY | {"what": "renamed; it was old"}]}
    assert list(amendments.refusals({"old": NOTE}, claims(names), TODAY)) == []


@pytest.mark.parametrize("date", ["1990-01-01", "2026-11-17", "2026-11-26"])
def test_a_new_entry_bears_its_own_day(claims, date):
    """Also a row's first one; an entry that was noted may grow old."""
    known = amendments.notes_of(claims())["k"]
    dated = claims({"amended": [ENTRY | {"date": date}]})
    (refused,) = amendments.refusals({"k": known}, dated, TODAY)
    assert (
        f"'amended' must be noted within 7 days of its date; it is 2026-11-25 and says {date}"
        in refused
    )
    assert list(amendments.refusals(amendments.notes_of(dated), dated, TODAY)) == []


def test_seeds_count_for_one_criterion_and_one_verdict(claims):
    known = amendments.notes_of(claims())["k"]._replace(verdict="holds", seeds=("1", "2"))
    for change, seeds in (({"brief": "It rises."}, ("1", "2")), ({"parts": "> -99"}, ())):
        assert amendments.update({"k": known}, claims(change))["k"].seeds == seeds
    assert known.with_seed(3, "holds", "holds").seeds == ("1", "2", "3")
    assert known.with_seed(2, "fails", "holds").by_seed == {"1": "holds", "2": "not holds"}
    assert known.with_seed(10, "fails", "fails")[3:] == ("fails", ("10",))


def test_a_row_is_noted_once(tmp_path):
    path = tmp_path / "rows.txt"
    later = NOTE._replace(words="x")
    amendments.note_first_run({"a": NOTE}, path)
    amendments.note_first_run({"a": later, "b": later}, path)
    assert amendments.read(path) == {"a": NOTE, "b": later}


def test_a_change_of_wording_alone_is_noted_by_name(tmp_path, monkeypatch, claims, capsys):
    path = tmp_path / "rows.txt"
    now = amendments.notes_of(claims())
    monkeypatch.setattr(amendments, "load", claims)
    amendments.write({"k": now["k"]._replace(words="older")}, path)
    assert amendments.main([], path) == 1
    assert "note it as reworded" in capsys.readouterr().out
    assert amendments.main(["k"], path) == 0
    assert amendments.read(path) == {"k": now["k"]}
    amendments.write({"k": now["k"]._replace(criterion="older")}, path)
    assert amendments.main(["k"], path) == 1  # a criterion is no wording
    with pytest.raises(SystemExit, match="zz is no row"):
        amendments.main(["zz"], path)


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", "", "a 1 2 x"])
def test_a_line_that_is_no_note_is_named(tmp_path, line):
    path = tmp_path / "rows.txt"
    path.write_text(f"# row\n{line}\n")
    with pytest.raises(ValueError, match=r"^rows\.txt, line 2: must read row, digests"):
        amendments.read(path)
