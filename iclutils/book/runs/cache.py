"""The notebook cache that the checker fills and the book build reads, and the chapters it holds.

jupyter-cache looks only at a chapter's code. Here a whole cache folder belongs to one *execution
key*: a digest of everything else that a chapter reads (the package, the ledger, the recorded
results, the lock, the interpreter).

    python -m iclutils.book.runs.cache key      the key
    python -m iclutils.book.runs.cache stale    the chapters that have no run under this key
"""

import ast
import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from iclutils.book.runs.files import ROOT, write_atomically
from iclutils.book.runs.origin import Origin

if TYPE_CHECKING:
    from iclutils.book.ledger.verdicts import Record

CHAPTERS = Path("book/chapters")
SEEDS_FILE = Path("book/recorded/seeds.json")  # written about the chapters, read by none of them
READ = ("figures", "ledger", "runs")  # of iclutils.book: what chapters import
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SPECIALIST = "_specialist"  # how the name of a chapter's second page ends
UNKNOWN_SECONDS = 1e6
BACKUPS = ("~", ".swp", ".swo", ".bak", ".orig")


def prepare_environment(root: Path = ROOT) -> None:
    """Give the kernels one thread each and this checkout's package, whatever else is installed."""
    for name in THREADS:
        os.environ[name] = "1"
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in given if path not in ("", str(root))]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root), *others])


def key_files(root: Path = ROOT) -> list[Path]:
    """Every file that a chapter's result may depend on, beside the chapter itself."""
    recorded = files_under(root / "book" / "recorded")
    found = [path for path in recorded if path != root / SEEDS_FILE]
    package = root / "iclutils"
    machinery = package / "book"
    read = [machinery / name for name in READ]
    for path in files_under(package):
        if not path.is_relative_to(machinery) or any(path.is_relative_to(p) for p in read):
            found.append(path)
    single = (root / "book" / "claims.yml", root / "requirements.lock")
    found += [path for path in single if path.exists()]
    return sorted(found)


def files_under(folder: Path) -> list[Path]:
    """All files below ``folder`` but what nobody keeps: caches, backups, files half written."""
    found = folder.rglob("*")
    return [path for path in found if path.is_file() and not passing(path.relative_to(folder))]


def passing(path: Path) -> bool:
    """Whether a path is Python's cache, or what an editor or an interrupted writer left behind.

    >>> [passing(Path(name)) for name in ("a.py", "a.py~", ".#a.py", ".ipynb_checkpoints/a.py")]
    [False, True, True, True]
    """
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    return hidden or path.name.startswith("#") or path.name.endswith(BACKUPS)


def execution_key(root: Path = ROOT) -> str:
    """The digest that names the cache folder."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in key_files(root):
        name = path.relative_to(root).as_posix().encode()
        digest.update(name + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_path(root: Path = ROOT) -> Path:
    """Where the build looks for executed chapters."""
    return root / "_build" / "cache" / execution_key(root)


def toc_pages(root: Path = ROOT) -> list[str]:
    """The pages that ``_toc.yml`` lists, in the book's order, the front page first."""
    return list(_named(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8"))))


def _named(node: Any) -> Iterator[str]:
    """The pages that a part of ``_toc.yml`` names, from its top down."""
    if isinstance(node, list):
        for child in node:
            yield from _named(child)
    elif isinstance(node, dict):
        for key in ("root", "file"):
            if key in node:
                yield node[key].removesuffix(".md")
        for child in node.values():
            yield from _named(child)


def toc_chapters(root: Path = ROOT) -> list[str]:
    """The names of the chapters among them."""
    prefix = CHAPTERS.as_posix() + "/"
    return [name.removeprefix(prefix) for name in toc_pages(root) if name.startswith(prefix)]


def is_second(name: str) -> bool:
    """Whether a page is a chapter's second one, "For the specialist"."""
    return name.endswith(SPECIALIST)


def first_page(name: str) -> str:
    """The chapter that a page belongs to, by the name of its first page."""
    return name.removesuffix(SPECIALIST)


def chapter_path(name: str, root: Path = ROOT) -> Path:
    """Where a chapter's source is."""
    return root / CHAPTERS / f"{name}.md"


def read_chapter(path: Path) -> Any:
    """A chapter as a notebook, by the build's own reader, so that the cache's digests agree."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(path.read_text(encoding="utf8"), path=str(path))


class CachedRun(NamedTuple):
    """An executed notebook, its processor time in seconds, and where it comes from.

    The origin is empty and the time None where nobody said.
    """

    notebook: Any
    seconds: float | None
    origin: Origin


def cached_run(path: Path, folder: Path) -> CachedRun | None:
    """The run of the chapter at ``path``, or None where there is no whole one."""
    if not folder.exists():
        return None
    from jupyter_cache import get_cache

    try:
        cache = get_cache(folder)
        record = cache.match_cache_notebook(read_chapter(path))
        notebook = cache.get_cache_bundle(record.pk).nb
    except Exception:  # no record, or one that an interrupted run left without its file
        return None
    data = record.data or {}
    return CachedRun(notebook, data.get("execution_seconds"), data.get("origin", {}))


def store_run(
    notebook: Any, path: Path, folder: Path, seconds: float, origin: Origin | None = None
) -> None:
    """Put an executed chapter into the cache, in the place of an earlier run of the same code."""
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn

    data = {"execution_seconds": seconds, "origin": origin or {}}
    bundle = CacheBundleIn(notebook, str(path), data=data)
    get_cache(folder).cache_notebook_bundle(bundle, overwrite=True)
    write_atomically(seconds_file(path.stem, folder.parent), f"{seconds:.1f}\n")


def seconds_file(name: str, caches: Path) -> Path:
    """Where a chapter's last runtime is noted, whatever the key."""
    return caches / "seconds" / name


def known_seconds(name: str, root: Path = ROOT) -> float | None:
    """The processor seconds of a chapter's last run, under any key; None where there was none."""
    try:
        return float(seconds_file(name, root / "_build" / "cache").read_text())
    except (OSError, ValueError):
        return None


def last_seconds(name: str, root: Path = ROOT) -> float:
    """The same as a number: an unknown chapter counts as long, so that it starts first."""
    known = known_seconds(name, root)
    return UNKNOWN_SECONDS if known is None else known


def glued(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Every value that the cells of an executed notebook glued as text, with its name."""
    for cell in notebook.cells:
        outputs = cell.get("outputs", []) if cell.cell_type == "code" else []
        for output in outputs:
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            text = output.get("data", {}).get("application/papermill.record/text/plain")
            if name and text is not None:
                yield name, _literal(text)


def _literal(text: str) -> Any:
    """The value whose ``repr`` a text is, or the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def records(notebook: Any) -> "dict[str, Record]":
    """The ledger's records that an executed notebook holds, by claim id."""
    from iclutils.book.ledger.verdicts import Record  # brings torch, which `stale` does not need

    found = {}
    for name, value in glued(notebook):
        if name.startswith("claim:"):
            found[name.removeprefix("claim:")] = Record.from_json(value)
    return found


def stale(root: Path = ROOT) -> list[str]:
    """The chapters of the book that have no whole run under the present key, longest first."""
    folder = cache_path(root)
    missing = [
        name
        for name in toc_chapters(root)
        if cached_run(chapter_path(name, root), folder) is None
    ]
    return sorted(missing, key=lambda name: (is_second(name), -last_seconds(name, root)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["key"]:
            print(execution_key())
        case ["stale"]:
            print(*(chapter_path(name).relative_to(ROOT) for name in stale()))
        case _:
            sys.exit(__doc__)
