"""The packages' code that a piece of code can reach, found without running any of it.

What is imported is read from the syntax tree: at the top or inside a function, in the packages
above a module too. A module that is named only while the code runs is not seen; the checker asks
the kernel for those.
"""

import ast
import hashlib
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from claimbook.files import files_under, packages

PACKAGES = (*packages(), "claimbook")  # what a page may import of the book's own


def reached(sources: Iterable[str], root: Path, without: str = "") -> set[str]:
    """The modules of the package that ``sources`` import, and those that these import in turn.

    An import of the module ``without`` in the sources themselves is passed over. A source that is
    no plain Python reaches the whole package.
    """
    direct: set[str] = set()
    for source in sources:
        try:
            direct |= imported(source)
        except SyntaxError:
            direct |= set(all_modules(root))
    return closure(direct - {without}, root)


def closure(names: Iterable[str], root: Path) -> set[str]:
    """Some modules and all that they import, with the packages that these lie in."""
    found: set[str] = set()
    ahead = [*names]
    while ahead:
        name = ahead.pop()
        path = None if name in found else file_of(name, root)
        if path is not None:
            found.add(name)
            above = name.rpartition(".")[0]
            ahead.append(above)
            with suppress(SyntaxError):  # then nothing can import it, and its text is in the digest
                text = path.read_text(encoding="utf8")
                ahead.extend(imported(text, name if path.name == "__init__.py" else above))
    return found


@cache
def imported(source: str, package: str = "") -> frozenset[str]:
    """The dotted names that the code ``source`` imports; ``package`` is where it lies.

    They may be modules: of ``from a import b`` both ``a`` and ``a.b``.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return frozenset(names)


def file_of(name: str, root: Path) -> Path | None:
    """The file of a module of the package; None where there is no such module."""
    parts = name.split(".")
    if parts[0] not in PACKAGES:
        return None
    path = root.joinpath(*parts)
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file():
            return file
    return None


def all_modules(root: Path) -> list[str]:
    """Every module of the package."""
    files = [path for package in PACKAGES for path in files_under(root / package)]
    paths = [path.relative_to(root) for path in files]
    names = [path.with_suffix("").parts for path in paths if path.suffix == ".py"]
    return [".".join(name[:-1] if name[-1] == "__init__" else name) for name in names]


def files_of(names: Iterable[str], root: Path) -> list[Path]:
    """The files of some modules, with what else than modules lies in the packages among them."""
    found = set()
    for name in names:
        path = file_of(name, root)
        if path is not None:
            found.add(path)
            if path.name == "__init__.py":
                beside = files_under(path.parent, deep=False)
                found |= {other for other in beside if other.suffix != ".py"}
    return sorted(found)


def digest(files: Iterable[Path], root: Path, *more: str) -> str:
    """The digest of some files, by name and content, of the interpreter and of the lock.

    A file that is missing counts as such; ``more`` are other texts that belong to it.
    """
    told = hashlib.sha256(platform.python_version().encode())
    for path in [*files, root / "requirements.lock"]:
        content = path.read_bytes() if path.exists() else b"missing"
        told.update(path.relative_to(root).as_posix().encode() + b"\0" + content + b"\0")
    for text in more:
        told.update(text.encode() + b"\0")
    return told.hexdigest()[:16]
