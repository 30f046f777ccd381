"""The settings of the pages: named once, in the cell of parameters; every draw is of the seed."""

import ast
import math
from collections import Counter
from collections.abc import Iterator
from fnmatch import filter
from itertools import chain

import pytest

from claimbook.check.reruns import set_parameters
from claimbook.ledger import load
from claimbook.pages import (
    SPECIALIST,
    chapter_path,
    code_of,
    first_page,
    read_chapter,
    toc_chapters,
)

BLOCKS = load().chapters


def statements_of(chapter: str) -> list[ast.stmt]:
    sources = code_of(read_chapter(chapter_path(chapter)))
    return [statement for source in sources for statement in ast.parse(source).body]


def before_the_ledger(chapter: str) -> Iterator[ast.stmt]:
    """Return the statements of a chapter up to the one that opens its ledger."""
    for statement in statements_of(chapter):
        yield statement
        if "Ledger(" in ast.unparse(statement) and isinstance(statement, ast.Assign):
            return


@pytest.mark.parametrize("chapter", toc_chapters())
def test_the_ledger_is_told_every_setting_before_anything_runs(chapter):
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
            raise AssertionError(f"{ast.unparse(statement)} runs before the ledger is opened")


@pytest.mark.parametrize("chapter", toc_chapters())
def test_every_draw_is_of_the_seed(chapter):
    """After the ledger is opened nothing is drawn from a typed number, but for a schematic.

    Where a record has not every seed, a name may stand for it: ``seed if seed in known else 0``.
    """
    early = sum(1 for _ in before_the_ledger(chapter))
    seeds = {"seed"}
    for statement in statements_of(chapter)[early:]:
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
def test_every_setting_can_be_turned_within_its_range_and_is_used(chapter):
    block = BLOCKS[chapter]
    nodes = chain(*map(ast.walk, statements_of(chapter)))
    names = [one for one in nodes if isinstance(one, ast.Name)]
    used = Counter(one.id for one in names if isinstance(one.ctx, ast.Load))
    assert block.ranges.keys() == block.settings.keys()
    block.refuse(block.settings)
    for name, (low, high) in block.ranges.items():
        set_parameters(read_chapter(chapter_path(chapter)), {name: low})
        # what is recorded has one value, and may have one seed
        assert used[name] > 1 or low == high or name == "seed", f"{name} is read by nothing"
        for wrong in (low - 1, math.nan, "text"):
            with pytest.raises(ValueError, match=f"^{name} must be a "):
                block.refuse({name: wrong})


def test_what_is_listed_as_fixed_or_sampled_is_of_a_row_of_the_chapter():
    for chapter in BLOCKS:
        first = first_page(chapter)
        both = [BLOCKS[name] for name in (first, first + SPECIALIST) if name in BLOCKS]
        rows = {row.id for one in both for row in one.claims}
        block = BLOCKS[chapter]
        listed = {entry.partition(", ")[0] for entry in (*block.fixed, *block.sampled)}
        assert all(filter(rows, name) for name in listed), chapter
