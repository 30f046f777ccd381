"""False claims that somebody tries to get past the ledger; those that no check can see are listed.

``CONTRIBUTING.md`` has the others under *What no check can see*; changes of a row after its first
number are in ``test_amendments.py``, sampled numbers without an interval in ``test_seeds.py``.
"""

import pytest

from claimbook.ledger import Ledger, compared_with
from claimbook.ledger.audit import complaints
from claimbook.ledger.comparison import Measured

ROW = "chapters.00_mini.claims.0"
FOUND = Measured(1.2345, 0.05, 9)  # of a row that says 0, or more than 0
OTHER = Measured(-2.3456, 0.05, 9)  # what a wrong control measures


def judge(write, parts, control, found, *, kind="wrong", control_found=OTHER, **check):
    """Return the record of one row and what the audit says of it."""

    controls = {"c": {"kind": kind, "what": "w", "condition": control}}
    changes = {f"{ROW}.parts": parts, f"{ROW}.controls": controls}
    ledger = Ledger("00_mini", path=write(changes), seed=0, n=10)
    record = ledger.check("a", found, controls={"c": control_found}, **check)
    return record, complaints(record, ledger.rows["a"])


@pytest.mark.parametrize(
    ("parts", "numbers", "message"),
    [
        ("> n", {"n": -1}, r"\['n'\] are the ledger's own"),  # a setting
        ({"d = {d}": "> 1/d"}, {"d": 50}, r"\['d'\] are the ledger's own"),  # of the part's name
        ({"d = {d}": "= 0 ± stats.width(d)"}, {"d": 1}, "the ledger's own"),
        ("> log10(n)", {"log10": 1}, "the ledger's own"),
        ("= 0 ± wide", {"wide": 30}, "a margin must be"),
        ("= 0 ± arguments.math.fabs(wide)", {"wide": 30}, "is no function of"),
        ("= 0 ± 1", {"wide": 30}, r"does not name \['wide'\]"),
    ],
)
def test_no_number_of_the_page_takes_the_place_of_one_of_the_ledger(write, parts, numbers, message):
    part = {"d = 5" if isinstance(parts, dict) else "": compared_with(FOUND, **numbers)}
    with pytest.raises(ValueError, match=message):
        judge(write, parts, "> 0", part, value=FOUND)


def test_a_theory_made_of_the_same_draws_is_seen_where_it_is_equal(write):
    handed = compared_with(FOUND, theory=FOUND.value)
    record, said = judge(write, "= theory ± 0.1", "> 0", handed)
    assert record.verdict == "holds"
    assert "held against itself" in said[0]


def test_a_null_control_too_noisy_to_find_anything_is_none(write):
    noisy = Measured(0.1, 3e5, 9)
    record, said = judge(write, "> 0", "> 0", FOUND, kind="null", control_found=noisy)
    assert record.verdict == "holds"
    assert "could never be supported" in said[0]
    quiet = Measured(0.1, 1.2, 9)
    assert judge(write, "> 0", "> 0", FOUND, kind="null", control_found=quiet)[1] == []


def test_a_number_shown_that_is_none_of_the_row_s_is_seen(write):
    record, said = judge(write, "> 0", "> 0", FOUND, value=123.456)
    assert record.value == 123.456
    assert said == ["a: the number shown, 123.456, is no part's and has no half-width"]
    for value in (FOUND, 12, Measured(0.5, 0.1)):  # a part's, a count, one with its interval
        assert judge(write, "> 0", "> 0", FOUND, value=value)[1] == []
