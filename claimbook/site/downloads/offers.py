"""The files that the site offers: notebooks, Markdown, hand-outs, sweeps, the ledger.

They lie under ``book/downloads`` of the site, so that their addresses stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from claimbook.files import ROOT, write_atomically
from claimbook.pages import CHAPTERS, chapter_path
from claimbook.site.content import Content
from claimbook.site.downloads import export, wheel

FOLDER = "book/downloads"
HANDOUT = "_exercises.md"  # what the name of a chapter's hand-out ends in


def recorded() -> list[Path]:
    """Results of runs too long for the book, and the verdicts of other master seeds."""
    return sorted((ROOT / "book" / "recorded").glob("*.json"))


def size_text(size: int) -> str:
    """A size as a reader wants it: kB below a million bytes, MB from there."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"


@dataclass(frozen=True)
class Offers:
    """The files of one build."""

    files: Mapping[str, bytes]  # what is in each, by its place on the site

    def write(self, site: Path) -> None:
        """Put the files into the site, and leave none there that is no longer offered."""
        for place, file in self.files.items():
            write_atomically(site / place, file)
        for path in (site / FOLDER).glob("*"):
            if path.relative_to(site).as_posix() not in self.files:
                path.unlink()


@lru_cache(maxsize=1)  # of one build; not to be asked for before the chapters are read
def offers_of(content: Content) -> Offers:
    """The files to take home."""
    files = [*recorded(), ROOT / "CITATION.cff", ROOT / "requirements.lock"]
    for name in content.chapters:
        written = content.notebook_folder / CHAPTERS / name
        files += [written.with_name(name + ending) for ending in (".ipynb", HANDOUT)]
        files.append(chapter_path(name, ROOT))
    held = {f"{FOLDER}/{path.name}": path.read_bytes() for path in files if path.exists()}
    held[f"{FOLDER}/{wheel.NAME}"] = wheel.wheel()
    for place, text in export.ledger_files(content.entries.values(), content.results).items():
        held[place] = text.encode()
    return Offers(held)
