"""The prints of a site: where they lie, and whether they are of the site that stands."""

from pathlib import Path

from iclutils.book.runs.files import ROOT

BOOK = "in-context-learning-reproduced"  # the name of the whole book's file


def folder(root: Path = ROOT) -> Path:
    """Where the prints lie."""
    return root / "_build" / "pdf"


def note(root: Path = ROOT) -> Path:
    """The file that holds the key of the site that was printed."""
    return folder(root) / "site_key"


def current(site_key: str, root: Path = ROOT) -> bool:
    """Whether there is a whole print of the site with this key."""
    return note(root).exists() and note(root).read_text(encoding="utf8") == site_key
