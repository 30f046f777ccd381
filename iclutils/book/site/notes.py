"""What pages note of themselves while they are read, kept by Sphinx from one build to the next."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

Note = TypeVar("Note")


class PageNotes(Generic[Note]):
    """One kind of note, at most one a page; Sphinx's environment keeps it as ``iclbook_NAME``."""

    def __init__(self, name: str) -> None:
        self.name = f"iclbook_{name}"

    def of(self, env: BuildEnvironment) -> dict[str, Note]:
        """The notes by page."""
        found: dict[str, Note] = vars(env).setdefault(self.name, {})
        return found

    def put(self, env: BuildEnvironment, note: Note) -> None:
        """Keep a note of the page that is being read."""
        self.of(env)[env.docname] = note

    def purge(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page that is gone, or is about to be read again."""
        self.of(env).pop(docname, None)

    def merge(
        self, app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: Any
    ) -> None:
        """Take over what a parallel reader has noted of its pages."""
        noted = self.of(other)
        self.of(env).update({name: noted[name] for name in docnames if name in noted})

    def connect(self, app: Sphinx) -> None:
        """Hang the notes on Sphinx's events."""
        app.connect("env-purge-doc", self.purge)
        app.connect("env-merge-info", self.merge)
