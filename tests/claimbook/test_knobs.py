"""The knobs: bad values are refused by name, nothing runs before, every draw is of the seed."""

import ast
from collections.abc import Iterator

import pytest

from claimbook.checker.knobs import (
    Turn,
    disguised_numbers,
    recorded_rows,
    set_at,
    turn,
    turns,
    unmoved,
)
from claimbook.checker.run import note_of
from claimbook.ledger import Record, load
from claimbook.ledger.comparison import Comparison
from claimbook.pages import SPECIALIST, chapter_path, first_page, read_chapter, toc_chapters

BLOCKS = load().chapters


def before_the_ledger(chapter: str) -> Iterator[ast.stmt]:
    """The statements of a chapter up to the one that opens its ledger."""
    notebook = read_chapter(chapter_path(chapter))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for statement in ast.parse(cell.source).body:
                yield statement
                if "Ledger(" in ast.unparse(statement) and isinstance(statement, ast.Assign):
                    return


@pytest.mark.parametrize("chapter", toc_chapters())
def test_knobs_are_checked_before_anything_runs(chapter):
    *before, opening = before_the_ledger(chapter)
    assert isinstance(opening, ast.Assign)
    call = opening.value
    assert isinstance(call, ast.Call)
    named = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    assert named == {name: name for name in BLOCKS[chapter].settings}
    for statement in before:
        used = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
        calls = [part for part in ast.walk(statement) if isinstance(part, ast.Call)]
        takes_a_knob = used & set(named)
        is_definition = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        if calls and takes_a_knob and not is_definition:
            raise AssertionError(f"{ast.unparse(statement)} runs before the knobs are checked")


@pytest.mark.parametrize("chapter", toc_chapters())
def test_every_draw_is_of_the_seed(chapter):
    """After the ledger is opened nothing is drawn from a typed number, but for a schematic.

    Where a record has not every seed, a name may stand for it: ``seed if seed in known else 0``.
    """
    early = sum(1 for _ in before_the_ledger(chapter))
    notebook = read_chapter(chapter_path(chapter))
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    statements = [one for source in cells for one in ast.parse(source).body]
    seeds = {"seed"}
    for statement in statements[early:]:
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.IfExp) and ast.unparse(value.body) == "seed":
            seeds |= set(map(ast.unparse, statement.targets))
        for call in ast.walk(statement):
            if not isinstance(call, ast.Call):
                continue
            if isinstance(call.func, ast.Name) and call.func.id == "stream":
                typed = ast.unparse(call) == "stream(0, 'schematic')"
                assert typed or ast.unparse(call.args[0]) == "seed", ast.unparse(call)
            for keyword in call.keywords:
                if keyword.arg == "seed":
                    assert ast.unparse(keyword.value) in seeds, ast.unparse(call)


@pytest.mark.parametrize("chapter", toc_chapters())
def test_every_knob_can_be_turned(chapter):
    for knob in turns(chapter, "all"):
        notebook = read_chapter(chapter_path(chapter))
        turn(notebook, knob)
        [cell] = [cell for cell in notebook.cells if "Ledger(" in cell.source]
        assert f"\n{knob.name} = {knob.value!r}\n" in cell.source
        assert len(list(set_at(cell.source, knob.name))) == 2


def record(value: float, part: float = 2.0, half: float = 0.1) -> Record:
    """A row with a headline, one sampled part and nothing else."""
    parts = {"d = 5": Comparison(part, 0.1, "> 0", "supported")}
    return Record("00_mini", "a", "holds", value, half, parts, {}, {}, True)


def test_what_another_seed_leaves_alone_is_named_unless_it_is_exact():
    assert list(unmoved({"a": record(1.2)}, {"a": record(1.5)})) == [
        "a, part 'd = 5': 2 ± 0.1 did not move"
    ]
    found = list(unmoved({"a": record(1.5)}, {"a": record(1.5)}))
    assert found[0] == "a, the headline: 1.5 ± 0.1 did not move"
    exact = {"a": record(1.0, half=0.0)}
    assert len(list(unmoved(exact, exact))) == 1
    rounded = {"a": record(1.5, part=0.002 + 1e-14)}  # a difference, rounded as its terms are
    assert len(list(unmoved({"a": record(1.2, part=0.002)}, rounded))) == 1
    none = {"a": record(0.0)}  # a share of none
    assert len(list(unmoved(none, none))) == 1
    assert not list(unmoved(none, none, recorded=["a"]))


def test_a_number_without_an_interval_that_moved_is_named_unless_it_is_listed(monkeypatch):
    exact = {"a": record(1.0, part=2.0, half=0.0)}
    parts = {"d = 5": Comparison(2.1, 0.0, "> 0", "supported")}
    moved_part = {"a": Record("00_mini", "a", "holds", 1.0, 0.0, parts, {}, {}, True)}
    exact["a"].parts["d = 5"] = Comparison(2.0, 0.0, "> 0", "supported")
    listed = {"seed": {"drawn": []}}
    monkeypatch.setattr("claimbook.checker.knobs.declared", lambda chapter: listed)
    assert list(disguised_numbers(exact, moved_part, "00_mini")) == [
        "a, part 'd = 5': moved, but has no half-width: it was sampled"
    ]
    listed["seed"]["drawn"] = ["a, part 'd = *"]
    assert not list(disguised_numbers(exact, moved_part, "00_mini"))


def test_what_is_recorded_may_stay_and_has_to():
    same, other = {"a": record(1.5)}, {"a": record(1.2)}
    assert not list(unmoved(same, same, recorded=["a"]))
    assert not list(unmoved(same, same, recorded=["a, the headline", "a, part 'd = *"]))
    assert not list(unmoved(other, same, recorded=["a, part 'd = 5'", "another page's row"]))
    assert list(unmoved(same, same, recorded=["a, part *"])) == [
        "a, the headline: 1.5 ± 0.1 did not move"
    ]
    for entry in ("a", "a, *"):  # of a row that moved in part, the other part has to be named
        assert list(unmoved(other, same, recorded=[entry])) == [
            f"{entry}: listed as recorded, but some of it moved"
        ]
    assert list(unmoved(same, same, recorded=["a", "a, control *"])) == [
        "a, control *: listed as recorded, but nothing in it is sampled"
    ]


def test_what_is_listed_as_recorded_is_of_a_row_of_the_chapter():
    for chapter in BLOCKS:
        first = first_page(chapter)
        both = [BLOCKS[name] for name in (first, first + SPECIALIST) if name in BLOCKS]
        rows = {row.id for one in both for row in one.claims}
        listed = {entry.partition(", ")[0] for entry in recorded_rows(chapter)}
        assert listed <= rows, chapter


def test_a_run_is_noted_under_what_the_ledger_says_of_its_knob(monkeypatch):
    path, turned = chapter_path("03_linear_attention"), Turn("seed", 1)
    before = note_of(path, turned)
    assert before == note_of(path, turned)
    said = {"seed": {"low": 0, "turned": 1, "recorded": ["ch3-floor"]}}
    monkeypatch.setattr("claimbook.checker.knobs.declared", lambda chapter: said)
    assert note_of(path, turned) != before
