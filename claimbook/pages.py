"""The pages of the book: which there are, in which order, and their sources as notebooks."""

import re
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from claimbook.files import ROOT

CHAPTERS = Path("book/chapters")
LISTED = re.compile(r"^[ -]*(?:root|file): (\S+)$", re.MULTILINE)  # in the table of contents
SPECIALIST = "_specialist"  # how the name of a chapter's second page ends


def toc_pages(root: Path = ROOT) -> list[str]:
    """List the pages of ``_toc.yml`` in the book's order, the front page first."""
    contents = (root / "_toc.yml").read_text(encoding="utf8")
    return [name.removesuffix(".md") for name in LISTED.findall(contents)]


def toc_chapters(root: Path = ROOT) -> list[str]:
    """List the names of the chapters among the pages."""
    prefix = CHAPTERS.as_posix() + "/"
    return [name.removeprefix(prefix) for name in toc_pages(root) if name.startswith(prefix)]


def is_second(name: str) -> bool:
    """Tell whether a page is a chapter's second one, "For the specialist"."""
    return name.endswith(SPECIALIST)


def first_page(name: str) -> str:
    """Name the first page of the chapter that a page belongs to."""
    return name.removesuffix(SPECIALIST)


def chapter_path(name: str, root: Path = ROOT) -> Path:
    """Locate the source of a page."""
    return root / CHAPTERS / f"{name}.md"


def read_chapter(path: Path) -> Any:
    """Read a page as a notebook without outputs, by the reader of the build."""
    return parse_chapter(path.read_text(encoding="utf8"), str(path))


def parse_chapter(text: str, path: str) -> Any:
    """Parse the text of a page into a notebook; ``path`` names it in errors."""
    return deepcopy(_parsed(text, path))


@lru_cache(maxsize=64)  # a build and a session of tests read each page several times
def _parsed(text: str, path: str) -> Any:
    """Parse a text into a notebook that must not be changed."""
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(text, path=path, add_source_map=True)


def code_cells(notebook: Any) -> list[Any]:
    """List the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code_of(notebook: Any) -> list[str]:
    """List the sources of a notebook's code cells."""
    return [cell.source for cell in code_cells(notebook)]
