"""The key of a page: a digest of all that its run reads.

That is its code cells, the interpreter, the lock, the modules that the cells import with those that
these import in turn, the fields of its block of the ledger that a run uses, and the records that
the cells name. A word of prose is not among them, and neither is another page's module: a page is
run again only for what it reads. Imports are read from the syntax tree, at the top or inside a
function; what is loaded or opened by a computed name is not seen.
"""

import ast
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from claimbook.files import ROOT, packages, read_yaml
from claimbook.pages import code_of, read_chapter

CLAIMS = Path("book/claims.yml")
RECORDED = Path("book/recorded")
PACKAGES = ("claimbook", *packages())
# what a run uses of the ledger: of a block its settings, of a row all but the words for readers
USED = ("settings", "id", "parts", "controls", "quantity")
TESTED = ("kind", "condition")  # of a control


def page_key(path: Path, root: Path = ROOT) -> str:
    """Compute the key that the page at ``path`` has now."""
    cells = code_of(read_chapter(path))
    block = json.dumps(used_fields(path.stem, root), sort_keys=True, default=str)
    return digest([*modules_read(cells, root), *records_read(cells, root)], root, block, *cells)


def modules_read(cells: Sequence[str], root: Path = ROOT) -> list[Path]:
    """List the files of the packages that some cells can reach."""
    return sorted(closure({name for cell in cells for name in imported(cell)}, root).values())


def records_read(cells: Sequence[str], root: Path = ROOT) -> list[Path]:
    """List the records whose name is a string in the cells."""
    nodes = [node for cell in cells for node in nodes_of(cell)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    folder = root / RECORDED
    files = folder.rglob("*.json")
    return sorted(path for path in files if str(path.relative_to(folder))[: -len(".json")] in texts)


@cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """Parse a piece of code; what is no plain Python is in the key as a text alone."""
    try:
        return tuple(ast.walk(ast.parse(source)))
    except SyntaxError:
        return ()


def used_fields(chapter: str, root: Path = ROOT) -> dict[str, Any]:
    """Read from the ledger's block of a chapter, not validated, the fields that a run reads."""
    path = root / CLAIMS
    block = read_yaml(path)["chapters"].get(chapter, {}) if path.exists() else {}
    rows = []
    for claim in block.get("claims", []):
        controls = {name: _used(one, TESTED) for name, one in claim.get("controls", {}).items()}
        rows.append({**_used(claim, USED), "controls": controls})
    return {"claims": rows} | _used(block, USED)


def _used(entry: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Keep of a part of the ledger what a run reads."""
    return {name: entry[name] for name in fields if name in entry}


def closure(names: Iterable[str], root: Path = ROOT) -> dict[str, Path]:
    """Find the files of some modules, of all that they import, and of the packages around them."""
    files: dict[str, Path] = {}
    ahead = [*names]
    while ahead:
        name = ahead.pop()
        path = None if name in files else file_of(name, root)
        if path is not None:
            files[name] = path
            above = name.rpartition(".")[0]
            package = name if path.name == "__init__.py" else above
            ahead += [above, *imported(path.read_text(encoding="utf8"), package)]
    return files


@cache
def imported(source: str, package: str = "") -> frozenset[str]:
    """Collect the dotted names that the code ``source``, which lies in ``package``, imports.

    They may be modules: of ``from a import b`` both ``a`` and ``a.b``.
    """
    names: set[str] = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return frozenset(names)


def file_of(name: str, root: Path) -> Path | None:
    """Find the file of a module of the packages, or None where there is no such module."""
    parts = name.split(".")
    path = root.joinpath(*parts)
    files = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next(filter(Path.is_file, files), None) if parts[0] in PACKAGES else None


def digest(files: Iterable[Path], root: Path = ROOT, *texts: str) -> str:
    """Digest some files, by name and content, with the interpreter, the lock and some texts."""
    state = hashlib.sha256(platform.python_version().encode())
    for path in [*files, root / "requirements.lock"]:
        content = path.read_bytes() if path.exists() else b"missing"
        state.update(path.relative_to(root).as_posix().encode() + b"\0" + content + b"\0")
    for text in texts:
        state.update(text.encode() + b"\0")
    return state.hexdigest()[:16]
