"""What a chapter shows, read from its run, written, read back and compared."""

import pytest
from msgspec.structs import replace
from nbformat import v4

from claimbook.check import rounding
from claimbook.check.agreement import USUAL_DOF, half_width_factor
from claimbook.check.differences import PAGE, compare, differences
from claimbook.check.figure_snapshot import Series, series_of
from claimbook.check.snapshot import Claim, Headline, Part, Snapshot
from claimbook.ledger import Record
from claimbook.ledger.comparison import equal
from claimbook.ledger.record import VERDICT
from claimbook.ledger.text import Number
from iclutils.stats.estimate import Estimate

NUMBER = Number(0.331, 0.012)
HELD = "= 0.3333 to within 0.05"
CLAIM = Claim(
    Headline("row", "holds", *NUMBER),
    {"slope": Part("supported", *NUMBER, HELD, 19)},
    {"flat": Part("contradicted", *NUMBER, "= 0 to within 0.05")},
)
CSV = "panel,title,x_axis,series,kind,x,y,colour\n" + "".join(
    f"1,Loss,steps,theory,line,{x},{2.5 * x + 0.001},#0173b2\n" for x in range(9)
)
DRAWING = "2,,,token,points,0,1,#0173b2\n"
TABLE = "<table><tr><th>L</th><th>w</th></tr><tr><td>1</td><td>8.25 ± 0.10</td></tr></table>"
PART = equal(Estimate(0.33123, 0.0025, 19), 1 / 3, tol=0.05)
RECORD = Record("c", "row", "holds", 0.33123, 0.01225, {"slope": PART}, {}, {}, True)


def notebook():
    cell = v4.new_code_cell("1", metadata={"mystnb": {"figure": {"name": "fig-x"}}})
    picture = {"image/svg+xml": "<svg/>"}
    cell.outputs = [
        v4.new_output("display_data", picture, metadata={"image/svg+xml": {"csv": CSV + DRAWING}}),
        v4.new_output("execute_result", {"text/html": TABLE, "text/plain": "?"}),
        v4.new_output("stream", name="stdout", text="loss 0.125\n\nlast\n"),
        v4.new_output("display_data", {"text/plain": "row", VERDICT: RECORD.to_json()}),
        v4.new_output(
            "display_data",
            {"application/papermill.record/text/plain": "'0.33'"},
            metadata={"scrapbook": {"name": "slope"}},
        ),
    ]
    folded = v4.new_code_cell("2", metadata={"tags": ["hide-input"]})
    folded.outputs = [v4.new_output("stream", name="stdout", text="unseen")]
    last = v4.new_code_cell("3")
    last.outputs = [v4.new_output("execute_result", {"text/plain": "(3.25, 'a')"})]
    return v4.new_notebook(cells=[cell, folded, last])


def test_what_a_page_shows_is_read_from_its_run():
    shown = Snapshot.of(notebook())
    assert shown.claims == {"row": replace(CLAIM, controls={})}
    assert shown.told == {"slope": "0.33"}
    assert shown.tables == [["L | w", "1 | 8.25 ± 0.10"]]
    assert shown.printed == [["loss 0.125", "last"], ["(3.25, 'a')"]]
    words = {"title": "Loss", "series": "theory", "kind": "line", "colour": "#0173b2"}
    at = {"x": [0, 2, 4, 6, 8], "y": [0.001, 5.001, 10, 15, 20]}
    assert shown.figures == {"fig-x": [Series(panel=1, points=9, **words, **at)]}


def test_what_is_written_is_read_back():
    held = replace(Snapshot.of(notebook()), entries=[CLAIM])
    text = held.to_yaml("# Head\n")
    assert Snapshot.parse(text) == held
    assert text.startswith(
        "# Head\nclaims:\n"
        "- claim: {id: row, verdict: holds, value: 0.331, half_width: 0.012}\n"
        "  parts:\n"
        "    slope: [supported, 0.331, 0.012, = 0.3333 to within 0.05, 19]\n"
    )
    assert "points: 9, x: [0, 2, 4, 6, 8], y: [0.001, 5.001, 10, 15, 20]}\n" in text


ONE = "{id: row, verdict: holds, value: 1, half_width: 0}"
ENTRY = f"{{claim: {ONE}, parts: {{}}, controls: {{}}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "Expected `object`, got `array`"),
        (f"claims: [{{claim: {ONE}}}]", r"missing required field `parts` - at `\$.claims\[0\]`"),
        (f"claims: [{ENTRY.replace('{}', '{a: [supported, 1]}', 1)}]", "Expected `array` of"),
        (f"claims: [{ENTRY.replace('holds', 'is fine')}]", "matching regex .*holds in part"),
        (f"claims: [{ENTRY}, {ENTRY}]", "two entries for row"),
        (f"claims: [{ENTRY}]\ntolled: {{}}", "unknown field `tolled`"),
        (f"claims: [{ENTRY}", "while parsing"),
    ],
)
def test_nothing_else_is_read(text, message):
    with pytest.raises(ValueError, match=message):
        Snapshot.parse(text)


def test_an_entry_alone_is_read():
    found = Snapshot.parse(f"claims: [{ENTRY}]").claims
    assert found == {"row": Claim(Headline("row", "holds", 1, 0), {}, {})}


def said(found, expected=CLAIM):
    """What is said of a claim in the place of another."""
    return differences(Snapshot([expected]), Snapshot([found]))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Part("supported", 0.335, 0.012, HELD), ""),
        (Part("supported", *NUMBER, "= 0.3334 to within 0.05"), ""),
        (Part("undecided", *NUMBER, HELD), "part 'slope': the outcome changed"),
        (Part("supported", 0.351, 0.012, HELD), "value moved by 0.02"),
        (Part("supported", 0.331, 0.022, HELD, 19), ""),  # 19 degrees of freedom: a factor of 2
        (Part("supported", 0.331, 0.027, HELD), "half-width changed"),
        (Part("supported", *NUMBER, "= 0.3333 to within 5"), "held against"),
        (Part("supported", *NUMBER, "> 0.3333"), "held against"),
    ],
)
def test_a_part_is_compared(part, message):
    found = said(replace(CLAIM, parts={"slope": part})).get("row", [])
    assert len(found) == bool(message)
    assert message in "".join(found)


@pytest.mark.parametrize("dof", [4, 19, 399, None])
@pytest.mark.parametrize("share", [0.9, 1.2])
def test_a_half_width_may_move_as_its_degrees_of_freedom_say(dof, share):
    known = replace(CLAIM.parts["slope"], value=0.3311, half_width=0.1, dof=dof)
    grown = 0.1 * half_width_factor(dof or USUAL_DOF) ** share
    other = replace(known, half_width=grown + 0.01)  # a unit of its second digit
    before, now = (replace(CLAIM, parts={"slope": one}) for one in (known, other))
    assert (said(now, before) == {}) is (share < 1)


def test_the_number_shown_has_the_degrees_of_freedom_of_its_part():
    assert CLAIM.dof == 19
    assert replace(CLAIM, parts={}).dof == USUAL_DOF


def test_moves_are_told_of_every_number_that_both_show():
    before = replace(Snapshot.of(notebook()), entries=[CLAIM])
    part = replace(CLAIM.parts["slope"], value=0.337)
    after = replace(before, entries=[replace(CLAIM, parts={"slope": part})], told={"slope": "0.34"})
    moves = {(one.owner, one.place): one.distance for one in compare(before, after)}
    assert moves.pop(("row", "part 'slope'")) == pytest.approx(0.5)
    assert moves.pop((PAGE, "told slope")) == pytest.approx(0.5)
    curve = "fig-x, 1 · Loss · theory · line · #0173b2"
    assert {place for owner, place in moves if owner == PAGE} == {
        *(f"output {number}" for number in ("1, line 1", "1, line 2", "2, line 1")),
        *("table 1, line 1", "table 1, line 2", f"{curve}, x", f"{curve}, y"),
    }
    assert not any(moves.values())


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Headline("row", "holds", 0.34, 0.012), ""),
        (Headline("row", "holds", 0.35, 0.012), "moved by 0.019"),
        (Headline("row", "fails", *NUMBER), "the verdict changed from 'holds' to 'fails'"),
        (Headline("other", "holds", *NUMBER), "not checked by the page"),
    ],
)
def test_a_claim_is_compared(found, message):
    words = said(replace(CLAIM, claim=found)).get("row", [])
    assert len(words) == bool(message)
    assert message in "".join(words)


def test_a_claim_without_a_reference_is_said():
    found = differences(Snapshot(), Snapshot([CLAIM]))
    assert found == {"row": ["checked, but has no entry in tests/expected"]}


def test_names_of_parts_and_controls_are_compared():
    assert len(said(Claim(CLAIM.claim, {}, {}))["row"]) == 2


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("14 prompts", "14 prompts", True),
        ("14 prompts", "15 prompts", False),  # a count has no last place
        ("14 prompts", "14 tasks", False),
        ("0.0 of log10", "-0.0 of log10", True),  # a sign belongs to its number
        ("0.01 of log10", "−0.01 of log10", True),
        ("0.33 of log10", "−0.33 of log10", False),
        ("0.33 of log10", "0.33 of log2", False),  # a number within a word is a word
        ("0.331", "0.333", True),
        ("0.331", "0.34", False),
        ("1.0e-05", "1.2e-05", True),
        ("1.0e-05", "1.5e-05", False),
        ("< 1e-12", "< 1e-14", False),  # a bound as it was typed
        ("< 1e-12", "< 3e-12", False),
        ("= 0 to within 1e-02", "= 0 to within 2e-02", False),
        ("−0.25 of 20", "0.25 of 20", False),  # a sign is a word
        ("25.5 ± 4.4 | 6.72", "25.8 ± 3.1 | 6.72", True),
        ("25.5 ± 4.4 | 6.72", "25.8 ± 3.1 | 6.92", False),
        ("25.5 ± 4.4", "25.8 ± 1.1", False),
        ("25.5 ± 4.4", "30.5 ± 4.4", False),
        ("+0.01 ± 0.03", "-0.01 ± 0.03", True),  # but for a number that has its half-width
        ("1.000 ± 0.001", "1.002 ± 0.001", True),
        ("1 ± 2 and 3 ± 4", "1 ± 2 and 3", False),
    ],
)
def test_numbers_in_words_are_compared(expected, found, same):
    assert rounding.alike(expected, found) is same


def changed(old, new):
    page = Snapshot.of(notebook())
    before = series_of(CSV)
    assert old in CSV
    after = series_of(CSV.replace(old, new))
    expected, found = (replace(page, figures={"fig-x": one}) for one in (before, after))
    return differences(expected, found).get(PAGE, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("theory", "training"),  # exchanged labels
        ("Loss", "Gain"),
        (",5.001,", ",5.9,"),  # another curve
        ("1,Loss,steps,theory,line,1,2.501,#0173b2\n", ""),  # a point less
        ("#0173b2", "#de8f05"),
    ],
)
def test_another_figure_is_another(old, new):
    assert changed(old, new)


def test_rounding_of_a_figure_is_none():
    assert not changed(",5.001,", ",5.002,")
    assert not changed(",0.001,", ",0.002,")  # near zero, beside a curve that reaches 20


def test_told_numbers_outputs_tables_and_figures_are_all_there():
    page = Snapshot.of(notebook())
    for other in (
        {"told": {}},
        {"told": {"slope": "0.53"}},
        {"printed": []},
        {"printed": [["loss 0.225", "last"], ["(3.25, 'a')"]]},
        {"printed": [["loss 0.125"], ["(3.25, 'a')"]]},
        {"tables": []},
        {"tables": [["L | w", "1 | 9.25 ± 0.10"]]},
        {"tables": [["L | w"]]},
        {"figures": {}},
    ):
        new = replace(page, **other)
        assert differences(page, new)
        assert differences(new, page)  # more is as much another as less
    assert not differences(page, page)
