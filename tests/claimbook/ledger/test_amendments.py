"""A row is noted at its first run; from then on a change of it is said."""

import pytest

from claimbook.ledger import amendments, load
from claimbook.ledger.amendments import Note

ENTRY = {"date": "2026-11-23", "what": "a word", "why": "a reason"}
NOTE = Note("c", "w", 2, "holds", ("1", "2"))


def row(data):
    return data["chapters"]["00_mini"]["claims"][2]


def block(data):
    return data["chapters"]["00_mini"]


CRITERION = {
    "parts": lambda data: row(data).update(parts="> -99"),
    "condition": lambda data: row(data)["controls"]["null"].update(condition="> 1000"),
    "kind of a control": lambda data: row(data)["controls"]["right"].update(kind="wrong"),
    "controls": lambda data: row(data)["controls"].popitem(),
    "expected": lambda data: row(data).update(expected="fails"),
    "document": lambda data: row(data)["source"].update(document="paper2"),
    "settings": lambda data: block(data)["settings"].update(n=11),
}
WORDS = {
    "brief": lambda data: row(data).update(brief="It rises."),
    "statement": lambda data: row(data).update(statement="other words"),
    "statistic": lambda data: row(data).update(statistic="other words"),
    "tolerance": lambda data: row(data).update(tolerance="other words"),
    "quantity": lambda data: row(data).update(quantity="other words"),
    "place": lambda data: row(data)["source"].update(place="Figure 2"),
    "printed": lambda data: row(data)["source"].update(printed="other words"),
    "what of a control": lambda data: row(data)["controls"]["null"].update(what="other words"),
}


@pytest.fixture
def claims(write):
    def claims(*changes):
        def damage(data):
            data["documents"]["paper2"] = data["documents"]["paper"]
            for change in changes:
                change(data)

        return load(write(damage))

    return claims


def amended(data):
    row(data)["amended"] = [ENTRY]


@pytest.mark.parametrize("field", [*CRITERION, *WORDS])
def test_a_change_after_the_first_number_is_refused_without_an_entry(claims, field):
    change = (CRITERION | WORDS)[field]
    notes = amendments.notes_of(claims())
    assert list(amendments.refusals(notes, claims())) == []
    refused = list(amendments.refusals({"k": notes["k"]}, claims(change)))
    assert len(refused) == 1
    assert refused[0].startswith("k: its ")
    assert ("words" in refused[0]) == (field in WORDS)
    assert list(amendments.refusals({"k": notes["k"]}, claims(change, amended))) == []


@pytest.mark.parametrize("field", ["note", "audit"])
def test_what_no_verdict_hangs_on_is_free(claims, field):
    changed = claims(lambda data: row(data).update({field: "other words"}))
    assert amendments.notes_of(claims()) == amendments.notes_of(changed)


def test_an_entry_is_not_taken_away():
    assert "none is taken away" in NOTE.refused(NOTE._replace(amended=1))


def test_a_row_that_is_renamed_is_no_new_one(claims):
    notes = {"old": NOTE}
    (refused,) = amendments.refusals(notes, claims())
    assert refused.startswith("old: was measured and is gone, or renamed")

    def names(data):
        row(data)["amended"] = [ENTRY | {"what": "renamed; it was old"}]

    assert list(amendments.refusals(notes, claims(names))) == []


def test_seeds_count_for_one_criterion_and_one_verdict(claims):
    notes = amendments.notes_of(claims())
    known = notes["k"]._replace(verdict="holds", seeds=("1", "2"))
    same = amendments.update({"k": known}, claims(WORDS["brief"]))
    assert same["k"].seeds == ("1", "2")
    other = amendments.update({"k": known}, claims(CRITERION["parts"]))
    assert other["k"].seeds == ()
    assert known.with_seed(3, "holds", "holds").seeds == ("1", "2", "3")
    assert known.with_seed(2, "fails", "holds").by_seed == {"1": "holds", "2": "not holds"}
    assert known.with_seed(10, "fails", "fails")[3:] == ("fails", ("10",))


def test_a_row_is_noted_once(tmp_path):
    path = tmp_path / "rows.txt"
    later = NOTE._replace(words="x")
    assert amendments.note_first_run({"a": NOTE}, path) == ["a"]
    assert amendments.note_first_run({"a": later, "b": later}, path) == ["b"]
    assert amendments.read(path) == {"a": NOTE, "b": later}
    amendments.write({"a": Note("c", "w", 0)}, path)
    assert amendments.read(path) == {"a": Note("c", "w", 0)}


def test_a_change_of_wording_alone_is_a_line(tmp_path, monkeypatch, claims, capsys):
    path = tmp_path / "rows.txt"
    now = amendments.notes_of(claims())
    monkeypatch.setattr(amendments, "load", claims)
    amendments.write({"k": now["k"]._replace(words="older")}, path)
    assert amendments.main([], path) == 1
    assert "note it as reworded" in capsys.readouterr().out
    assert amendments.main(["k"], path) == 0
    assert amendments.read(path) == {"k": now["k"]}
    assert path.read_text().splitlines()[1].startswith(amendments.REWORDED)
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
