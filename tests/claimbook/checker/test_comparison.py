"""What is compared with what, and when: the run with its reference, each in every mode."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from claimbook.checker.comparison import ClaimItem, LedgerItem, PageItem
from claimbook.checker.findings import Consequence, Finding
from claimbook.checker.reference import Claim, Headline, Part, Reference

RISES = Part("supported", 1.0, 0.1, "> 0")
FALLS = Part("contradicted", -1.0, 0.1, "> 0")
CLAIM = Claim(Headline("mini-a", "holds", 1.0, 0.1), {"rises": RISES}, {"falls": FALLS})
PAGE = {"told": {"slope": "0.31"}, "printed": [["3 steps"]]}


def shows(page=PAGE, **claim):
    """What a reference holds, or a run shows."""
    return Reference([replace(CLAIM, **claim)], **page)


class Run(SimpleNamespace):
    """What the checks ask of a run."""

    label = chapter = "01_mini"
    seconds = 1.0

    def ledger_findings(self, must_be_expected):
        return iter(self.findings)

    def audit_findings(self):
        return self.audited

    def write_expected(self):
        self.noted.append("written")

    def was_judged(self):
        self.noted.append(dict(self.judged))


@pytest.fixture
def checked():
    """The names of the checks that are red, of a run that shows ``shown``."""

    def check(shown, mode="compare", **run):
        fields = {"whole": True, "master_seed": None, "at_own_settings": False, "findings": []}
        fields["audited"] = []
        fields |= {"expected": shows(), "shown": shown, "judged": {}, "records": [], "noted": []}
        made = Run(**(fields | run))
        config = SimpleNamespace(option=SimpleNamespace(chapters=mode))
        found = {}
        items = ((ClaimItem, "claim:mini-a"), (PageItem, "page"), (LedgerItem, "ledger"))
        for kind, name in items if made.expected.claims else items[-1:]:
            item = object.__new__(kind)
            item.run, item.name, item.config, item.user_properties = made, name, config, []
            try:
                item.runtest()
            except (Finding, pytest.skip.Exception) as found_now:
                found[name] = found_now
        return found, made

    return check


OTHERS = {
    "verdict": shows(claim=replace(CLAIM.claim, verdict="fails")),
    "value": shows(claim=replace(CLAIM.claim, value=2.0)),
    "part": shows(parts={"rises": replace(RISES, against="> -9")}),
    "part's value": shows(parts={"rises": replace(RISES, value=3.0)}),
    "control": shows(controls={"falls": replace(FALLS, outcome="undecided")}),
    "no control": shows(controls={}),
    "told": shows(PAGE | {"told": {"slope": "0.41"}}),
    "not told": shows(PAGE | {"told": {}}),
    "printed, but not told": shows(PAGE | {"printed": [["4 steps"]]}),
}


@pytest.mark.parametrize("mode", ["compare", "try"])
def test_what_is_the_same_is_green_and_noted_so(checked, mode):
    found, run = checked(shows(), mode)
    assert found == {}
    assert run.noted == [{"claim:mini-a": True, "page": True, "ledger": True}]


@pytest.mark.parametrize("mode", ["compare", "try"])
@pytest.mark.parametrize("what", OTHERS)
def test_every_difference_is_red_and_noted_so(checked, what, mode):
    found, run = checked(OTHERS[what], mode)
    (red,) = found
    assert red == ("page" if "told" in what else "claim:mini-a")
    (noted,) = run.noted
    assert noted == {"claim:mini-a": True, "page": True, "ledger": True} | {red: False}


@pytest.mark.parametrize(
    ("mode", "expected"), [("compare", shows()), ("try", shows()), ("try", Reference())]
)
def test_a_departure_from_the_ledger_is_red_and_noted_so(checked, mode, expected):
    findings = ["checked more than once"]
    found, run = checked(shows(), mode, expected=expected, findings=findings)
    assert found.keys() == {"ledger"}
    assert isinstance(found["ledger"], Finding)
    assert run.noted[-1]["ledger"] is False


@pytest.mark.parametrize("what", ["findings", "audited", ""])
def test_a_reference_is_rewritten_only_where_nothing_was_found(checked, what):
    found, run = checked(shows(), "expected", **({what: ["too near its edge"]} if what else {}))
    assert ("ledger" in found) == bool(what)
    assert ("written" in run.noted) == (not what)


def test_only_turned_knobs_are_spared_and_only_by_who_tries(checked):
    other = OTHERS["value"]
    found, _ = checked(other, "try", at_own_settings=True)
    assert all(isinstance(one, pytest.skip.Exception) for one in found.values())
    for mode, own in (("compare", True), ("try", False)):
        found, _ = checked(other, mode, at_own_settings=own)
        assert isinstance(found["claim:mini-a"], Finding), (mode, own)


def test_under_another_master_seed_the_verdict_alone_is_compared(checked):
    spared = {"value", "part", "part's value", "control", "no control"}
    for what, shown in OTHERS.items():
        found, _ = checked(shown, master_seed=3)
        assert ("claim:mini-a" in found) == (what == "verdict"), what
    assert spared < OTHERS.keys()


def test_of_a_run_that_broke_off_nothing_is_judged(checked):
    found, run = checked(shows(), whole=False)
    assert {type(one) for one in found.values()} == {Consequence}
    assert run.noted == [{}]
