"""The schema of the ledger file: every breach is named."""

import re

import pytest

from claimbook.ledger.schema import load

CHANGE = {"date": "2026-11-21", "what": "the margin", "why": "a bug in it"}
EARLIER = CHANGE | {"date": "1990-01-01"}
NO_CONDITIONS = ("above", {"a": "= 1"}, {"{d}, {d}": "> 0"})
DOCUMENT = "documents.ours"
BLOCK = "chapters.00_mini"
ROW = f"{BLOCK}.claims.0"
SOURCE = f"{BLOCK}.claims.2.source"  # of a printed claim, in row k


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (f"{ROW}.tolerance", ..., "row a: Object missing required field `tolerance`"),
        (f"{ROW}.tolerence", "t", "row a: Object contains unknown field `tolerence`"),
        (f"{ROW}.expected", "not testable", "row a: Invalid enum value 'not testable'"),
        (f"{ROW}.brief", "a" * 140 + ".", "row a: Expected `str` of length <= 140 - at `$.brief`"),
        (f"{ROW}.controls", {}, "row a: Expected `object` of length >= 1 - at `$.controls`"),
        (f"{ROW}.controls.wrong.condition", "not so", "row a: a condition must read"),
        (f"{SOURCE}.document", "theirs", "row k: field 'source.document' must be one of"),
        *((f"{ROW}.parts", parts, "row a: field 'parts', ") for parts in NO_CONDITIONS),
        *((f"{ROW}.parts", parts, "row a: Expected `") for parts in ({}, {3: "> 0"}, [])),
        (f"{ROW}.source.printed", "words", "row a: field 'printed' is for printed claims"),
        (f"{SOURCE}.printed", ..., "row k: field 'printed' is missing"),
        (f"{SOURCE}.suggested_by", "x", "row k: field 'suggested_by' is for claims of ours"),
        (f"{ROW}.amended", [CHANGE | {"date": "today"}], "row a: Invalid RFC3339 encoded date"),
        (f"{ROW}.amended", [CHANGE, CHANGE | {"commit": "last"}], "at `$.amended[1].commit`"),
        (f"{ROW}.amended", [CHANGE, EARLIER], "'amended' must be in the order of its dates"),
        (f"{ROW}.id", "b", "row b: field 'id' is already used in chapter 00_mini"),
        (f"{BLOCK}.settings", {}, "chapter 00_mini: field 'settings' must hold 'seed'"),
        (f"{BLOCK}.claims", ..., "chapter 00_mini: Object missing required field `claims`"),
        (f"{BLOCK}.claims", ["text"], "Expected `object`, got `str` - at `$.chapters[...].cl"),
        (f"{DOCUMENT}.version", ..., "required field `version` - at `$.documents[...]`"),
        (f"{DOCUMENT}.links", {"arXiv": "arxiv.org"}, "regex '^https://' - at `$.documents"),
    ],
)
def test_a_broken_ledger_is_refused_by_row_and_field(write, place, value, message):
    with pytest.raises(ValueError, match=f"^claims.yml.*{re.escape(message)}"):
        load(write({place: value}))
