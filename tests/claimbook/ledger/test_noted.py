"""A row is noted at its first run; from then on a change of it has an entry in ``amended``."""

import copy

import pytest

from claimbook.ledger import load, noted

ROW = load()["chapters"]["01_attention_window"]["claims"][0]
CHANGES = {
    "printed": lambda row: row["source"].update(printed="other words"),
    "statement": lambda row: row.update(statement="other words"),
    "parts": lambda row: row.update(parts="> 1000"),
    "controls": lambda row: row["controls"].popitem(),
    "conditions": lambda row: next(iter(row["controls"].values())).update(condition="> 1000"),
}
ENTRY = {"date": "2026-11-23", "what": "a word", "why": "a reason"}


def changed(change, *, amended=False):
    row = copy.deepcopy(ROW) | {"parts": "> 0"}
    next(iter(row["controls"].values()))["condition"] = "> 0"
    before = noted.of_row(row)
    change(row)
    if amended:
        row["amended"] = [*row.get("amended", []), ENTRY]
    return before, noted.of_row(row)


@pytest.mark.parametrize("field", CHANGES)
def test_a_change_after_the_first_number_needs_an_entry(field):
    before, after = changed(CHANGES[field])
    assert field in before.changed(after)
    assert f"'{field}'" in before.refused(after)
    before, after = changed(CHANGES[field], amended=True)
    assert field in before.changed(after)
    assert before.refused(after) == ""


@pytest.mark.parametrize("field", ["brief", "statistic", "tolerance", "note", "quantity"])
def test_other_words_are_free(field):
    before, after = changed(lambda row: row.update({field: "Other words."}))
    assert before == after


def test_an_entry_is_not_taken_away():
    before, after = changed(lambda row: row.update(amended=[]))
    assert ROW["amended"]
    assert "none is taken away" in before.refused(after)


def test_a_field_that_was_not_there_may_be_filled():
    row = copy.deepcopy(ROW)
    row.pop("parts", None)
    before = noted.of_row(row)
    assert before.parts == noted.NONE
    assert before.refused(noted.of_row(row | {"parts": "> 0"})) == ""


def test_a_row_is_noted_once(tmp_path):
    path = tmp_path / "rows.txt"
    first, later = changed(CHANGES["parts"])
    assert noted.first_run({"a": first}, path) == ["a"]
    assert noted.first_run({"a": later, "b": later}, path) == ["b"]
    assert noted.read(path) == {"a": first, "b": later}


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", "", "a 1 2 3 4 5 x"])
def test_a_line_that_is_no_note_is_named(tmp_path, line):
    path = tmp_path / "rows.txt"
    path.write_text(f"# row\n{line}\n")
    with pytest.raises(ValueError, match=r"^rows\.txt, line 2: must be a row and its printed, "):
        noted.read(path)


def test_what_is_refused_is_named():
    first, later = changed(CHANGES["statement"])
    said = list(noted.refusals({"a": first, "b": first, "gone": first}, {"a": later, "b": first}))
    assert len(said) == 1
    assert said[0].startswith("a: 'statement' changed after the first number")
