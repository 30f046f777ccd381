"""The notebook cache that the checker fills and the book build reads, and the chapters it holds.

jupyter-cache looks only at a chapter's code. With each run the page's key is kept
(:mod:`claimbook.runs.key`), a digest of everything else that the page reads: a run with
another key than the page has now is stale, and no build shows it.

    python -m claimbook.runs.cache stale    the chapters that have no run under their key
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from claimbook.files import ROOT, lock, read_yaml, write_atomically
from claimbook.runs import key as keys
from claimbook.runs.origin import Origin
from claimbook.runs.processor import THREADS

CHAPTERS = Path("book/chapters")
SPECIALIST = "_specialist"  # how the name of a chapter's second page ends
UNKNOWN_SECONDS = 1e6  # of a chapter that never ran: it counts as long, and starts first


def prepare_environment(root: Path = ROOT) -> None:
    """Give the kernels one thread each and this checkout's package, whatever else is installed."""
    for name in THREADS:
        os.environ[name] = "1"
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in given if path not in ("", str(root))]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root), *others])


def cache_path(root: Path = ROOT) -> Path:
    """The folder of executed chapters, one run a page."""
    return root / "_build" / "cache" / "runs"


def toc_pages(root: Path = ROOT) -> list[str]:
    """The pages that ``_toc.yml`` lists, in the book's order, the front page first."""
    return list(_named(read_yaml(root / "_toc.yml")))


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
    return deepcopy(_parsed(path.read_text(encoding="utf8"), str(path)))


@lru_cache(maxsize=128)  # a build asks six times for each chapter
def _parsed(text: str, path: str) -> Any:
    """The notebook that a text is; not to be changed."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(text, path=path)


def page_key(path: Path, root: Path = ROOT) -> str:
    """The key that the chapter at ``path`` has now."""
    return keys.page_key(path.stem, code_of(read_chapter(path)), root)


def code_of(notebook: Any) -> list[str]:
    """The sources of a notebook's code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


class CachedRun(NamedTuple):
    """An executed notebook, its processor time in seconds, and where it comes from.

    The origin is empty and the time None where nobody said; the key is that of the page when it
    ran, and empty for a run of the build itself.
    """

    notebook: Any
    seconds: float | None
    origin: Origin
    key: str = ""


def cached_run(path: Path, folder: Path) -> CachedRun | None:
    """The run of the chapter at ``path``, under any key, or None where there is no whole one."""
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
    return CachedRun(
        notebook, data.get("execution_seconds"), data.get("origin", {}), data.get("key", "")
    )


def current_run(path: Path, root: Path = ROOT) -> CachedRun | None:
    """The run of the chapter at ``path`` under the key that it has now, or None without one."""
    run = cached_run(path, cache_path(root))
    return run if run is not None and run.key == page_key(path, root) else None


def store_run(
    notebook: Any,
    path: Path,
    folder: Path,
    seconds: float,
    key: str,
    origin: Origin | None = None,
) -> None:
    """Put an executed chapter into the cache, in the place of the page's earlier runs."""
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn

    data = {"execution_seconds": seconds, "origin": origin or {}, "key": key}
    bundle = CacheBundleIn(notebook, str(path), data=data)
    with lock(folder):  # a number that is free is given again: of two, each would drop the other's
        cache = get_cache(folder)
        new = cache.cache_notebook_bundle(bundle, overwrite=True)
        for record in cache.list_cache_records():
            if record.uri == str(path) and record.pk != new.pk:
                _drop(cache, record)
    write_atomically(seconds_file(path.stem, folder.parent), f"{seconds:.1f}\n")


def drop_stale(root: Path = ROOT) -> None:
    """Take the runs out of the cache whose page has another key now: a build looks at code only."""
    if not cache_path(root).exists():
        return
    from jupyter_cache import get_cache

    with lock(cache_path(root)):
        cache = get_cache(cache_path(root))
        for record in cache.list_cache_records():
            path = chapter_path(Path(record.uri).stem, root)
            if not path.exists() or (record.data or {}).get("key") != page_key(path, root):
                _drop(cache, record)


def _drop(cache: Any, record: Any) -> None:
    """Remove a run, whole or not."""
    from jupyter_cache.cache.db import NbCacheRecord

    with suppress(KeyError):  # its file is missing
        cache.remove_cache(record.pk)
        return
    NbCacheRecord.remove_records([record.pk], cache.db)


def seconds_file(name: str, caches: Path) -> Path:
    """Where a chapter's last runtime is noted, whatever the key."""
    return caches / "seconds" / name


def known_seconds(name: str, root: Path = ROOT) -> float | None:
    """The processor seconds of a chapter's last run, under any key; None where there was none."""
    try:
        return float(seconds_file(name, root / "_build" / "cache").read_text())
    except (OSError, ValueError):
        return None


def by_length(name: str, root: Path = ROOT) -> tuple[bool, float]:
    """A key to sort chapters by: first pages come before second ones, longer before shorter."""
    return is_second(name), -(known_seconds(name, root) or UNKNOWN_SECONDS)


def stale(root: Path = ROOT) -> list[str]:
    """The chapters of the book that have no whole run under their present key, longest first."""
    missing = [
        name for name in toc_chapters(root) if current_run(chapter_path(name, root), root) is None
    ]
    return sorted(missing, key=lambda name: by_length(name, root))


if __name__ == "__main__":
    if sys.argv[1:] != ["stale"]:
        sys.exit(__doc__)
    print(*(chapter_path(name).relative_to(ROOT) for name in stale()))
