"""What a page shows, read from its run, written, read back and compared."""

import pytest
import yaml
from msgspec.structs import replace
from nbformat import v4

from claimbook.check import snapshot
from claimbook.check.figure_snapshot import Series, series_of
from claimbook.check.snapshot import SVG, Claim, Headline, Part, Snapshot, differences
from claimbook.files import write_atomically
from claimbook.ledger import Record
from claimbook.ledger.comparison import equal
from claimbook.ledger.record import VERDICT, records
from iclutils.stats.estimate import Estimate

NUMBER = (0.331, 0.012)
CLAIM = Claim(
    Headline("row", "holds", *NUMBER),
    {"slope": Part("supported", *NUMBER, "= 0.3333 to within 0.05", 19)},
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
    glued = {"application/papermill.record/text/plain": "'0.33'"}
    open_cell = v4.new_code_cell("1", metadata={"mystnb": {"figure": {"name": "fig-x"}}})
    open_cell.outputs = [
        v4.new_output("display_data", {SVG: "<svg/>"}, metadata={SVG: {"csv": CSV + DRAWING}}),
        v4.new_output("execute_result", {"text/html": TABLE, "text/plain": "?"}),
        v4.new_output("stream", name="stdout", text="loss 0.125\n\nlast\n"),
        v4.new_output("display_data", {"text/plain": "row", VERDICT: RECORD.to_json()}),
        v4.new_output("display_data", glued, metadata={"scrapbook": {"name": "slope"}}),
    ]
    unseen = v4.new_output("stream", name="stdout", text="unseen")
    folded = v4.new_code_cell("2", metadata={"tags": ["hide-input"]}, outputs=[unseen])
    value = v4.new_output("execute_result", {"text/plain": "(3.25, 'a')"})
    return v4.new_notebook(cells=[open_cell, folded, v4.new_code_cell("3", outputs=[value])])


@pytest.fixture
def page():
    return Snapshot.of(notebook())


def test_what_a_page_shows_is_read_from_its_run_written_and_read_back(tmp_path, page):
    assert records(notebook()) == {"row": RECORD}
    assert page.claims == {"row": replace(CLAIM, controls={})}
    assert page.texts == {"slope": "0.33"}
    assert page.tables == [["L | w", "1 | 8.25 ± 0.10"]]
    assert page.printed == [["loss 0.125", "last"], ["(3.25, 'a')"]]
    words = {"title": "Loss", "series": "theory", "kind": "line", "colour": "#0173b2"}
    at = {"x": [0, 2, 4, 6, 8], "y": [0.001, 5.001, 10, 15, 20]}
    assert page.figures == {"fig-x": [Series(panel=1, points=9, **words, **at)]}
    path = snapshot.expected_path("x", tmp_path)
    whole = replace(page, entries=[CLAIM])
    write_atomically(path, whole.to_yaml("# Head\n"))
    assert snapshot.read_expected("x", tmp_path) == whole


ENTRY = yaml.safe_load(Snapshot([CLAIM]).to_yaml())["claims"][0]
HEAD = ENTRY["claim"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (None, "is missing; write it with: make expected NAME=x"),
        ([], "Expected `object`, got `array`"),
        ({"claims": [{"claim": HEAD}]}, r"missing required field `parts`"),
        ({"claims": [ENTRY | {"parts": {"a": ["supported", 1]}}]}, "Expected `array` of"),
        ({"claims": [ENTRY | {"claim": HEAD | {"verdict": "is fine"}}]}, "regex .*holds in part"),
        ({"claims": [ENTRY], "tolled": {}}, "unknown field `tolled`"),
    ],
)
def test_a_reference_that_is_none_is_named(tmp_path, reference, message):
    path = snapshot.expected_path("x", tmp_path)
    if reference is not None:
        write_atomically(path, yaml.safe_dump(reference))
    with pytest.raises(ValueError, match=f"^tests/expected/x.yml.*{message}"):
        snapshot.read_expected("x", tmp_path)


@pytest.mark.parametrize(
    ("changes", "distance"),
    [
        ({"value": 0.337}, 0.5),
        ({"outcome": "contradicted"}, float("inf")),
        ({"against": "= 0.3333 to within 0.5"}, float("inf")),
        ({"half_width": 0.0270}, 1.12),  # exp(3/√19) = 1.99 times, and a unit of its last digit
    ],
)
def test_a_part_is_compared_with_its_degrees_of_freedom(changes, distance):
    part = CLAIM.parts["slope"]
    assert part.distance(replace(part, **changes)) == pytest.approx(distance, abs=0.01)
    assert CLAIM.contents[""].dof == part.dof  # the number shown is this part's
    assert replace(CLAIM, parts={}).contents[""].dof is None


@pytest.mark.parametrize(
    "other",
    [
        {"entries": []},
        {"texts": {}},
        {"texts": {"slope": "0.53"}},
        {"printed": []},
        {"printed": [["loss 0.225", "last"], ["(3.25, 'a')"]]},
        {"printed": [["loss 0.125"], ["(3.25, 'a')"]]},
        {"tables": []},
        {"tables": [["L | w", "1 | 9.25 ± 0.10"]]},
        {"figures": {}},
        {"figures": {"fig-x": []}},
        {"figures": {"fig-x": series_of(CSV.replace(",5.001,", ",5.9,"))}},
    ],
)
def test_told_numbers_outputs_tables_and_figures_are_all_held(page, other):
    assert differences(page, page) == {}
    new = replace(page, **other)
    assert differences(page, new)
    assert differences(new, page)  # more is as much another as less
    for old, near in ((",5.001,", ",5.002,"), (",0.001,", ",0.002,")):  # rounding, and near zero
        figures = {"fig-x": series_of(CSV.replace(old, near))}
        assert not differences(page, replace(page, figures=figures))
