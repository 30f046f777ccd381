"""Run code as a reader would type it: cell by cell, in one fresh interpreter; say what it prints.

Reads a list of cells as JSON and writes, as JSON, the lines of each: what it printed, then the
value of its last expression as IPython shows it.
"""

import ast
import contextlib
import io
import json
import sys
from typing import Any

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


if __name__ == "__main__":
    names: dict[str, Any] = {"__name__": "__main__"}
    json.dump([lines_of(cell, names) for cell in json.load(sys.stdin)], sys.stdout)
