"""The executed pages: a file each, with the key and the provenance of the run.

    python -m claimbook.runs.notebooks      list the pages that have no run under their present key

A run belongs to its key (:mod:`claimbook.runs.page_key`): under another one it is stale, and no
build shows it.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from claimbook.files import ROOT, write_atomically
from claimbook.pages import chapter_path, code_cells, parse_chapter, toc_chapters
from claimbook.runs.page_key import page_key


class Run(NamedTuple):
    """An executed page, the key that it had, and where the run comes from.

    The provenance is that of :func:`claimbook.runs.provenance.here` with ``seconds``, the
    processor time.
    """

    notebook: Any
    key: str
    provenance: Mapping[str, Any]

    @property
    def seconds(self) -> float | None:
        """The processor time of the run; None where nobody noted it."""
        return self.provenance.get("seconds")


def run_path(path: Path, root: Path = ROOT) -> Path:
    """Locate the file that keeps the run of the page at ``path``."""
    return root / "_build" / "runs" / f"{path.stem}.ipynb"


def store(
    notebook: Any, path: Path, key: str, provenance: Mapping[str, Any], root: Path = ROOT
) -> None:
    """Keep an executed page in the place of its earlier run."""
    about = {"key": key, "provenance": dict(provenance)}
    whole = {**notebook, "metadata": {**notebook.metadata, "claimbook": about}}
    write_atomically(run_path(path, root), json.dumps(whole, ensure_ascii=False))


def latest(path: Path, root: Path = ROOT) -> Run | None:
    """Read the last run of the page at ``path``, under any key; None where there is none.

    A damaged file is said and removed, so that its page runs again.
    """
    file = run_path(path, root)
    if not file.exists():
        return None
    try:
        notebook: Any = nbformat.from_dict(json.loads(file.read_text(encoding="utf8")))  # type: ignore[no-untyped-call]
        about = notebook.metadata["claimbook"]
        return Run(notebook, about["key"], about["provenance"])
    except (ValueError, KeyError, TypeError, AttributeError):
        print(f"{file} is damaged: removed; its page runs again.", file=sys.stderr)
        file.unlink(missing_ok=True)
        return None


def current(path: Path, root: Path = ROOT) -> Run | None:
    """Read the run of the page at ``path`` under its present key, or None without one.

    Its words and tags are those of the page as it is, its outputs those of the run.
    """
    run = latest(path, root)
    if run is None or run.key != page_key(path, root):
        return None
    return run._replace(notebook=_with_outputs(path.read_text(encoding="utf8"), path, run))


def read_executed(text: str, path: str, root: str = str(ROOT)) -> Any:
    """Parse the text of a page, with the outputs of its current run: a reader for MyST-NB."""
    run = current(Path(path), Path(root))
    return parse_chapter(text, path) if run is None else _with_outputs(text, Path(path), run)


def _with_outputs(text: str, path: Path, run: Run) -> Any:
    """Parse the text of a page and give its code cells the outputs of a run."""
    notebook = parse_chapter(text, str(path))
    cells = zip(code_cells(notebook), code_cells(run.notebook), strict=True)  # one key, one code
    for cell, executed in cells:
        cell["outputs"] = executed.outputs
        cell["execution_count"] = executed.execution_count
    return notebook


def stale(root: Path = ROOT) -> list[str]:
    """List the pages of the book that have no run under their present key."""
    return [one for one in toc_chapters(root) if current(chapter_path(one, root), root) is None]


if __name__ == "__main__":
    print(*(chapter_path(name).relative_to(ROOT) for name in stale()))
