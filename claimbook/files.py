"""Find the book, read its files, and write them whole or not at all."""

import fcntl
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PRESS = Path(__file__).resolve().parent
CARRIED = "carried"  # the folder of the installed package with the ledger and the records


def book_root(start: Path | None = None) -> Path:
    """Find the book that ``start`` (default: the working directory) lies in.

    A book is a folder with ``_toc.yml`` and ``book``. Outside of one, return the folder that the
    installed package carries, or else the one that holds the package: importing never fails, and
    whatever then reads a file names the one that is missing.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").exists() and (folder / "book").is_dir():
            return folder
    carried = PRESS / CARRIED
    return carried if carried.is_dir() else PRESS.parent


ROOT = book_root()
RECORDED = ROOT / "book" / "recorded"


def settings(root: Path = ROOT) -> dict[str, Any]:
    """Read the table ``[tool.claimbook]`` of the book's ``pyproject.toml``; empty without one."""
    path = root / "pyproject.toml"
    text = path.read_text(encoding="utf8") if path.exists() else ""
    table: dict[str, Any] = tomllib.loads(text).get("tool", {}).get("claimbook", {})
    return table


@cache
def packages(root: Path = ROOT) -> tuple[str, ...]:
    """Name the packages whose functions a condition may call, and that a page's key covers."""
    return tuple(settings(root).get("packages", ()))


def read_json(path: Path) -> Any:
    """Read a JSON file; raise ``ValueError`` with its path where it holds no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None


def read_record(name: str, folder: Path = RECORDED) -> dict[str, Any]:
    """Read the record ``name`` of the book, or of the installed package outside of it.

    A recorded sweep says where it comes from, and under ``jobs`` the settings and results of each
    job. A record ``authors/…`` holds numbers that were published: ``repository``, ``commit`` and
    ``licence`` say where, ``settings`` how far their settings are known, ``rows`` are the numbers.
    Raises ``FileNotFoundError`` with the names that there are, and ``ValueError`` for a file that
    is no JSON.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        paths = sorted(folder.rglob("*.json"))
        names = [one.relative_to(folder).with_suffix("").as_posix() for one in paths]
        raise FileNotFoundError(f"{path} is missing; the records are {', '.join(names)}")
    record: dict[str, Any] = read_json(path)
    return record


def read_yaml(path: Path) -> Any:
    """Read a YAML file in which every key is written once; the content is not to be changed.

    Raises ``ValueError`` with the file's name and the line where it is none.
    """
    state = path.stat()
    return _parsed(path, state.st_mtime_ns, state.st_size)


@cache  # a build and a session of tests read the ledger many times
def _parsed(path: Path, _mtime_ns: int, _size: int) -> Any:
    try:
        with path.open(encoding="utf8") as stream:
            return yaml.load(stream, Loader=_Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no YAML: {error}") from None


# libyaml's loader is faster, where PyYAML was built with it
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):  # type: ignore[misc]  # PyYAML has no types
    """YAML's safe loader, which refuses a key that is written twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Read a mapping; YAML itself would silently keep the last of two entries."""
        keys = [key.value for key, _ in node.value]
        for number, (key, _) in enumerate(node.value):
            if key.value in keys[:number] and key.value != "<<":
                problem = f"the key '{key.value}' is written twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``content`` so that a reader sees the old file or the whole new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content.encode("utf8") if isinstance(content, str) else content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path, refusal: str = "") -> Iterator[None]:
    """Let one process at a time work in ``folder``; the system lets go when it ends or dies.

    Another process waits, or raises a ``RuntimeError`` with the ``refusal`` where there is one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if refusal else fcntl.LOCK_EX)
        except BlockingIOError:
            raise RuntimeError(refusal) from None
        yield
    finally:
        os.close(descriptor)
