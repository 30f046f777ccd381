"""The conditions of the ledger: what they may say, hold and refuse."""

import importlib
import math
import re

import pytest

from claimbook.ledger import Ledger, compared_with
from claimbook.ledger.conditions import Condition, condition_of, pattern_of
from claimbook.ledger.schema import LedgerError, load
from iclutils.stats.estimate import Estimate

SOME = Estimate(1.0, 0.05, 9)  # 1.00 ± 0.33


@pytest.mark.parametrize(
    ("text", "outcome", "against"),
    [
        ("> 0.5", "supported", "> 0.5"),
        ("> 1.1", "undecided", "> 1.1"),
        ("< 0.5", "contradicted", "< 0.5"),
        ("< n / 5", "supported", "< 2"),
        ("= 1 ± 0.5", "supported", "= 1 to within 0.5"),
        ("= 2 ± 0.5", "contradicted", "= 2 to within 0.5"),
        ("= log(e) - 1 ± sqrt(0.04)", "contradicted", "= 0 to within 0.2"),
        ("in [-1, 3]", "supported", "in [-1, 3]"),
        ("in [max(2, 3), 2 ** 2]", "contradicted", "in [3, 4]"),
        ("= 1 ± stats.width(9) / 10", "supported", "= 1 to within 0.66"),
    ],
)
def test_a_condition_is_compared(text, outcome, against):
    found = Condition.parse(text).compare(SOME, {"n": 10, "e": math.e})
    assert (found.outcome, found.against) == (outcome, against)
    assert (found.value, found.half_width, found.dof) == (1.0, SOME.half_width, 9)


@pytest.mark.parametrize(
    "text",
    [
        "above 1000, and the moon is made of cheese",
        "> above 1000",
        "= 1",
        "in [1]",
        "> (lambda: 1)()",
        "> [1][0]",
        "> __import__('os').getpid()",
        "> x if y else z",
        "> (f)(1).g()",
        "> 'text'",
        "> True",
        "",
    ],
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(ValueError, match=r"condition|expression"):
        Condition.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "> os.getpid()",
        "> stats.nothing(1)",
        "> arguments.math.fabs(-1)",  # which the package imports and does not define
    ],
)
def test_what_is_no_function_of_the_package_is_refused_where_it_is_compared(text):
    with pytest.raises(ValueError, match="is no function of iclutils"):
        Condition.parse(text).compare(1.0, {})


def test_every_function_that_the_ledger_names_is_one():
    """Reading the ledger imports no tower; this does."""
    for row in load().rows:
        texts = [row.parts] if isinstance(row.parts, str) else list(row.parts.values())
        texts += [one.condition for one in row.controls.values()]
        for module, name in re.findall(r"([a-z][\w.]*)\.([a-z]\w*)\(", " ".join(texts)):
            assert callable(getattr(importlib.import_module(f"iclutils.{module}"), name))


def test_the_name_of_a_part_fills_its_places():
    parts = {
        "affine, d = {d}": "in [1/(d+4), 2/(d+4)]",
        "d = 2": "> 7",
        "{what}, all": "> 1",
        "*": "> 0",
    }
    assert condition_of(parts, "affine, d = 5").numbers == {"d": 5}
    assert condition_of(parts, "affine, d = 5").compare(0.2, {"d": 99}).outcome == "supported"
    assert condition_of(parts, "d = 2").text == "> 7"
    assert condition_of(parts, "ReLU, all").numbers == {}
    assert condition_of(parts, "else").text == "> 0"
    assert condition_of("> 3", "").text == "> 3"
    with pytest.raises(KeyError, match="no condition for the part 'b'"):
        pattern_of({"a": "> 0"}, "b")


def test_a_page_compares_with_what_the_condition_names():
    theory = Condition.parse("= theory ± 0.1")
    assert theory.compare(compared_with(1.0, theory=1.05), {}).outcome == "supported"
    assert theory.compare(compared_with(1.0, theory=1.2), {}).outcome == "contradicted"
    with pytest.raises(KeyError, match="'theory' has no value"):
        theory.compare(1.0, {})
    computed = Condition.parse("= 1 ± stats.width(trials)")
    assert computed.compare(compared_with(3.0, trials=9), {}).outcome == "supported"


def test_the_ledger_compares_what_is_written(write):
    def damage(data):
        rows = data["chapters"]["00_mini"]["claims"]
        rows[0]["parts"] = {"n = {n}": "> 0.1", "last": "= 1 ± 0.5"}
        rows[0]["controls"]["wrong"]["condition"] = "< 0.5"

    ledger = Ledger("00_mini", path=write(damage), seed=0, n=10)
    found = ledger.check("a", {"n = 3": SOME, "last": 1.2}, controls={"wrong": SOME}, value=SOME)
    assert found.verdict == "holds"
    assert found.value, found.half_width == (1.0, SOME.half_width)
    assert {name: part.against for name, part in found.parts.items()} == {
        "n = 3": "> 0.1",
        "last": "= 1 to within 0.5",
    }
    assert found.controls["wrong"].outcome == "contradicted"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"n = 3": SOME}, "a: conditions without a part: \\['last'\\]"),
        ({"n = 3": SOME, "last": 1.0, "more": 1.0}, "no condition for the part 'more'"),
        (
            {"n = 3": SOME, "last": compared_with(1.0, x=2)},
            "a, part 'last': .* does not name \\['x'\\]",
        ),
    ],
)
def test_parts_and_conditions_match_one_to_one(write, parts, message):
    def damage(data):
        data["chapters"]["00_mini"]["claims"][0]["parts"] = {"n = {n}": "> 0.1", "last": "> 0"}

    ledger = Ledger("00_mini", path=write(damage), seed=0, n=10)
    with pytest.raises((KeyError, ValueError), match=message):
        ledger.check("a", parts, controls={"wrong": 1.0}, value=1.0)


@pytest.mark.parametrize("parts", ["above", {}, {"a": "= 1"}, {3: "> 0"}, {"{d}, {d}": "> 0"}, []])
def test_a_row_with_no_conditions_is_refused(write, parts):
    def damage(data):
        data["chapters"]["00_mini"]["claims"][0]["parts"] = parts

    with pytest.raises(LedgerError, match=r"row a: .*parts"):
        load(write(damage))


def test_a_control_with_no_condition_is_refused(write):
    def damage(data):
        controls = data["chapters"]["00_mini"]["claims"][0]["controls"]
        controls["wrong"]["condition"] = "not so"

    with pytest.raises(LedgerError, match=r"row a: a condition must read .* at `\$.controls"):
        load(write(damage))


def test_what_is_no_yaml_is_a_broken_ledger(write):
    path = write()
    path.write_text(path.read_text() + "documents: 'open\n")
    with pytest.raises(LedgerError, match=r"claims.yml, line .* quoted scalar from line"):
        load(path)
