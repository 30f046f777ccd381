"""The sizes that a row names, and those that its page can have run with.

"over 40 trials" in a row's ``statistic`` or ``tolerance`` is a number that prose repeats. It has to
stand among the chapter's settings, in the code of the page, in the settings of a recorded sweep
that the page reads, or be such a number times a small one of the code. So a turned knob, or
a sample that was made larger, turns a forgotten sentence red; a sentence that names the wrong one
of two sizes of the page does not.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claimbook.files import ROOT
from claimbook.ledger.schema import Block
from claimbook.pages import chapter_path, code_of, read_chapter

RECORDED = ROOT / "book" / "recorded"
COUNTED = "trials|sets|contexts|steps|prompts|samples|runs|tasks|queries|draws|batches"
SIZE = re.compile(
    rf"(?<![\w.^=/–-])(\d{{1,3}}(?: \d{{3}})+|\d+) (?:[a-z]+ ){{0,2}}?(?:{COUNTED})\b"
)
MULTIPLES = range(2, 11)


def misnamed(chapter: str, block: Block) -> Iterator[str]:
    """The sizes in a block's rows with which the page cannot have run, a sentence each."""
    code = code_of(read_chapter(chapter_path(chapter)))
    known = sizes(code, block["settings"])
    for row in block["claims"]:
        for field in ("statistic", "tolerance"):
            for found in SIZE.finditer(row[field]):
                if int(found[1].replace(" ", "")) not in known:
                    where = "the settings, nor the page's code, nor a record that it reads"
                    yield f"{row['id']}, {field}: '{found[0]}' stands neither in {where}"


def sizes(code: list[str], settings: dict[str, Any]) -> set[float]:
    """The numbers of a page: its settings and its code with their multiples, its records."""
    written = {value for cell in code for value in constants(ast.parse(cell))}
    numbers = {value for value in {*settings.values(), *written} if is_number(value)}
    factors = {1, *written.intersection(MULTIPLES)}
    read = [RECORDED / f"{value}.json" for value in written if isinstance(value, str)]
    recorded = {value for path in read if path.is_file() for value in scalars(path)}
    return recorded | {factor * number for factor in factors for number in numbers}


def constants(tree: ast.AST) -> Iterator[Any]:
    """The numbers and texts of a cell."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
            yield node.value


def scalars(path: Path) -> Iterator[float]:
    """The numbers with which the jobs of a record were run."""
    for job in json.loads(path.read_text(encoding="utf8")).get("jobs", []):
        yield from (value for value in job.values() if is_number(value))


def is_number(value: object) -> bool:
    """Whether a value is a number, and no switch."""
    return isinstance(value, int | float) and not isinstance(value, bool)
