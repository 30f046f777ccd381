"""The code in sight is the whole method: it runs as typed, and prints what the book shows."""

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from claimbook.checker.comparison import read_expected
from claimbook.checker.rounding import alike
from tests import reading

ROOT = Path(__file__).resolve().parents[2]
SEED = "torch.manual_seed(0)"
RANDOM = re.compile(r"torch\.(?:rand\w*|normal|bernoulli|multinomial)\(|\.(?:normal|uniform)_\(")
PAGES = reading.main_pages()[1:]


EXAMPLES = {
    "a page": ["import math\nx = 2", "print('a')\nmath.sqrt(x + 2)", "x;", "None", "{x: 'b'}"],
    "a name not in sight": ["import math", "seed + 1"],
    "a module not imported": ["torch.zeros(1)"],
}


def code_of(name):
    """The cells in sight on a page."""
    return reading.read(reading.path_of(name)).code


@pytest.fixture(scope="module")
def typed():
    """What each page and each example prints, each in an interpreter of its own, or its error."""
    cells = {name: code_of(name) for name in PAGES} | EXAMPLES
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("typed.py"))],
        input=json.dumps(list(cells.values())),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(cells, json.loads(done.stdout), strict=True))


def lines_of(found):
    """What the cells of a page print, without those that print nothing; it must have run."""
    assert "error" not in found, found["error"]
    return [lines for lines in found["lines"] if lines]


def seeding(cells):
    """What is wrong with the use of the global generator; it is seeded once, in the first cell."""
    random = any(RANDOM.search(cell) for cell in cells)
    if random and not cells[0].rstrip(";\n ").endswith(SEED):
        return f"the first cell in sight must end in {SEED}"
    if sum(cell.count("manual_seed") for cell in cells) > 1:
        return "the global generator is seeded once"
    return ""


@pytest.mark.parametrize("name", PAGES)
def test_the_code_in_sight_prints_what_the_book_shows(typed, name):
    assert not seeding(code_of(name))
    shown, printed = read_expected(name).printed, lines_of(typed[name])
    assert [len(lines) for lines in printed] == [len(lines) for lines in shown]
    for line, typed_line in zip(chain(*shown), chain(*printed), strict=True):
        assert alike(line, typed_line), f"the book shows {line!r}; typed, it is {typed_line!r}"


def test_names_values_and_prints_are_those_of_one_interpreter(typed):
    assert lines_of(typed["a page"]) == [["a", "2.0"], ["{2: 'b'}"]]


@pytest.mark.parametrize(
    ("example", "name"), [("a name not in sight", "seed"), ("a module not imported", "torch")]
)
def test_a_name_that_is_not_in_sight_is_missed(typed, example, name):
    with pytest.raises(AssertionError, match=f"NameError: name '{name}' is not defined"):
        lines_of(typed[example])


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (["import torch\ntorch.manual_seed(0);", "torch.randn(3)"], True),
        (["import torch", "torch.randn(3)"], False),
        (["import torch\ntorch.manual_seed(0)", "torch.manual_seed(0)\ntorch.rand(2)"], False),
        (["1 + 1"], True),
    ],
)
def test_the_global_generator_is_seeded_once_at_the_start(cells, right):
    assert bool(seeding(cells)) is not right
