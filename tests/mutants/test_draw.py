"""Faults drawn at random: what the operators make, which lines count as theirs, one draw a seed."""

import ast
from pathlib import Path

import pytest
from mutants import draw
from mutants.draw import of_code

ROOT = Path(__file__).resolve().parents[2]
MODULE = """\
LEAST = 2


def power(x: int, n=3):
    if not x < LEAST and n:
        record(f"{x + 1}")
    return -(x ** n) if x else [
        -x
    ]
"""
BECOMES = {
    "LEAST = (3)",
    "def power(x: int, n=(4)):",
    "if (x < LEAST) and n:",
    "if not (x <= LEAST) and n:",
    "if not (x >= LEAST) and n:",
    "if (not x < LEAST or n):",
    "if (not (not x < LEAST and n)):",
    "pass",
    "return None",
    "return -(x ** n) if (not x) else [",
    "return (x ** n) if x else [",
    "return -((x * n)) if x else [",
    "(x)",
}


def test_the_operators_make_these_and_no_others():
    text = MODULE.encode()
    found = set()
    for mutant in of_code("m.py", text):
        assert ast.dump(ast.parse(mutant.planted(text))) != ast.dump(ast.parse(text))
        found.add(mutant.said(text).partition("  →  ")[2])
    assert found == BECOMES


@pytest.mark.parametrize("area", draw.SHARES)
def test_a_seed_draws_the_same_again_and_each_can_be_planted(area):
    first = draw.draw(ROOT, area, 1, 60)
    assert first == draw.draw(ROOT, area, 1, 60) != draw.draw(ROOT, area, 2, 60)
    assert len(set(first)) == len(first) == 60 * draw.SHARES[area] // 150
    for mutant in first:
        text = (ROOT / mutant.file).read_bytes()
        assert mutant.planted(text) != text
        if mutant.file.endswith(".py"):
            ast.parse(mutant.planted(text))


def test_a_page_draws_from_its_cells_and_the_ledger_from_its_conditions():
    for mutant in draw.population(ROOT, draw.PAGES):
        text = (ROOT / mutant.file).read_bytes()
        assert text[: mutant.start].count(b"\n```{code-cell}") > 0
    for mutant in draw.population(ROOT, draw.CONDITIONS):
        old = (ROOT / mutant.file).read_bytes()[mutant.start : mutant.end].decode()
        assert old in "<>" or float(old) != float(mutant.new)
