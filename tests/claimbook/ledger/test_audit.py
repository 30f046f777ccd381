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
NEGATED = less(Estimate(0.3137, 0.01, 19))


def record(parts, controls, value=0.3, half_width=0.05):
    return Record("c", "r", HOLDS, value, half_width, parts, controls, {}, True)


def row(audit=None, **kinds):
    controls = {name: SimpleNamespace(kind=kind) for name, kind in kinds.items()}
    return SimpleNamespace(id="r", controls=controls, audit=audit)


def findings(part, control=OTHER, kind="wrong", **more):
    return list(audit(record({"part": part, **more}, {"control": control}), row(control=kind)))


@pytest.mark.parametrize(
    ("part", "control", "kind"),
    [
        (SLOPE, OTHER, "wrong"),
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


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("part", "control", "kind", "message"),
    [
        (SLOPE, NEGATED, "wrong", "only negates the part"),
        (SLOPE, greater(Estimate(-0.3137, 0.01, 19)), "wrong", "only negates the part"),
        (less(0.02, 0.1), greater(0.02, 0.1), "wrong", "only negates the part"),
        (SLOPE, SLOPE, "null", "is the same comparison as the part"),
        (SLOPE, less(Estimate(-0.3137, 0.01, 19)), "right", "is the same comparison as the part"),
        (LOSS, LOSS, "right", "is the same comparison as the part"),
        (LOSS, LOSS.mirrored, "right", "is the same comparison as the part"),
        (SLOPE, less(Estimate(0.3137, 0.01, 19), -1.0), "wrong", "can only be contradicted where"),
        (SLOPE, greater(0.0), "wrong", "is zero by construction"),
        (SLOPE, greater(Estimate(0.0, 0.2, 19)), "null", "is zero by construction"),
        (SLOPE, equal(1e-17, 0.0, tol=1e-9), "null", "is zero by construction"),
        (SLOPE, greater(Estimate(0.1, 1e5, 9)), "null", "could never be supported by an effect"),
    ],
)
def test_a_control_that_is_none_is_named(part, control, kind, message, mirrored):
    """The sign of a number makes no difference."""
    if mirrored:
        part, control = part.mirrored, control.mirrored
    (fault,) = findings(part, control, kind)
    assert message in fault
    assert fault.startswith(f"the {kind} control 'control' (")


@pytest.mark.parametrize(("share", "named"), [(0.79, False), (0.81, True)])
def test_an_equality_leaves_a_fifth_of_its_margin(share, named):
    near, far = (
        equal(Estimate(value, share * 0.05 / width(9), 9), 0.0, tol=0.05)
        for value in (0.0137, 0.2137)
    )
    assert bool(findings(near)) == bool(findings(SLOPE, far, "null")) == named
    assert findings(SLOPE, far, "wrong") == []  # its noise makes it harder to contradict


def test_parts_and_controls_that_repeat_or_negate_each_other_or_themselves_are_named():
    (itself,) = findings(equal(0.271828, 0.271828, tol=0.1))  # a theory of the same draws
    assert "held against itself" in itself
    (same,) = findings(SLOPE, again=less(Estimate(-0.3137, 0.01, 19)))
    assert same.startswith("the part 'again' (-0.314 ± 0.049 < 0) is the same comparison as the")
    (negated,) = findings(SLOPE, again=NEGATED)
    assert negated.endswith("not both can hold")
    faults = list(audit(record({"": SLOPE}, {"a": OTHER, "b": OTHER}), row(a="null", b="null")))
    assert "is the same comparison as the null control 'a'" in faults[0]


@pytest.mark.parametrize(
    ("value", "half_width", "named"),
    [
        (123.456, 0.0, True),
        (SLOPE.value, SLOPE.half_width, False),  # a part's
        (12.0, 0.0, False),  # a count
        (0.5, 0.1, False),  # one with its interval
    ],
)
def test_a_number_shown_that_is_none_of_the_row_s_is_named(value, half_width, named):
    found = record({"part": SLOPE}, {"control": OTHER}, value, half_width)
    assert ["no part's" in fault for fault in audit(found, row(control="wrong"))] == [True] * named


def test_a_row_may_say_why_a_finding_stands_but_not_without_one():
    bad, good = (record({"": SLOPE}, {"control": one}) for one in (NEGATED, OTHER))
    plain, excused = row(control="wrong"), row("a reason", control="wrong")
    assert complaints(bad, plain)[0].startswith("r: the wrong control 'control'")
    assert complaints(bad, excused) == []
    assert "excuses nothing" in complaints(good, excused)[0]
