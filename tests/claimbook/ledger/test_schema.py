"""The schema of the ledger file: every breach is named, and a state of the file is parsed once."""

import datetime
import os
import re

import pytest
import yaml

from claimbook.ledger.schema import LedgerError, load


def row(data):
    return data["chapters"]["00_mini"]["claims"][0]


def printed(data):
    return data["chapters"]["00_mini"]["claims"][3]["source"]


CHANGE = {"date": "2026-11-21", "what": "the margin", "why": "a bug"}
GONE = object()
DOCUMENT = "documents.ours"
BLOCK = "chapters.00_mini"
ROW = f"{BLOCK}.claims.0"
SOURCE = f"{BLOCK}.claims.3.source"  # of a printed claim, in row k
TEXT = "Expected `str` matching regex '\\\\S'"


def damage(place, value):
    """What gives a place of the ledger another value, or takes it away."""

    def change(data):
        *path, last = place.split(".")
        for step in path:
            data = data[int(step) if isinstance(data, list) else step]
        if value is GONE:
            del data[last]
        else:
            data[last] = value

    return change


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (f"{ROW}.tolerance", GONE, "row a: Object missing required field `tolerance`"),
        (f"{ROW}.quantity", GONE, "row a: Object missing required field `quantity`"),
        (f"{ROW}.tolerence", "t", "row a: field 'tolerence' is unknown"),
        (f"{ROW}.source.plaice", "t", "row a: field 'source.plaice' is unknown"),
        (f"{ROW}.amended", [CHANGE, CHANGE | {"y": "z"}], "row a: field 'amended.1.y' is unknown"),
        (f"{ROW}.kind", "guess", "row a: Invalid enum value 'guess' - at `$.kind`"),
        (f"{ROW}.expected", "hold", "row a: Invalid enum value 'hold' - at `$.expected`"),
        (f"{ROW}.statement", "", f"row a: {TEXT} - at `$.statement`"),
        (f"{ROW}.brief", "", "row a: Expected `str` matching regex"),
        (f"{ROW}.brief", "It falls", "row a: Expected `str` matching regex"),
        (f"{ROW}.brief", "$x$ falls.", "row a: Expected `str` matching regex"),
        (f"{ROW}.brief", "a" * 140 + ".", "row a: Expected `str` of length <= 140 - at `$.brief`"),
        (f"{ROW}.controls", {}, "row a: field 'controls' needs at least one control"),
        (f"{ROW}.controls", ["w"], "row a: Expected `object`, got `array` - at `$.controls`"),
        (f"{ROW}.controls", {"w": "text"}, "row a: Expected `object`, got `str` - at `$.controls"),
        (f"{ROW}.controls.wrong.kind", "no", "row a: Invalid enum value 'no' - at `$.controls"),
        (f"{ROW}.controls.wrong.what", "", f"row a: {TEXT} - at `$.controls[...].what`"),
        (f"{ROW}.source.document", "theirs", "row a: field 'source.document' must be one of"),
        (f"{ROW}.source.place", GONE, "row a: Object missing required field `place`"),
        (f"{ROW}.source.reading", "clear", "row a: field 'source.reading' is for printed claims"),
        (f"{ROW}.source.printed", "words", "row a: field 'source.printed' is for printed claims"),
        (f"{SOURCE}.reading", "good", "row k: Invalid enum value 'good' - at `$.source.reading`"),
        (f"{SOURCE}.reading", GONE, "row k: field 'source.reading' is missing"),
        (f"{SOURCE}.printed", GONE, "row k: field 'source.printed' is missing"),
        (f"{SOURCE}.printed", " ", f"row k: {TEXT} - at `$.source.printed`"),
        (f"{SOURCE}.printed", [], "row k: Expected `array` of length >= 1 - at `$.source.printed`"),
        (f"{SOURCE}.printed", ["a", 1], "row k: Expected `str`, got `int` - at `$.source.printed"),
        (f"{SOURCE}.suggested_by", "x", "row k: field 'source.suggested_by' is for claims of ours"),
        (f"{ROW}.audit", "", f"row a: {TEXT} - at `$.audit`"),
        (f"{ROW}.amended", "once", "row a: Expected `array`, got `str` - at `$.amended`"),
        (f"{ROW}.amended", [{"date": "2026-11-21", "what": "w"}], "missing required field `why`"),
        (f"{ROW}.amended", [CHANGE | {"date": "today"}], "row a: Invalid RFC3339 encoded date"),
        (f"{ROW}.amended", [CHANGE, CHANGE | {"commit": "last"}], "at `$.amended[1].commit`"),
        (f"{ROW}.amended", [CHANGE | {"why": " "}], f"row a: {TEXT} - at `$.amended[0].why`"),
        (f"{ROW}.id", "b", "row b: field 'id' is already used in chapter 00_mini"),
        (f"{ROW}.id", "a b", "row a b: Expected `str` matching regex"),
        (f"{ROW}.expected", "not testable", "row a: field 'note' must say why"),
        (f"{BLOCK}.settings", {}, "chapter 00_mini: field 'settings' must hold 'seed'"),
        (f"{BLOCK}.knobs.n", GONE, "chapter 00_mini: field 'knobs' must hold ['n', 'seed']"),
        (f"{BLOCK}.knobs.n", {"turned": 20}, "field 'knobs.n': 'low' or 'above' is missing"),
        (f"{BLOCK}.knobs.n.turned", 10, "field 'knobs.n': 'turned' is the default, 10"),
        (f"{BLOCK}.knobs.n.low", 11, "field 'settings': n must be at least 11; got 10"),
        (f"{BLOCK}.knobs.n.turned", 2.5, "field 'knobs.n': n must be a whole number; got 2.5"),
        (f"{BLOCK}.knobs.n.wide", 1, "chapter 00_mini: field 'n.wide' is unknown"),
        (f"{BLOCK}.claims", GONE, "chapter 00_mini: Object missing required field `claims`"),
        (f"{BLOCK}.claims", ["text"], "row number 1: Expected `object`, got `str`"),
        (f"{DOCUMENT}.version", GONE, "document ours: Object missing required field `version`"),
        (f"{DOCUMENT}.links", ["https://a.org"], "document ours: Expected `object`, got `array`"),
        (f"{DOCUMENT}.links", {"arXiv": "arxiv.org"}, "document ours: Expected `str` matching"),
        ("documents", GONE, "Object missing required field `documents`"),
    ],
)
def test_a_broken_ledger_is_refused_by_row_and_field(write, place, value, message):
    with pytest.raises(LedgerError, match=f"^claims.yml.*{re.escape(message)}"):
        load(write(damage(place, value)))


def test_a_caller_cannot_change_what_the_next_one_reads(write):
    path = write()
    row(load(path))["statement"] = "something else"
    load(path)["chapters"].clear()
    assert row(load(path))["statement"] == "s"


def test_an_edited_file_is_read_again(write):
    path = write()
    before = path.stat()
    assert row(load(path))["statement"] == "s"
    write(lambda data: row(data).update(statement="z"))  # as long as before
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert row(load(path))["statement"] == "z"


def test_a_state_of_the_file_is_parsed_once(write, monkeypatch):
    path = write()
    load(path)
    monkeypatch.setattr(yaml, "load", None)
    assert row(load(path))["id"] == "a"


def test_a_document_may_have_a_short_name_and_links(write):
    more = {"short": "T.", "links": {"arXiv": "https://arxiv.org/abs/1"}}
    path = write(lambda data: data["documents"]["ours"].update(more))
    assert load(path)["documents"]["ours"].items() >= more.items()


def test_a_row_may_say_how_it_was_amended_and_what_suggested_it(write):
    """YAML reads a date as a date; an old amendment has its commit, or several."""
    dated = CHANGE | {"date": datetime.date(2026, 11, 21), "commit": "abc1234, e4fed53"}

    def change(data):
        row(data).update(amended=[CHANGE, dated], audit="a reason")
        row(data)["source"]["suggested_by"] = "paper, Section 4"

    found = row(load(write(change)))
    assert found["amended"] == [CHANGE, dated]
    assert found["source"]["suggested_by"] == "paper, Section 4"


def test_a_claim_may_have_several_quotations(write):
    path = write(lambda data: printed(data).update(printed=["It falls.", "It rises."]))
    assert printed(load(path))["printed"] == ["It falls.", "It rises."]
