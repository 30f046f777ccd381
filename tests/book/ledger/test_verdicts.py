"""The ledger: its schema, how verdicts follow from outcomes, and how printed lines are compared."""

import copy
import json
import math
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iclutils import claims
from iclutils.claims import FAILS, HOLDS, IN_PART, NOT_TESTABLE, SUPERSEDED, Ledger, LedgerError, disagreement, parse_line
from iclutils.statistics import CONTRADICTED, SUPPORTED, UNDECIDED, equal, greater, less

BOOK = {
    "documents": {"ours": {"title": "T", "kind": "book", "version": "1"}},
    "chapters": {"00_mini": {"settings": {"seed": 0, "n": 10}, "claims": [
        {"id": "a", "source": {"document": "ours", "place": "p", "reading": "clear"}, "statement": "s", "kind": "identity",
         "statistic": "s", "criterion": "c", "tolerance": "t", "controls": {"wrong": "w"}, "expected": "holds"},
        {"id": "b", "source": {"document": "ours", "place": "p", "reading": "clear"}, "statement": "s", "kind": "limit",
         "statistic": "s", "criterion": "c", "tolerance": "t", "controls": {"wrong": "w"}, "expected": "fails",
         "superseded_by": "a later paper"},
        {"id": "n", "source": {"document": "ours", "place": "p", "reading": "illegible"}, "statement": "s", "kind": "rate",
         "statistic": "s", "criterion": "c", "tolerance": "t", "controls": {}, "expected": "not testable", "note": "unreadable"},
    ]}},
}
YES, NO, MAYBE = equal(1.0, 1.0, se=0.1), equal(1.0, 2.0, se=0.1), greater(0.0, 0.1, se=0.1)


@pytest.fixture
def write(tmp_path):
    """Write a damaged copy of BOOK and return its path."""
    def write(damage=lambda data: None):
        data = copy.deepcopy(BOOK)
        damage(data)
        path = tmp_path / "claims.yml"
        path.write_text(yaml.safe_dump(data), encoding="utf8")
        return path
    return write


@pytest.fixture
def ledger(write):
    return Ledger("00_mini", path=write(), seed=0, n=10)


# ------------------------------------------------------------------ schema


def test_the_books_own_ledger_is_valid():
    data = claims.load()
    assert data["chapters"]


def row(data):
    return data["chapters"]["00_mini"]["claims"][0]


@pytest.mark.parametrize(("damage", "message"), [
    (lambda d: row(d).pop("tolerance"), "row a: field 'tolerance' is missing"),
    (lambda d: row(d).update(tolerence="t"), "row a: field 'tolerence' is unknown"),
    (lambda d: row(d).update(kind="guess"), "row a: field 'kind' must be one of"),
    (lambda d: row(d).update(expected="hold"), "row a: field 'expected' must be one of"),
    (lambda d: row(d).update(statement=""), "row a: field 'statement' must be non-empty text"),
    (lambda d: row(d).update(controls={}), "row a: field 'controls' needs at least one negative control"),
    (lambda d: row(d).update(controls=["w"]), "row a: field 'controls' must map"),
    (lambda d: row(d)["source"].update(document="theirs"), "row a: field 'source.document' must be one of"),
    (lambda d: row(d)["source"].pop("place"), "row a, field 'source': field 'place' is missing"),
    (lambda d: row(d)["source"].update(reading="good"), "row a: field 'source.reading' must be one of"),
    (lambda d: row(d).update(id="b"), "row b: field 'id' is already used in chapter 00_mini"),
    (lambda d: row(d).update(id="a b"), "row a b: field 'id' must"),
    (lambda d: row(d).update(expected="not testable"), "row a: field 'note' must say why"),
    (lambda d: d["chapters"]["00_mini"]["settings"].pop("seed"), "field 'settings' must hold 'seed'"),
    (lambda d: d["chapters"]["00_mini"].pop("claims"), "chapter 00_mini: field 'claims' is missing"),
    (lambda d: d["documents"]["ours"].pop("version"), "document ours: field 'version' is missing"),
    (lambda d: d.pop("documents"), "field 'documents' is missing"),
])
def test_a_broken_ledger_is_refused_by_row_and_field(write, damage, message):
    with pytest.raises(LedgerError, match=re.escape(message)):
        claims.load(write(damage))


# ------------------------------------------------------------------ verdicts


@pytest.mark.parametrize(("outcomes", "verdict", "superseded"), [
    ([SUPPORTED], HOLDS, HOLDS),
    ([SUPPORTED, SUPPORTED], HOLDS, HOLDS),
    ([SUPPORTED, CONTRADICTED], IN_PART, SUPERSEDED),
    ([SUPPORTED, UNDECIDED], IN_PART, SUPERSEDED),
    ([CONTRADICTED, CONTRADICTED], FAILS, SUPERSEDED),
    ([CONTRADICTED, UNDECIDED], NOT_TESTABLE, NOT_TESTABLE),
    ([UNDECIDED], NOT_TESTABLE, NOT_TESTABLE),
])
def test_the_verdict_follows_from_the_outcomes(outcomes, verdict, superseded):
    assert claims.verdict_of(outcomes) == verdict
    assert claims.verdict_of(outcomes, superseded=True) == superseded


def test_a_check_prints_one_line_and_records_it(ledger, capsys):
    record = ledger.check("a", YES, controls={"wrong": NO})
    assert capsys.readouterr().out == "a · holds · 1.00 ± 0.40\n"
    assert record == ledger.records["a"]
    assert record.default_settings
    json.dumps(record.parts)


def test_a_control_that_passes_makes_the_row_not_testable(ledger, capsys):
    record = ledger.check("a", YES, controls={"wrong": YES})
    assert record.verdict == NOT_TESTABLE
    assert capsys.readouterr().out == "a · not testable · 1.00 ± 0.40  (negative control passed: wrong)\n"


def test_a_row_that_a_later_source_corrects_is_superseded(ledger):
    assert ledger.check("b", {"x": YES, "y": NO}, controls={"wrong": NO}, value=3.0, half_width=0).verdict == SUPERSEDED


def test_an_untestable_row_says_why(ledger, capsys):
    ledger.not_testable("n")
    assert capsys.readouterr().out == "n · not testable  (unreadable)\n"
    with pytest.raises(ValueError, match="only rows with a reason"):
        ledger.not_testable("a")


def test_turned_knobs_are_marked(write, capsys):
    Ledger("00_mini", path=write(), seed=1, n=10).check("a", YES, controls={"wrong": NO})
    assert capsys.readouterr().out == claims.AT_YOUR_SETTINGS + "a · holds · 1.00 ± 0.40\n"


@pytest.mark.parametrize(("error", "message", "call"), [
    (KeyError, "id must be one of", lambda g: g.check("zz", YES, controls={"wrong": NO})),
    (ValueError, "controls of a must be", lambda g: g.check("a", YES, controls={})),
    (ValueError, "parts of a must hold", lambda g: g.check("a", {}, controls={"wrong": NO})),
    (ValueError, "must be finite numbers", lambda g: g.check("a", {"x": YES}, controls={"wrong": NO})),
    (ValueError, "must be finite numbers", lambda g: g.check("a", YES, controls={"wrong": NO}, value=math.nan, half_width=1.0)),
    (ValueError, "already checked", lambda g: [g.check("a", YES, controls={"wrong": NO}) for _ in range(2)]),
])
def test_a_wrong_call_is_refused(ledger, error, message, call):
    with pytest.raises(error, match=message):
        call(ledger)


def test_an_unknown_chapter_or_knob_is_refused(write):
    with pytest.raises(KeyError, match="chapter must be one of"):
        Ledger("99_none", path=write(), seed=0)
    with pytest.raises(ValueError, match=r"settings of 00_mini must be \['n', 'seed'\]"):
        Ledger("00_mini", path=write(), seed=0)


# ------------------------------------------------------------------ lines


@pytest.mark.parametrize(("value", "half_width", "text"), [
    (0.3312, 0.012, "0.331 ± 0.012"), (12, 0, "12 ± 0"), (-2.0, 0.5, "-2.00 ± 0.50"), (1234567.0, 0, "1234567 ± 0"),
    (3.21e-7, 1.2e-8, "(3.21 ± 0.12)e-07"), (4.5e6, 1e5, "(4.50 ± 0.10)e+06"), (0.0, 1e-12, "(0.0 ± 1.0)e-12"),
    (150.0, 40.0, "150 ± 40"),
])
def test_a_value_is_shown_to_two_digits_of_its_error(value, half_width, text):
    assert claims.format_value(value, half_width) == text


@given(value=st.floats(-1e12, 1e12), half_width=st.floats(1e-15, 1e12), verdict=st.sampled_from(claims.VERDICTS))
def test_a_line_is_read_back(value, half_width, verdict):
    record = claims.Record("c", "ch1-some.id", verdict, value, half_width, {}, {}, {}, True)
    line = parse_line(record.line() + "  (a reason (or two))")
    assert (line.id, line.verdict, line.text) == ("ch1-some.id", verdict, record.line())
    assert line.value is not None
    assert line.half_width is not None
    assert abs(line.value - value) <= 0.051 * half_width + 1e-9 * abs(value)
    assert line.half_width == pytest.approx(half_width, rel=0.051)
    assert disagreement(line, line) == ""


@given(count=st.integers(-10**12, 10**12))
def test_a_count_is_read_back_exactly(count):
    line = parse_line(claims.Record("c", "a", HOLDS, float(count), 0.0, {}, {}, {}, True).line())
    assert (line.value, line.half_width) == (count, 0.0)


@pytest.mark.parametrize("text", ["", "a table", "a · maybe · 1 ± 1", "a · holds · 1", "a · holds · nan ± 1", None,
                                  "at your settings: a · holds · 1 ± 1"])
def test_other_text_is_not_a_line(text):
    with pytest.raises(ValueError, match="text must read"):
        parse_line(text)


@pytest.mark.parametrize(("expected", "found", "message"), [
    ("a · holds · 1.00 ± 0.10", "a · holds · 1.09 ± 0.14", ""),
    ("a · holds · 1.00 ± 0.10", "a · holds · 1.20 ± 0.10", "moved by 0.2, which is 2 times the expected ±"),
    ("a · holds · 1.00 ± 0.10", "a · holds · 1.00 ± 0.16", "the half-width changed by the factor 1.6"),
    ("a · holds · 1.00 ± 0.10", "a · holds · 1.000 ± 0.060", "the half-width changed by the factor 0.6"),
    ("a · holds · 1.00 ± 0.10", "a · fails · 1.00 ± 0.10", "the verdict changed from 'holds' to 'fails'"),
    ("a · holds · 7 ± 0", "a · holds · 8 ± 0", "the count changed by +1"),
    ("a · holds · 7 ± 0", "a · holds · 7.0 ± 1.0", "one of the two values is a count"),
    ("a · not testable", "a · not testable · 1.0 ± 1.0", "one of the two lines has no value"),
    ("a · not testable", "a · not testable", ""),
])
def test_lines_are_compared(expected, found, message):
    result = disagreement(parse_line(expected), parse_line(found))
    assert message in result
    assert bool(message) == bool(result)


def test_other_seeds_are_compared_by_verdict_alone():
    expected = parse_line("a · holds · 1.00 ± 0.10")
    assert disagreement(expected, parse_line("a · holds · 9.00 ± 0.50"), verdict_only=True) == ""
    assert disagreement(expected, parse_line("a · fails · 1.00 ± 0.10"), verdict_only=True)


def test_outcomes_are_counted_for_prose():
    assert claims.outcomes({"x": YES, "y": NO, "z": MAYBE}) == "1 of 3 supported, 1 contradicted, 1 undecided"
    assert claims.outcomes({"x": YES, "y": less(1.0, 2.0)}) == "2 of 2 supported"
