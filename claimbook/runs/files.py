"""Where the book lies, which files count, how they are read, and written: whole or not at all."""

import fcntl
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

CARRIED = "carried"  # where the wheel of the package has the ledger and the records
ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
BACKUPS = ("~", ".swp", ".swo", ".bak", ".orig")


def find_root(start: Path | None = None) -> Path:
    """The checkout that ``start`` (default: the working directory) lies in.

    A checkout is a folder with ``_toc.yml`` and ``book``. Outside of one the answer is what the
    package carries where it was installed from the book's wheel, and else the folder that holds the
    package, so that importing it never fails; what then reads a file of the book says which one is
    missing.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").exists() and (folder / "book").is_dir():
            return folder
    carried = Path(__file__).resolve().parents[1] / CARRIED
    return carried if carried.is_dir() else Path(__file__).resolve().parents[2]


ROOT = find_root()


def read_json(path: Path) -> Any:
    """What a JSON file holds; raises ``ValueError`` with its path where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None


def read_yaml(path: Path) -> Any:
    """What a YAML file holds; raises ``ValueError`` with its name and the line where it is none.

    Or where a key is written twice.
    """
    try:
        return yaml.load(path.read_text(encoding="utf8"), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        begun, stopped = error.context_mark, error.problem_mark
        where = f"{path.name}, line {stopped.line + 1}" if stopped else path.name
        context = f" {error.context}" if error.context else ""
        since = f" from line {begun.line + 1} on" if begun else ""
        raise ValueError(f"{where}: {error.problem}{context}{since}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no YAML: {error}") from None


# libyaml's, where PyYAML was built with it
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):  # type: ignore[misc]  # PyYAML has no types
    """YAML's safe loader, which refuses a key that is written twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping; YAML itself would silently keep the last of two entries."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number] and key != "<<":
                mark = node.value[number][0].start_mark
                raise yaml.constructor.ConstructorError(
                    problem=f"the key '{key}' is written twice", problem_mark=mark
                )
        found: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return found


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
def alone(folder: Path, refusal: str = "") -> Iterator[None]:
    """Let one process at a time work in ``folder``; the system lets go when it ends or dies.

    Another one waits; where there is a ``refusal`` it raises a ``RuntimeError`` that says so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB if refusal else fcntl.LOCK_EX)
        except BlockingIOError as taken:
            raise RuntimeError(refusal) from taken
        yield
    finally:
        os.close(held)


def write_zip(file: io.BytesIO, held: Mapping[str, bytes]) -> None:
    """Begin a ZIP archive with files by their places, or add them: the same bytes every time."""
    with zipfile.ZipFile(file, "a") as written:
        for name in sorted(held):
            entry = zipfile.ZipInfo(name, ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            written.writestr(entry, held[name])


def files_under(folder: Path, *, deep: bool = True) -> list[Path]:
    """All files below ``folder`` but what nobody keeps: caches, backups, files half written.

    Where it is not ``deep``, only those in the folder itself.
    """
    found = folder.rglob("*") if deep else folder.glob("*")
    return [path for path in found if path.is_file() and not passing(path.relative_to(folder))]


def passing(path: Path) -> bool:
    """Whether a path is Python's cache, or what an editor or an interrupted writer left behind.

    >>> [passing(Path(name)) for name in ("a.py", "a.py~", ".#a.py", ".ipynb_checkpoints/a.py")]
    [False, True, True, True]
    """
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    return hidden or path.name.startswith("#") or path.name.endswith(BACKUPS)
