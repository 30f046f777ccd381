"""The schema of the ledger file: every breach is named, and a state of the file is parsed once."""

import datetime
import os
import re

import pytest
import yaml

from claimbook.ledger.schema import LedgerError, load, plain


def row(data):
    return data["chapters"]["00_mini"]["claims"][0]


def printed(data):
    return data["chapters"]["00_mini"]["claims"][2]["source"]


def first(claims):
    return claims.chapters["00_mini"].claims[0]


CHANGE = {"date": "2026-11-21", "what": "the margin", "why": "a bug in it"}
EARLIER = CHANGE | {"date": "1990-01-01"}
GONE = object()
DOCUMENT = "documents.ours"
BLOCK = "chapters.00_mini"
ROW = f"{BLOCK}.claims.0"
SOURCE = f"{BLOCK}.claims.2.source"  # of a printed claim, in row k
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
        (f"{ROW}.tolerence", "t", "row a: Object contains unknown field `tolerence`"),
        (
            f"{ROW}.source.plaice",
            "t",
            "row a: Object contains unknown field `plaice` - at `$.source`",
        ),
        (
            f"{ROW}.amended",
            [CHANGE, CHANGE | {"y": "z"}],
            "row a: Object contains unknown field `y` - at `$.amended[1]`",
        ),
        (f"{ROW}.kind", "guess", "row a: Invalid enum value 'guess' - at `$.kind`"),
        (f"{ROW}.expected", "hold", "row a: Invalid enum value 'hold' - at `$.expected`"),
        (f"{ROW}.expected", "not testable", "row a: Invalid enum value 'not testable'"),
        (f"{ROW}.statement", "", f"row a: {TEXT} - at `$.statement`"),
        (f"{ROW}.brief", "", "row a: Expected `str` matching regex"),
        (f"{ROW}.brief", "It falls", "row a: Expected `str` matching regex"),
        (f"{ROW}.brief", "$x$ falls.", "row a: Expected `str` matching regex"),
        (f"{ROW}.brief", "a" * 140 + ".", "row a: Expected `str` of length <= 140 - at `$.brief`"),
        (f"{ROW}.controls", {}, "row a: Expected `object` of length >= 1 - at `$.controls`"),
        (f"{ROW}.controls", ["w"], "row a: Expected `object`, got `array` - at `$.controls`"),
        (f"{ROW}.controls", {"w": "text"}, "row a: Expected `object`, got `str` - at `$.controls"),
        (f"{ROW}.controls.wrong.kind", "no", "row a: Invalid enum value 'no' - at `$.controls"),
        (f"{ROW}.controls.wrong.what", "", f"row a: {TEXT} - at `$.controls[...].what`"),
        (f"{SOURCE}.document", "theirs", "row k: field 'source.document' must be one of"),
        (f"{ROW}.source.place", GONE, "row a: Object missing required field `place`"),
        (f"{ROW}.source.reading", "clear", "row a: field 'reading' is for printed claims"),
        (f"{ROW}.source.printed", "words", "row a: field 'printed' is for printed claims"),
        (f"{SOURCE}.reading", "good", "row k: Invalid enum value 'good' - at `$.source.reading`"),
        (f"{SOURCE}.reading", GONE, "row k: field 'reading' is missing"),
        (f"{SOURCE}.printed", GONE, "row k: field 'printed' is missing"),
        (f"{SOURCE}.printed", " ", f"row k: {TEXT} - at `$.source.printed`"),
        (f"{SOURCE}.printed", [], "row k: Expected `array` of length >= 1 - at `$.source.printed`"),
        (f"{SOURCE}.printed", ["a", 1], "row k: Expected `str`, got `int` - at `$.source.printed"),
        (f"{SOURCE}.suggested_by", "x", "row k: field 'suggested_by' is for claims of ours"),
        (f"{ROW}.audit", "", f"row a: {TEXT} - at `$.audit`"),
        (f"{ROW}.amended", "once", "row a: Expected `array`, got `str` - at `$.amended`"),
        (
            f"{ROW}.amended",
            [{"date": "2026-11-21", "what": "a word"}],
            "missing required field `why`",
        ),
        (f"{ROW}.amended", [CHANGE | {"date": "today"}], "row a: Invalid RFC3339 encoded date"),
        (f"{ROW}.amended", [CHANGE, CHANGE | {"commit": "last"}], "at `$.amended[1].commit`"),
        (f"{ROW}.amended", [CHANGE | {"why": "x"}], "length >= 6 - at `$.amended[0].why`"),
        (f"{ROW}.amended", [CHANGE, EARLIER], "'amended' must be in the order of its dates"),
        (f"{ROW}.id", "b", "row b: field 'id' is already used in chapter 00_mini"),
        (f"{ROW}.id", "a b", "row a b: Expected `str` matching regex"),
        (f"{BLOCK}.settings", {}, "chapter 00_mini: field 'settings' must hold 'seed'"),
        (f"{BLOCK}.claims", GONE, "chapter 00_mini: Object missing required field `claims`"),
        (f"{BLOCK}.clams", [], "chapter 00_mini: Object contains unknown field `clams`"),
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


def test_an_edited_file_is_read_again(write):
    path = write()
    before = path.stat()
    assert first(load(path)).statement == "s"
    write(lambda data: row(data).update(statement="z"))  # as long as before
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert first(load(path)).statement == "z"


def test_a_state_of_the_file_is_parsed_once(write, monkeypatch):
    path = write()
    load(path)
    monkeypatch.setattr(yaml, "load", None)
    assert first(load(path)).id == "a"


def test_a_document_may_have_a_short_name_and_links(write):
    more = {"short": "T.", "links": {"arXiv": "https://arxiv.org/abs/1"}}
    path = write(lambda data: data["documents"]["ours"].update(more))
    assert plain(load(path).documents["ours"]).items() >= more.items()


def test_a_row_may_say_how_it_was_amended_and_what_suggested_it(write):
    """YAML reads a date as a date; an old amendment has its commit, or several."""
    dated = CHANGE | {"date": datetime.date(2026, 11, 21), "commit": "abc1234, e4fed53"}

    def change(data):
        row(data).update(amended=[CHANGE, dated], audit="a reason")
        row(data)["source"]["suggested_by"] = "paper, Section 4"

    found = first(load(write(change)))
    day = dated["date"]
    assert [plain(one) for one in found.amended] == [CHANGE | {"date": day}, dated]
    assert found.source.suggested_by == "paper, Section 4"


def test_a_claim_may_have_several_quotations(write):
    path = write(lambda data: printed(data).update(printed=["It falls.", "It rises."]))
    assert load(path).chapters["00_mini"].claims[2].source.printed == ["It falls.", "It rises."]
