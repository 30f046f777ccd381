"""The key of a page: a digest of all that its run reads.

That is its code cells, the interpreter, the lock, the modules that the cells import with those that
these import in turn, the fields of its block of the ledger that a run uses, and the records that
the cells name. A word of prose is not among them, and neither is another page's module: a page is
run again only for what it reads. Imports are read from the syntax tree, at the top or inside a
function; what is loaded or opened by a computed name is not seen, and the checker asks the kernel
for it.
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

from claimbook.files import ROOT, files_under, packages, read_yaml
from claimbook.pages import code_of, read_chapter

CLAIMS = Path("book/claims.yml")
RECORDED = Path("book/recorded")
PACKAGES = ("claimbook", *packages())
# what a run uses of the ledger: of a block its settings, of a row all but the words for readers
USED = ("settings", "id", "parts", "controls", "quantity")


def page_key(path: Path, root: Path = ROOT) -> str:
    """Compute the key that the page at ``path`` has now."""
    cells = code_of(read_chapter(path))
    block = json.dumps(used_fields(block_of(path.stem, root)), sort_keys=True, default=str)
    return digest([*modules_read(cells, root), *records_read(cells, root)], root, block, *cells)


def modules_read(cells: Sequence[str], root: Path = ROOT) -> list[Path]:
    """List the files of the packages that some cells can reach."""
    return files_of(reached(cells, root), root)


def records_read(cells: Sequence[str], root: Path = ROOT) -> list[Path]:
    """List the records whose name is a string in the cells."""
    folder = root / RECORDED
    known = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in files_under(folder)
    }
    nodes = [node for cell in cells for node in nodes_of(cell)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    return sorted(path for name, path in known.items() if name in texts)


@cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """Parse a piece of code; what is no plain Python has no part.

    It is in the key as a text, and the checker asks the kernel what it has loaded and read.
    """
    try:
        return tuple(ast.walk(ast.parse(source)))
    except SyntaxError:
        return ()


# ------------------------------------------------------------------ the ledger


def block_of(chapter: str, root: Path = ROOT) -> Mapping[str, Any]:
    """Read the ledger's block of a chapter, not validated; empty without one."""
    path = root / CLAIMS
    block: Mapping[str, Any] = {}
    return read_yaml(path)["chapters"].get(chapter, block) if path.exists() else block


def used_fields(block: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the fields of a block that no run reads."""
    rows = [{name: row[name] for name in USED if name in row} for row in block.get("claims", [])]
    for row in rows:
        row["controls"] = {
            name: {field: said for field, said in control.items() if field != "what"}
            for name, control in row.get("controls", {}).items()
        }
    return {"claims": rows} | {name: block[name] for name in USED if name in block}


# ------------------------------------------------------------------ the packages' code


def reached(sources: Iterable[str], root: Path = ROOT) -> set[str]:
    """Collect the modules of the packages that ``sources`` import, directly or in turn."""
    return closure({name for source in sources for name in imported(source)}, root)


def closure(names: Iterable[str], root: Path = ROOT) -> set[str]:
    """Add to some modules all that they import, and the packages that these lie in."""
    reached: set[str] = set()
    ahead = [*names]
    while ahead:
        name = ahead.pop()
        path = None if name in reached else file_of(name, root)
        if path is not None:
            reached.add(name)
            above = name.rpartition(".")[0]
            package = name if path.name == "__init__.py" else above
            ahead += [above, *imported(path.read_text(encoding="utf8"), package)]
    return reached


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
    if parts[0] not in PACKAGES:
        return None
    path = root.joinpath(*parts)
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file():
            return file
    return None


def files_of(names: Iterable[str], root: Path = ROOT) -> list[Path]:
    """List the files of some modules, with the data that lie in the packages among them."""
    files = set()
    for name in names:
        path = file_of(name, root)
        if path is not None:
            files.add(path)
            if path.name == "__init__.py":
                beside = files_under(path.parent, deep=False)
                files |= {other for other in beside if other.suffix != ".py"}
    return sorted(files)


def digest(files: Iterable[Path], root: Path = ROOT, *texts: str) -> str:
    """Digest some files, by name and content, with the interpreter, the lock and some texts."""
    state = hashlib.sha256(platform.python_version().encode())
    for path in [*files, root / "requirements.lock"]:
        content = path.read_bytes() if path.exists() else b"missing"
        state.update(path.relative_to(root).as_posix().encode() + b"\0" + content + b"\0")
    for text in texts:
        state.update(text.encode() + b"\0")
    return state.hexdigest()[:16]
