"""A page that is being filled, and the memory of which pages there are to fill."""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from docutils.nodes import Element, Node, paragraph
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from claimbook.pages import CHAPTERS
from claimbook.site.content import Content
from claimbook.site.results import row_anchor


@dataclass(frozen=True)
class Page:
    """A page that is being written, with all that its places are filled from."""

    content: Content
    builder: Builder
    name: str  # Sphinx's docname

    def to_page(self, name: str) -> str:
        """The address of another page, from this one."""
        return self.builder.get_relative_uri(self.name, name)

    def to_chapter(self, chapter: str, claim: str = "") -> str:
        """The address of a chapter, or of the card of one of its rows."""
        if not claim:
            return self.to_page(f"{CHAPTERS.as_posix()}/{chapter}")
        cards = self.content.results.cards(chapter)
        return f"{self.to_page(f'{CHAPTERS.as_posix()}/{cards}')}#{row_anchor(claim)}"

    def to_file(self, place: str) -> str:
        """The address of a file of the site."""
        return posixpath.relpath(place, posixpath.dirname(self.name) or ".")


QUOTED = re.compile(r'(?P<code>`[^`]*`)|"(?P<words>[^"]*)"')

TAKEN_HOME = "iclbook_taken_home"  # of a page that is resolved for its notebook
GATHERS = "iclbook_gathers"  # of a page that lists what other pages hold
Fill = Callable[[Page, Element], Sequence[Node | str]]  # what stands in the place of a from_run


def note(env: BuildEnvironment, what: str, value: Any) -> None:
    """Keep something about the page that is being read, for this build and the next ones.

    It stands in Sphinx's own data of a page, which are dropped and merged with the page.
    """
    env.metadata[env.docname][what] = value


def noted(env: BuildEnvironment, what: str) -> dict[str, Any]:
    """What was kept, by page."""
    return {name: kept[what] for name, kept in env.metadata.items() if what in kept}


def write_gathering_anew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages that list what others hold: any page may have something new for them."""
    return sorted(noted(env, GATHERS))


class WordsDirective(SphinxDirective):
    """A directive that shows words which do not stand on its page."""

    def markdown(self, text: str) -> list[Node]:
        """Markdown of one paragraph as inline nodes; what it quotes is quoted as in the text."""
        parsed: list[Node] = self.parse_text_to_nodes(curly(text))
        if len(parsed) == 1 and isinstance(parsed[0], paragraph):
            return list(parsed[0].children)
        return parsed


def curly(text: str) -> str:
    """A line of Markdown with the quotation marks of a book; those of code are code's.

    >>> curly('slide "Results", `read("a")`')
    'slide “Results”, `read("a")`'
    """
    return QUOTED.sub(lambda found: found["code"] or f"“{found['words']}”", text)
