"""The code in sight on a page runs as typed, and prints what the book shows."""

import ast
import contextlib
import io
import json
import multiprocessing
import subprocess
import sys
import traceback
from itertools import chain

import pytest
import torch  # noqa: F401 (loaded once; a page still has to import it)
from IPython.lib.pretty import pretty

from claimbook.check.agreement import text_distance
from claimbook.check.snapshot import read_expected
from claimbook.pages import chapter_path, code_cells, is_second, read_chapter, toc_chapters

PAGES = [name for name in toc_chapters() if not is_second(name)]
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell", "setup", "parameters"}


def lines_of(source, names):
    """Run one cell; return the lines that it shows."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None and not source.rstrip().endswith(";"):
                print(pretty(value))
    return [line.rstrip() for line in shown.getvalue().splitlines() if line.strip()]


def shown_by(cells):
    """Run one page; return the lines of each cell that shows any, or the error."""
    names = {"__name__": "__main__"}
    try:
        return [lines for lines in [lines_of(cell, names) for cell in cells] if lines]
    except Exception:
        return traceback.format_exc()


def code_of(name):
    """Return the cells in sight on a page."""
    cells = code_cells(read_chapter(chapter_path(name)))
    return [cell.source for cell in cells if not HIDDEN & set(cell.metadata.get("tags", []))]


@pytest.fixture(scope="module")
def typed():
    cells = {name: code_of(name) for name in PAGES}
    command = [sys.executable, __file__]
    pages = json.dumps(list(cells.values()))
    done = subprocess.run(command, input=pages, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(zip(cells, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", PAGES)
def test_the_code_in_sight_prints_what_the_book_shows(typed, name):
    shown, printed = read_expected(name).printed, typed[name]
    assert isinstance(printed, list), printed
    assert [len(lines) for lines in printed] == [len(lines) for lines in shown]
    for line, typed_line in zip(chain(*shown), chain(*printed), strict=True):
        same = text_distance(line, typed_line) <= 1
        assert same, f"the book shows {line!r}; typed, it is {typed_line!r}"


if __name__ == "__main__":  # a process for each page: what it changes in torch no other page finds
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        json.dump(pool.map(shown_by, json.load(sys.stdin), chunksize=1), sys.stdout)
