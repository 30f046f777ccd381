"""The conditions of the ledger: what they may say, hold and refuse."""

import math
import re

import pytest

from claimbook.ledger import Ledger, compared_with, load
from claimbook.ledger.conditions import Condition, condition_of, function_of
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
    result = Condition.parse(text).compare(SOME, {"n": 10, "e": math.e})
    assert (result.outcome, result.against) == (outcome, against)
    assert (result.value, result.half_width, result.dof) == (1.0, SOME.half_width, 9)


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("condition|expression", ["above 1000", "= 1", "in [1]", "> 2 x", "", "= 1 ± (2"]),
        ("no function", ["> os.getpid()", "> stats.nothing(1)", "> arguments.math.fabs(-1)"]),
    ],
)
def test_what_is_no_condition_or_no_function_of_the_packages_is_refused(message, texts):
    for text in texts:
        with pytest.raises(ValueError, match=message):
            Condition.parse(text).compare(1.0, {})


def test_every_function_that_the_ledger_names_is_one():
    """Reading the ledger imports no tower; this does."""
    for row in load().rows:
        texts = [*row.conditions.values(), *(one.condition for one in row.controls.values())]
        for name in re.findall(r"([a-z]\w*(?:\.\w+)+)\(", " ".join(texts)):
            assert callable(function_of(name))


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
    chosen, condition = condition_of(parts, name)
    assert (chosen, condition.numbers, condition.text) == (pattern, numbers, parts[pattern])
    with pytest.raises(KeyError, match=f"no condition for the part '{name}'"):
        condition_of({"a": "> 0"}, name)


def test_a_page_compares_with_what_the_condition_names():
    theory = Condition.parse("= theory ± 0.1")
    assert theory.compare(compared_with(1.0, theory=1.05), {}).outcome == "supported"
    assert theory.compare(compared_with(1.0, theory=1.2), {}).outcome == "contradicted"
    with pytest.raises(KeyError, match="'theory' has no value"):
        theory.compare(1.0, {})
    computed = Condition.parse("= 1 ± stats.width(trials)")
    assert computed.compare(compared_with(3.0, trials=9), {}).outcome == "supported"


@pytest.mark.parametrize(
    ("parts", "numbers", "message"),
    [
        ("> n", {"n": -1}, r"\['n'\] are the ledger's own"),  # a setting
        ({"d = {d}": "> 1/d"}, {"d": 50}, r"\['d'\] are the ledger's own"),  # of the part's name
        ("> log10(n)", {"log10": 1}, "the ledger's own"),
        ("= 0 ± wide", {"wide": 30}, "a margin must be"),
        ("= 0 ± arguments.math.fabs(wide)", {"wide": 30}, "is no function of"),
        ("= 0 ± 1", {"wide": 30}, r"does not name \['wide'\]"),
    ],
)
def test_no_number_of_the_page_takes_the_place_of_one_of_the_ledger(write, parts, numbers, message):
    claims = write({"chapters.00_mini.claims.0.parts": parts})
    part = {"d = 5" if isinstance(parts, dict) else "": compared_with(SOME, **numbers)}
    with pytest.raises(ValueError, match=message):
        Ledger("00_mini", path=claims, seed=0, n=10).check(
            "a", part, controls={"wrong": SOME}, value=SOME
        )
