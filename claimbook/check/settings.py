"""A page at other settings than the book's: the values of its cell tagged ``parameters``."""

import ast
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from claimbook.check.snapshot import read_expected
from claimbook.files import ROOT
from claimbook.ledger import Record, schema
from claimbook.pages import code_cells

TAG = "parameters"  # papermill's convention


def parse(words: str) -> dict[str, Any]:
    """Read settings as the command line gives them.

    >>> parse("n=100 sigma=0.3 kappa=\\"'inf'\\"")
    {'n': 100, 'sigma': 0.3, 'kappa': 'inf'}

    Raises ``ValueError`` for a word that is no name with a value.
    """
    settings = {}
    for word in shlex.split(words):
        name, _, value = word.partition("=")
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise ValueError(f"a setting must be like n=100; got '{word}'") from None
    return settings


def set_parameters(notebook: Any, settings: Mapping[str, Any]) -> None:
    """Give the parameters of a page other values, in lines behind their own.

    Raises ``ValueError`` where the page has no cell of parameters, or a name is not set there once.
    """
    cells = [cell for cell in code_cells(notebook) if TAG in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise ValueError(f"a page must have one cell tagged '{TAG}'; found {len(cells)}")
    for name, value in settings.items():
        places = list(_places(cells[0].source, name))
        if len(places) != 1:
            raise ValueError(f"{name} must be set once in the cell tagged '{TAG}'")
        lines = cells[0].source.splitlines()
        lines.insert(places[0], f"{name} = {value!r}")
        cells[0].source = "\n".join(lines)


def _places(source: str, name: str) -> Iterator[int]:
    """Find the last lines of the statements at the top of a cell that give ``name`` a value."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        parts = [part for target in targets for part in ast.walk(target)]
        if any(isinstance(part, ast.Name) and part.id == name for part in parts):
            yield node.end_lineno or node.lineno


def told(page: str, settings: Mapping[str, Any]) -> Iterator[str]:
    """Say which knob stands where: ``p1 = 0.6 (default 0.5)``."""
    defaults = schema.load(ROOT / "book" / "claims.yml").chapters[page].settings
    for name, value in settings.items():
        yield f"{name} = {value!r} (default {defaults.get(name, 'none in the ledger')})"


def beside_default(page: str, record: Record) -> str:
    """Write the line of a claim, with the verdict and the value at the defaults beside it."""
    if record.default_settings:
        return record.line()
    claims = read_expected(page).claims
    default = claims[record.id].claim if record.id in claims else "no reference yet"
    return f"{record.line()}  (default: {default})"
