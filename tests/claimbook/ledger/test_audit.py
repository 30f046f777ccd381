"""The audit: checks that cannot come out otherwise, and controls that are none, are named."""

from types import SimpleNamespace

import pytest

from claimbook.ledger import HOLDS, Record
from claimbook.ledger.audit import audit, complaints
from claimbook.ledger.comparison import equal, greater, less, within
from iclutils.stats.estimate import Estimate, width

SLOPE = greater(Estimate(0.3137, 0.01, 19))
OTHER = greater(Estimate(-0.2718, 0.01, 19))  # a control on other data, contradicted
LOSS = equal(Estimate(1.0213, 0.002, 9), 1.0, tol=0.1)


def record(parts, controls):
    return Record("c", "r", HOLDS, 0.3, 0.05, parts, controls, {}, True)


def row(audit=None, **kinds):
    controls = {name: SimpleNamespace(kind=kind) for name, kind in kinds.items()}
    return SimpleNamespace(id="r", controls=controls, audit=audit)


def findings(part, control=OTHER, kind="wrong", **more):
    return list(audit(record({"part": part, **more}, {"control": control}), row(control=kind)))


@pytest.mark.parametrize(
    ("part", "control", "kind"),
    [
        (SLOPE, OTHER, "wrong"),
        (LOSS, OTHER, "wrong"),
        (SLOPE, greater(Estimate(0.3137, 0.01, 19), 1.5), "wrong"),  # too weak to pass a wrong rate
        (SLOPE, greater(Estimate(0.001, 0.01, 19)), "null"),
        (LOSS, equal(Estimate(1.0213, 0.002, 9), 2.0, tol=0.1), "wrong"),
        (less(Estimate(-0.5, 0.01, 9)), greater(Estimate(0.2, 0.01, 9)), "right"),
        (within(3.17, 2, 4), within(7.17, 2, 4), "wrong"),
        (greater(16, 15), greater(3, 15), "wrong"),  # counts
        (less(0, 1), less(0, 1), "right"),  # two counts may be equal
        (equal(80, 80, tol=0.5), equal(80, 64, tol=0.5), "wrong"),
        (greater(Estimate(0.001, 0.01, 19)), OTHER, "wrong"),  # undecided is no fault of the check
        (equal(Estimate(-0.64, 0.05, 9), 0.0, tol=0.1), OTHER, "wrong"),  # noisy, yet contradicted
        (greater(Estimate(1.0, 0.001, 99), 0.9), greater(Estimate(1.0, 0.001, 99), 0.9), "right"),
        (greater(0.5, -0.02), greater(0.5 - 1e-12, -0.02), "right"),  # exponents may be equal
    ],
)
def test_a_sound_check_has_no_finding(part, control, kind):
    assert findings(part, control, kind) == []


NO_CONTROLS = [
    (SLOPE, less(Estimate(0.3137, 0.01, 19)), "wrong", "only negates the part"),
    (SLOPE, greater(Estimate(-0.3137, 0.01, 19)), "wrong", "only negates the part"),
    (less(0.02, 0.1), greater(0.02, 0.1), "wrong", "only negates the part"),
    (SLOPE, SLOPE, "null", "is the same comparison as the part"),
    (SLOPE, less(Estimate(-0.3137, 0.01, 19)), "right", "is the same comparison as the part"),
    (LOSS, LOSS, "right", "is the same comparison as the part"),
    (
        LOSS,
        equal(Estimate(-1.0213, 0.002, 9), -1.0, tol=0.1),
        "right",
        "is the same comparison as the part",
    ),
    (SLOPE, less(Estimate(0.3137, 0.01, 19), -1.0), "wrong", "can only be contradicted where"),
    (SLOPE, greater(Estimate(-0.3137, 0.01, 19), 1.0), "wrong", "can only be contradicted where"),
    (SLOPE, greater(0.0), "wrong", "is zero by construction"),
    (SLOPE, greater(0.0, 0.5), "null", "is zero by construction"),
    (SLOPE, greater(Estimate(0.0, 0.2, 19)), "null", "is zero by construction"),
    (SLOPE, equal(1e-17, 0.0, tol=1e-9), "null", "is zero by construction"),
    (
        SLOPE,
        equal(Estimate(0.5, 0.1, 9), 0.4, tol=0.01),
        "right",
        "could hardly be supported: its interval",
    ),
]


@pytest.mark.parametrize(("part", "control", "kind", "message"), NO_CONTROLS)
def test_a_control_that_is_none_is_named(part, control, kind, message):
    found = findings(part, control, kind)
    assert len(found) == 1, found
    assert message in found[0]
    assert found[0].startswith(f"the {kind} control 'control' (")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            equal(Estimate(1.0, 0.1, 9), 1.3, tol=0.1),
            r"±0\.66 is more than 0\.8 of the margin 0\.1",
        ),
        (equal(1.3137, 1.0, tol=0.3137), "on the edge of its own tolerance"),
        (equal(Estimate(1.3137, 0.01, 9), 1.0, tol=0.3137), "on the edge of its own tolerance"),
        (greater(Estimate(width(9) * 0.0137, 0.0137, 9), 0.0), "on the edge of its own tolerance"),
        (equal(0.271828, 0.271828, tol=0.1), "held against itself"),
    ],
)
def test_a_part_that_cannot_turn_is_named(part, message):
    found = findings(part)
    assert len(found) == 1, found
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found[0])


@pytest.mark.parametrize(("part", "control", "kind", "message"), NO_CONTROLS)
def test_the_sign_of_a_number_makes_no_difference(part, control, kind, message):
    (found,) = findings(part.mirrored, control.mirrored, kind)
    assert message in found


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("edge", ["margin", "half_width", "difference", "sum"])
def test_a_value_on_any_edge_of_its_tolerance_or_interval_is_named(edge, side):
    se = 0.01372
    sizes = {"margin": 0.31415, "half_width": width(9) * se}
    sizes["difference"] = sizes["margin"] - sizes["half_width"]
    sizes["sum"] = sizes["margin"] + sizes["half_width"]
    away = side * sizes[edge]
    (found,) = findings(equal(Estimate(1.2345 + away, se, 9), 1.2345, tol=sizes["margin"]))
    assert "on the edge of its own tolerance" in found


def test_an_equality_leaves_room_in_its_margin():
    """At 0.8 of it, on either side."""
    for share, named in ((0.79, False), (0.81, True)):
        se = share * 0.05 / width(9)
        assert bool(findings(equal(Estimate(0.0137, se, 9), 0.0, tol=0.05))) == named
        null = equal(Estimate(0.2137, se, 9), 0.0, tol=0.05)
        assert bool(findings(SLOPE, null, "null")) == named
        wrong = equal(Estimate(0.2137, se, 9), 0.0, tol=0.05)
        assert findings(SLOPE, wrong, "wrong") == []  # its noise makes it harder to contradict


def test_parts_that_repeat_or_negate_each_other_are_named():
    (same,) = findings(SLOPE, again=less(Estimate(-0.3137, 0.01, 19)))
    assert same.startswith("the part 'again' (-0.314 ± 0.049 < 0) is the same comparison as the")
    (negated,) = findings(SLOPE, again=less(Estimate(0.3137, 0.01, 19)))
    assert negated.endswith("not both can hold")


def test_controls_that_repeat_each_other_are_named():
    controls = {"one": OTHER, "two": OTHER}
    (found,) = audit(record({"": SLOPE}, controls), row(one="wrong", two="wrong"))
    assert "control 'two'" in found
    assert "is the same comparison as the wrong control 'one'" in found


def test_a_row_may_say_why_a_finding_stands_but_not_without_one():
    bad = record({"": SLOPE}, {"control": less(Estimate(0.3137, 0.01, 19))})
    good = record({"": SLOPE}, {"control": OTHER})
    plain = row(control="wrong")
    excused = row("a reason", control="wrong")
    assert complaints(bad, plain)[0].startswith("r: the wrong control 'control'")
    assert complaints(bad, excused) == []
    assert complaints(good, plain) == []
    assert "excuses nothing" in complaints(good, excused)[0]


def test_many_findings_of_a_row_are_counted():
    parts = {str(i): equal(Estimate(1.0 + i / 70, 0.1, 9), 1.3, tol=0.1) for i in range(8)}
    plain = row(control="wrong")
    found = complaints(record(parts, {"control": OTHER}), plain)
    assert len(found) == 6
    assert found[-1] == "r: and 3 more findings of this row"


def test_a_row_that_was_not_tested_has_no_finding():
    assert list(audit(record({}, {}), row())) == []
