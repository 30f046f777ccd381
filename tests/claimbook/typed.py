"""Run pages as a reader would type them: cell by cell, in an interpreter each; say what they print.

Reads pages as JSON, each a list of cells, and writes as JSON for each page the ``lines`` of its
cells (what a cell printed, then the value of its last expression as IPython shows it), or the
``error`` that broke it off. Each page's interpreter is forked from one that has done nothing but
load torch, which a page still has to import.
"""

import ast
import contextlib
import io
import json
import multiprocessing
import sys
import traceback
from typing import Any

import torch  # noqa: F401
from IPython.lib.pretty import pretty


def lines_of(source: str, names: dict[str, Any]) -> list[str]:
    """What one cell shows."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None and not source.rstrip().endswith(";"):
                print(pretty(value))
    return [line.rstrip() for line in shown.getvalue().splitlines() if line.strip()]


def shown_by(cells: list[str]) -> dict[str, Any]:
    """What one page shows, or why it does not run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        return {"lines": [lines_of(cell, names) for cell in cells]}
    except Exception:
        return {"error": traceback.format_exc()}


if __name__ == "__main__":
    # a process for one page alone: what it changes in torch no other page finds
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        json.dump(pool.map(shown_by, json.load(sys.stdin), chunksize=1), sys.stdout)
