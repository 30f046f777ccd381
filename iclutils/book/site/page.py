"""A page that is being filled, and the memory of which pages there are to fill."""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from docutils.nodes import Element, Node
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.environment import BuildEnvironment
from sphinx.util.osutil import relative_uri

from iclutils.book.runs.cache import CHAPTERS
from iclutils.book.site.build import Build
from iclutils.book.site.export import row_anchor


@dataclass(frozen=True)
class Page:
    """A page that is being written, with all that its places are filled from."""

    build: Build
    builder: Builder
    name: str  # Sphinx's docname

    def to_page(self, name: str) -> str:
        """The address of another page, from this one."""
        return self.builder.get_relative_uri(self.name, name)

    def to_chapter(self, chapter: str, claim: str = "") -> str:
        """The address of a chapter, or of the card of one of its rows."""
        if not claim:
            return self.to_page(f"{CHAPTERS.as_posix()}/{chapter}")
        cards = self.build.results.cards(chapter)
        return f"{self.to_page(f'{CHAPTERS.as_posix()}/{cards}')}#{row_anchor(claim)}"

    def to_file(self, place: str) -> str:
        """The address of a file of the site that is taken home."""
        return relative_uri(self.builder.get_target_uri(self.name), quote(place))

    def beside(self, place: str) -> str:
        """The address of a file of the site as a plain relative path."""
        return posixpath.relpath(place, posixpath.dirname(self.name) or ".")


Fill = Callable[[Page, Element], Sequence[Node | str]]  # what stands in the place of a from_run


def remember_page(env: BuildEnvironment) -> None:
    """Note that the page which is being read shows results or files of a run."""
    pages = remembered(env)
    pages.add(env.docname)
    env.iclbook_pages = pages  # type: ignore[attr-defined]  # Sphinx keeps it with the pages


def remembered(env: BuildEnvironment) -> set[str]:
    """The pages that show results or files of a run."""
    pages: set[str] = getattr(env, "iclbook_pages", set())
    return pages


def merge_pages(app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: Any) -> None:
    """Join what a parallel reader has noted."""
    env.iclbook_pages = remembered(env) | remembered(other)  # type: ignore[attr-defined]


def purge_page(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is gone, or is about to be read again."""
    remembered(env).discard(docname)
