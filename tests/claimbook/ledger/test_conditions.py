"""The conditions of the ledger: what they may say, hold and refuse."""

import importlib
import math
import re
from contextlib import nullcontext

import pytest

from claimbook.ledger import Ledger, compared_with, load
from claimbook.ledger.conditions import Condition, condition_of
from claimbook.ledger.schema import LedgerError
from iclutils.stats.estimate import Estimate

SOME = Estimate(1.0, 0.05, 9)  # 1.00 ± 0.33


@pytest.mark.parametrize(
    ("text", "outcome", "against"),
    [
        ("> 1.1", "undecided", "> 1.1"),
        ("< 0.5", "contradicted", "< 0.5"),
        ("< n / 5", "supported", "< 2"),
        ("= 1 ± 0.5", "supported", "= 1 to within 0.5"),
        ("= log(e) - 1 ± sqrt(0.04)", "contradicted", "= 0 to within 0.2"),
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
        "= 1",
        "in [1]",
        "> (lambda: 1)()",
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


@pytest.mark.parametrize("call", ["os.getpid()", "stats.nothing(1)", "arguments.math.fabs(-1)"])
def test_what_no_module_of_the_package_defines_is_refused_where_it_is_compared(call):
    with pytest.raises(ValueError, match="is no function of iclutils"):
        Condition.parse(f"> {call}").compare(1.0, {})


def test_every_function_that_the_ledger_names_is_one():
    """Reading the ledger imports no tower; this does."""
    for row in load().rows:
        texts = [row.parts] if isinstance(row.parts, str) else list(row.parts.values())
        texts += [one.condition for one in row.controls.values()]
        for module, name in re.findall(r"([a-z][\w.]*)\.([a-z]\w*)\(", " ".join(texts)):
            assert callable(getattr(importlib.import_module(f"iclutils.{module}"), name))


@pytest.mark.parametrize(
    ("name", "pattern", "numbers"),
    [
        ("affine, d = 5", "affine, d = {d}", {"d": 5}),
        ("d = 2", "d = 2", {}),
        ("ReLU, all", "{what}, all", {}),
        ("else", "*", {}),
    ],
)
def test_the_name_of_a_part_fills_its_places(name, pattern, numbers):
    parts = {"affine, d = {d}": "> 1/d", "d = 2": "> 7", "{what}, all": "> 1", "*": "> 0"}
    found, condition = condition_of(parts, name)
    assert (found, condition.numbers, condition.text) == (pattern, numbers, parts[pattern])


def test_a_part_without_a_condition_is_refused():
    assert condition_of("> 3", "")[1].text == "> 3"
    with pytest.raises(KeyError, match="no condition for the part 'b'"):
        condition_of({"a": "> 0"}, "b")


def test_a_page_compares_with_what_the_condition_names():
    theory = Condition.parse("= theory ± 0.1")
    assert theory.compare(compared_with(1.0, theory=1.05), {}).outcome == "supported"
    assert theory.compare(compared_with(1.0, theory=1.2), {}).outcome == "contradicted"
    with pytest.raises(KeyError, match="'theory' has no value"):
        theory.compare(1.0, {})
    computed = Condition.parse("= 1 ± stats.width(trials)")
    assert computed.compare(compared_with(3.0, trials=9), {}).outcome == "supported"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"n = 3": SOME, "last": 1.2}, ""),
        ({"n = 3": SOME}, "a: conditions without a part: \\['last'\\]"),
        ({"n = 3": SOME, "last": 1.0, "more": 1.0}, "no condition for the part 'more'"),
        ({"n = 3": SOME, "last": compared_with(1.0, x=2)}, "a, part 'last': .* name \\['x'\\]"),
    ],
)
def test_parts_and_conditions_match_one_to_one(write, parts, message):
    def damage(data):
        rows = data["chapters"]["00_mini"]["claims"]
        rows[0]["parts"] = {"n = {n}": "> 0.1", "last": "= 1 ± 0.5"}

    ledger = Ledger("00_mini", path=write(damage), seed=0, n=10)
    refused = pytest.raises((KeyError, ValueError), match=message) if message else nullcontext()
    with refused:
        found = ledger.check("a", parts, controls={"wrong": 9.0}, value=SOME)
        against = {name: part.against for name, part in found.parts.items()}
        assert against == {"n = 3": "> 0.1", "last": "= 1 to within 0.5"}


@pytest.mark.parametrize("parts", ["above", {}, {"a": "= 1"}, {3: "> 0"}, {"{d}, {d}": "> 0"}, []])
def test_a_row_with_no_conditions_is_refused(write, parts):
    def damage(data):
        data["chapters"]["00_mini"]["claims"][0]["parts"] = parts

    with pytest.raises(LedgerError, match=r"row a: .*parts"):
        load(write(damage))
