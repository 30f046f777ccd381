"""The schema of the ledger file: every breach is named, and a state of the file is parsed once."""

import datetime
import os
import re

import pytest
import yaml

from iclutils.book.ledger import LedgerError, load


def test_the_books_own_ledger_is_valid():
    data = load()
    assert data["chapters"]


def row(data):
    return data["chapters"]["00_mini"]["claims"][0]


def printed(data):
    return data["chapters"]["00_mini"]["claims"][3]["source"]


CHANGE = {"date": "2026-11-21", "what": "the margin", "why": "a bug"}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: row(d).pop("tolerance"), "row a: field 'tolerance' is missing"),
        (lambda d: row(d).update(tolerence="t"), "row a: field 'tolerence' is unknown"),
        (lambda d: row(d).update(kind="guess"), "row a: field 'kind' must be one of"),
        (lambda d: row(d).update(expected="hold"), "row a: field 'expected' must be one of"),
        (lambda d: row(d).update(statement=""), "row a: field 'statement' must be non-empty text"),
        (lambda d: row(d).update(brief=""), "row a: field 'brief' must be non-empty text"),
        (lambda d: row(d).update(brief="It falls"), "row a: field 'brief' must be a sentence"),
        (lambda d: row(d).update(brief="$x$ falls."), "row a: field 'brief' must be a sentence"),
        (lambda d: row(d).update(brief="a" * 140 + "."), "row a: field 'brief' must be a sentence"),
        (
            lambda d: row(d).update(controls={}),
            "row a: field 'controls' needs at least one control",
        ),
        (lambda d: row(d).update(controls=["w"]), "row a: field 'controls' must map"),
        (
            lambda d: row(d)["source"].update(document="theirs"),
            "row a: field 'source.document' must be one of",
        ),
        (
            lambda d: row(d)["source"].pop("place"),
            "row a, field 'source': field 'place' is missing",
        ),
        (
            lambda d: row(d)["source"].update(reading="clear"),
            "row a: field 'source.reading' is for printed claims, not ours",
        ),
        (
            lambda d: row(d)["source"].update(printed="words"),
            "row a: field 'source.printed' is for printed claims, not ours",
        ),
        (
            lambda d: printed(d).update(reading="good"),
            "row k: field 'source.reading' must be one of",
        ),
        (lambda d: printed(d).pop("reading"), "row k: field 'source.reading' is missing"),
        (lambda d: printed(d).pop("printed"), "row k: field 'source.printed' is missing"),
        (lambda d: printed(d).update(printed=" "), "row k: field 'source.printed' must be non-emp"),
        (lambda d: printed(d).update(printed=[]), "row k: field 'source.printed' must be non-emp"),
        (
            lambda d: printed(d).update(printed=["a", 1]),
            "row k: field 'source.printed' must be non-empty text; got 1",
        ),
        (
            lambda d: printed(d).update(suggested_by="x"),
            "row k: field 'source.suggested_by' is for claims of ours only",
        ),
        (lambda d: row(d).pop("quantity"), "row a: field 'quantity' is missing"),
        (lambda d: row(d).update(controls={"w": "text"}), "'controls.w': must be a mapping"),
        (
            lambda d: row(d).update(controls={"w": {"kind": "negative", "what": "w"}}),
            "row a: field 'controls.w.kind' must be one of ['wrong', 'null', 'right']",
        ),
        (
            lambda d: row(d).update(controls={"w": {"kind": "null", "what": ""}}),
            "row a: field 'controls.w.what' must be non-empty text",
        ),
        (lambda d: row(d).update(audit=""), "row a: field 'audit' must be non-empty text"),
        (lambda d: row(d).update(amended="once"), "row a: field 'amended' must be a list"),
        (
            lambda d: row(d).update(amended=[{"date": "2026-11-21", "what": "w"}]),
            "row a, field 'amended', number 1: field 'why' is missing",
        ),
        (
            lambda d: row(d).update(amended=[CHANGE | {"date": "today"}]),
            "row a, field 'amended', number 1: field 'date' must read 2026-11-21; got 'today'",
        ),
        (
            lambda d: row(d).update(amended=[CHANGE, CHANGE | {"commit": "the last"}]),
            "row a, field 'amended', number 2: field 'commit' must be the hash of a commit",
        ),
        (
            lambda d: row(d).update(amended=[CHANGE | {"why": " "}]),
            "row a, field 'amended', number 1: field 'why' must be non-empty text",
        ),
        (lambda d: row(d).update(id="b"), "row b: field 'id' is already used in chapter 00_mini"),
        (lambda d: row(d).update(id="a b"), "row a b: field 'id' must"),
        (lambda d: row(d).update(expected="not testable"), "row a: field 'note' must say why"),
        (
            lambda d: d["chapters"]["00_mini"]["settings"].pop("seed"),
            "field 'settings' must hold 'seed'",
        ),
        (
            lambda d: d["chapters"]["00_mini"]["knobs"].pop("n"),
            "field 'knobs' must hold ['n', 'seed']",
        ),
        (
            lambda d: d["chapters"]["00_mini"]["knobs"].update(n={"turned": 20}),
            "field 'knobs.n': 'low' or 'above' is missing",
        ),
        (
            lambda d: d["chapters"]["00_mini"]["knobs"].update(n={"low": 2, "turned": 10}),
            "field 'knobs.n': 'turned' is the default, 10",
        ),
        (
            lambda d: d["chapters"]["00_mini"]["knobs"].update(n={"low": 11, "turned": 20}),
            "field 'knobs.n': n must be at least 11; got 10",
        ),
        (
            lambda d: d["chapters"]["00_mini"]["knobs"].update(n={"low": 2, "turned": 2.5}),
            "field 'knobs.n': n must be a whole number; got 2.5",
        ),
        (
            lambda d: d["chapters"]["00_mini"].pop("claims"),
            "chapter 00_mini: field 'claims' is missing",
        ),
        (
            lambda d: d["documents"]["ours"].pop("version"),
            "document ours: field 'version' is missing",
        ),
        (
            lambda d: d["documents"]["ours"].update(links=["https://a.org"]),
            "document ours: field 'links' must map labels to addresses",
        ),
        (
            lambda d: d["documents"]["ours"].update(links={"arXiv": "arxiv.org"}),
            "document ours: field 'links.arXiv' must be an address that starts with https://",
        ),
        (lambda d: d.pop("documents"), "field 'documents' is missing"),
    ],
)
def test_a_broken_ledger_is_refused_by_row_and_field(write, damage, message):
    with pytest.raises(LedgerError, match=re.escape(message)):
        load(write(damage))


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
