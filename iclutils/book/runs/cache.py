"""The notebook cache that the checker fills and the book build reads, and the chapters it holds.

jupyter-cache looks only at a chapter's code. Here a whole cache folder belongs to one *execution key*: a digest of
everything else that a chapter reads (the package, the ledger, the recorded results, the lock, the interpreter).

    python book/_ext/bookcache.py key      the key
    python book/_ext/bookcache.py stale    the chapters that have no run under this key
"""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = Path("book/chapters")
SEEDS_FILE = Path("book/recorded/seeds.json")  # written about the chapters, read by none of them
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def prepare_environment(root: Path = ROOT) -> None:
    """Give the kernels one thread each and this checkout's package, whatever else is installed."""
    for name in THREADS:
        os.environ[name] = "1"
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != str(root)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root), *paths])


def key_files(root: Path = ROOT) -> list[Path]:
    """Every file that a chapter's result may depend on, beside the chapter itself."""
    found = [p for p in (root / "iclutils").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    found += [p for p in (root / "book" / "recorded").rglob("*") if p.is_file() and p != root / SEEDS_FILE]
    found += [p for p in (root / "book" / "claims.yml", root / "requirements.lock") if p.exists()]
    return sorted(found)


def execution_key(root: Path = ROOT) -> str:
    """The digest that names the cache folder."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in key_files(root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_path(root: Path = ROOT) -> Path:
    """Where the build looks for executed chapters."""
    return root / "_build" / "cache" / execution_key(root)


def toc_chapters(root: Path = ROOT) -> list[str]:
    """The names of the chapters that ``_toc.yml`` lists, in the book's order."""
    import yaml

    def files(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if "file" in node:
                yield node["file"]
            for value in node.values():
                yield from files(value)
        elif isinstance(node, list):
            for item in node:
                yield from files(item)

    prefix = CHAPTERS.as_posix() + "/"
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8"))
    return [name.removeprefix(prefix).removesuffix(".md") for name in files(toc) if name.startswith(prefix)]


def chapter_path(name: str, root: Path = ROOT) -> Path:
    return root / CHAPTERS / f"{name}.md"


def read_chapter(path: Path) -> Any:
    """A chapter as a notebook, by the reader that the build uses, so that the cache's digests agree."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(path.read_text(encoding="utf8"), path=str(path))


class CachedRun(NamedTuple):
    """An executed notebook, how long it computed, and where it comes from (``bookorigin``; empty where nobody said)."""

    notebook: Any
    seconds: float | None
    origin: dict[str, Any]


def cached_run(path: Path, folder: Path) -> CachedRun | None:
    """The run of the chapter at ``path``, or None where there is no whole one."""
    if not folder.exists():
        return None
    from jupyter_cache import get_cache

    try:
        cache = get_cache(folder)
        record = cache.match_cache_notebook(read_chapter(path))
        notebook = cache.get_cache_bundle(record.pk).nb
    except Exception:  # no record, or one that an interrupted run left without its file: run it again
        return None
    data = record.data or {}
    return CachedRun(notebook, data.get("execution_seconds"), data.get("origin", {}))


def store_run(notebook: Any, path: Path, folder: Path, seconds: float, origin: dict[str, Any] | None = None) -> None:
    """Put an executed chapter into the cache, in the place of an earlier run of the same code."""
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn

    bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds, "origin": origin or {}})
    get_cache(folder).cache_notebook_bundle(bundle, overwrite=True)
    write_atomically(seconds_file(path.stem, folder.parent), f"{seconds:.1f}\n")


def seconds_file(name: str, caches: Path) -> Path:
    return caches / "seconds" / name


def last_seconds(name: str, root: Path = ROOT) -> float:
    """How long a chapter took last time (under any key); unknown ones count as long, so that they start first."""
    try:
        return float(seconds_file(name, root / "_build" / "cache").read_text())
    except (OSError, ValueError):
        return 1e6


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def glued(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Every value that the cells of an executed notebook glued as text."""
    import ast

    for cell in notebook.cells:
        for output in cell.get("outputs", []) if cell.cell_type == "code" else []:
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            text = output.get("data", {}).get("application/papermill.record/text/plain")
            if name and text is not None:
                try:
                    yield name, ast.literal_eval(text)
                except (ValueError, SyntaxError):
                    yield name, text


def records(notebook: Any) -> dict[str, dict[str, Any]]:
    """The ledger's records (``claims.Record`` as a mapping) that an executed notebook holds, by claim id."""
    return {name[len("claim:"):]: json.loads(value) for name, value in glued(notebook) if name.startswith("claim:")}


def stale(root: Path = ROOT) -> list[str]:
    """The chapters of the book that have no whole run under the present key, longest first."""
    folder = cache_path(root)
    missing = [name for name in toc_chapters(root) if cached_run(chapter_path(name, root), folder) is None]
    return sorted(missing, key=lambda name: -last_seconds(name, root))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["key"]:
            print(execution_key())
        case ["stale"]:
            print(*(chapter_path(name).relative_to(ROOT) for name in stale()))
        case _:
            sys.exit(__doc__)
