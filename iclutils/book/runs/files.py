"""Where the book lies, and how its files are written: whole or not at all."""

import os
from pathlib import Path


def find_root(start: Path | None = None) -> Path:
    """The checkout that ``start`` (default: the working directory) lies in.

    A checkout is a folder with ``_toc.yml`` and ``book``. Outside of one the answer is the folder
    that holds the package, so that importing the package never fails; what then reads a file of the
    book says which one is missing.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").exists() and (folder / "book").is_dir():
            return folder
    return Path(__file__).resolve().parents[3]


ROOT = find_root()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``content`` so that a reader sees the old file or the whole new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content.encode("utf8") if isinstance(content, str) else content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
