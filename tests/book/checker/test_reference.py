"""What a chapter shows, read from its run, written, read back and compared."""

import pytest
from nbformat import v4

from iclutils.book.checker import reference
from iclutils.book.checker.reference import Claim, Page, Reference
from iclutils.book.ledger.lines import parse_line

LINE = parse_line("row · holds · 0.331 ± 0.012")
CLAIM = Claim(
    LINE,
    {"slope": "supported · 0.331 ± 0.012 · = 0.3333 to within 0.05"},
    {"flat": "contradicted · 0.331 ± 0.012 · = 0 to within 0.05"},
)
CSV = "panel,title,series,kind,x,y,colour\n" + "".join(
    f"1,Loss,theory,line,{x},{2.5 * x + 0.001},#0173b2\n" for x in range(9)
)
TABLE = "<table><tr><th>L</th><th>w</th></tr><tr><td>1</td><td>8.25 ± 0.10</td></tr></table>"


def notebook():
    cell = v4.new_code_cell("1", metadata={"mystnb": {"figure": {"name": "fig-x"}}})
    picture = {"image/svg+xml": "<svg/>"}
    cell.outputs = [
        v4.new_output("display_data", picture, metadata={"image/svg+xml": {"csv": CSV}}),
        v4.new_output("execute_result", {"text/html": TABLE, "text/plain": "?"}),
        v4.new_output(
            "display_data",
            {"application/papermill.record/text/plain": "'0.33'"},
            metadata={"scrapbook": {"name": "slope"}},
        ),
    ]
    return v4.new_notebook(cells=[cell])


def test_a_page_is_read_from_its_run():
    page = reference.page_of(notebook())
    assert page.told == {"slope": "0.33"}
    assert page.tables == [["L | w", "1 | 8.25 ± 0.10"]]
    (series,) = page.figures["fig-x"].items()
    assert series[0] == "1 · Loss · theory · line · #0173b2"
    assert series[1] == {"points": 9, "x": "0 2 4 6 8", "y": "0.001 5.001 10 15 20"}


def test_what_is_written_is_read_back():
    held = Reference({"row": CLAIM}, reference.page_of(notebook()))
    assert reference.parse(reference.write(held, "# Head\n")) == held


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "claims: []\ntold: {}\ntables: []\nfigures: {}",
        "claims: [{line: 'row · holds · 1'}]\ntold: {}\ntables: []\nfigures: {}",
    ],
)
def test_nothing_else_is_read(text):
    with pytest.raises(ValueError, match="must h"):
        reference.parse(text)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("supported · 0.335 ± 0.012 · = 0.3333 to within 0.05", ""),
        ("supported · 0.331 ± 0.012 · = 0.3334 to within 0.05", ""),
        ("undecided · 0.331 ± 0.012 · = 0.3333 to within 0.05", "outcome changed"),
        ("supported · 0.351 ± 0.012 · = 0.3333 to within 0.05", "value moved by 0.02"),
        ("supported · 0.331 ± 0.022 · = 0.3333 to within 0.05", "half-width changed"),
        ("supported · 0.331 ± 0.012 · = 0.3333 to within 5", "held against"),
        ("supported · 0.331 ± 0.012 · > 0.3333", "held against"),
    ],
)
def test_a_part_is_compared(part, message):
    found = Claim(LINE, {"slope": part}, CLAIM.controls)
    said = "\n".join(reference.claim_differences(CLAIM, found))
    assert bool(said) == bool(message)
    assert message in said


def test_names_of_parts_and_controls_are_compared():
    said = list(reference.claim_differences(CLAIM, Claim(LINE, {}, {})))
    assert len(said) == 2


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("14 prompts", "14 prompts", True),
        ("14 prompts", "15 prompts", False),  # a count has no last place
        ("14 prompts", "14 tasks", False),
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
    assert reference.alike(expected, found) is same


def changed(old, new):
    page = reference.page_of(notebook())
    before = reference.series_of(CSV)
    assert old in CSV
    after = reference.series_of(CSV.replace(old, new))
    expected = Page(page.told, page.tables, {"fig-x": before})
    return list(
        reference.page_differences(expected, Page(page.told, page.tables, {"fig-x": after}))
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("theory", "training"),  # exchanged labels
        ("Loss", "Gain"),
        (",5.001,", ",5.9,"),  # another curve
        ("1,Loss,theory,line,1,2.501,#0173b2\n", ""),  # a point less
        ("#0173b2", "#de8f05"),
    ],
)
def test_another_figure_is_another(old, new):
    assert changed(old, new)


def test_rounding_of_a_figure_is_none():
    assert not changed(",5.001,", ",5.002,")
    assert not changed(",0.001,", ",0.002,")  # near zero, beside a curve that reaches 20


def test_told_numbers_tables_and_figures_are_all_there():
    page = reference.page_of(notebook())
    for other in (
        Page({}, page.tables, page.figures),
        Page({"slope": "0.53"}, page.tables, page.figures),
        Page(page.told, [], page.figures),
        Page(page.told, [["L | w", "1 | 9.25 ± 0.10"]], page.figures),
        Page(page.told, [["L | w"]], page.figures),
        Page(page.told, page.tables, {}),
    ):
        assert list(reference.page_differences(page, other))
        assert list(reference.page_differences(other, page))  # more is as much another as less
    assert not list(reference.page_differences(page, page))
