"""The key of a page: a digest of all that its run reads beside its own code.

That is the interpreter, the lock, the modules that its cells import and those that these import in
turn, the fields of its block of the ledger that a run uses, and the records that it reads. A word
of a row's ``brief`` is not among them, and neither is another page's module: a page is run again
only for what it reads.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from claimbook.files import ROOT, files_under, read_yaml
from claimbook.runs import code

CLAIMS = Path("book/claims.yml")
RECORDED = Path("book/recorded")
SEEDS_FILE = RECORDED / "seeds.json"  # written about the chapters, read by none of them
RECORDS = "iclutils.recorded"
READER = "claimbook.runs.records"
FOLDERS = {"read": RECORDED, "published": RECORDED / "authors"}  # by the function that reads them
# where cells without comments mention records: as they are imported, one that is read by its name,
# another function of the module; and anything else, of which nobody knows what it reads
_MENTION = re.compile(
    r"^from iclutils import (?:.*, )?recorded(?=,|$)"
    r"|(?<![\w.])recorded\.(?:(?P<how>read|published)\('(?P<name>[^'\\]+)'|(?!read\b|published\b)\w+)"
    r"|(?P<else>\brecorded\b(?!=))",  # a keyword is no mention
    re.MULTILINE,
)

# A row's fields that no run uses: they are for the reader, and for the schema, which the checker
# and the site ask whatever is run. Any other field counts.
WORDS = {
    "source",
    "brief",
    "statement",
    "kind",
    "statistic",
    "tolerance",
    "amended",
}

PRESENT = {"superseded_by", "audit"}  # a run asks only whether a row has them


def page_key(chapter: str, cells: Sequence[str], root: Path = ROOT) -> str:
    """The key of the page ``chapter``, whose code cells are ``cells``."""
    block = json.dumps(used(block_of(chapter, root)), sort_keys=True, default=str)
    return code.digest([*page_code(cells, root), *records_read(cells, root)], root, block)


def inputs(root: Path = ROOT) -> str:
    """The digest of all that any page reads beside its own source, and of the site's code."""
    packages = [path for package in code.PACKAGES for path in files_under(root / package)]
    files = [*packages, *files_under(root / RECORDED), root / CLAIMS]
    return code.digest(sorted(set(files) - {root / SEEDS_FILE}), root)


def page_code(cells: Sequence[str], root: Path = ROOT) -> list[Path]:
    """The package's files that the cells of a page can reach."""
    return code.files_of(code.reached(cells, root), root)


def block_of(chapter: str, root: Path) -> Mapping[str, Any]:
    """The ledger's block of a chapter as it is written, not validated; empty without one."""
    path = root / CLAIMS
    if not path.exists():
        return {}
    state = path.stat()
    data = _parsed(path, state.st_mtime_ns, state.st_size)
    block: Mapping[str, Any] = data["chapters"].get(chapter, {})
    return block


@cache
def _parsed(path: Path, _mtime_ns: int, _size: int) -> Any:
    return read_yaml(path)


def used(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block of the ledger without what no run uses.

    Which rows a knob leaves alone is asked by the checker, after the run.
    """
    kept = {**block, "claims": [_used(row) for row in block.get("claims", [])]}
    if "knobs" in block:
        kept["knobs"] = {
            name: {field: value for field, value in knob.items() if field != "recorded"}
            for name, knob in block["knobs"].items()
        }
    return kept


def _used(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {field: value for field, value in row.items() if field not in WORDS}
    for field in PRESENT & set(kept):
        kept[field] = True
    if kept.get("expected") != "not testable":
        kept.pop("note", None)  # shown as the finding of a row that is not tested
    kept["controls"] = {
        name: {field: value for field, value in control.items() if field != "what"}
        for name, control in row.get("controls", {}).items()
    }
    return kept


def records_read(cells: Sequence[str], root: Path = ROOT) -> list[Path]:
    """The records that the cells of a page read.

    They are those that ``recorded.read("…")`` and ``recorded.published("…")`` name. All of them
    where a name is computed or records are reached in another way, none where they are not reached.
    """
    if READER not in code.reached(cells, root):
        return []
    everything = set(files_under(root / RECORDED)) - {root / SEEDS_FILE}
    if READER in code.reached(cells, root, without=RECORDS):
        return sorted(everything)
    found: set[Path] = set()
    for mention in _MENTION.finditer("\n".join(ast.unparse(ast.parse(cell)) for cell in cells)):
        if mention["else"]:
            return sorted(everything)
        if mention["name"]:
            found.add(root / FOLDERS[mention["how"]] / f"{mention['name']}.json")
    return sorted(found)
