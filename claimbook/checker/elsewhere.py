"""Chapters as another processor runs them: plainer instructions, and two threads for one."""

import os
from typing import Any

from claimbook.runs.processor import ARITHMETIC, THREADS

ONE, TWO = "torch.set_num_threads(1)", "torch.set_num_threads(2)"


def prepare() -> None:
    """Tell the kernels that this session starts."""
    os.environ[ARITHMETIC] = "default"
    for name in THREADS:
        os.environ[name] = "2"


def with_threads(notebook: Any) -> None:
    """Give a chapter two threads in the place of its one.

    Raises ``ValueError`` where it does not say in exactly one place that it has one.
    """
    cells = [cell for cell in notebook.cells if ONE in cell.source]
    if len(cells) != 1 or cells[0].source.count(ONE) != 1:
        raise ValueError(f"a chapter must have one line {ONE}; found it in {len(cells)} cells")
    cells[0].source = cells[0].source.replace(ONE, TWO)
