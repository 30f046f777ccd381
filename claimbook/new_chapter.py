"""Write a small chapter to start from: two pages, their rows and lines in ``_toc.yml``.

    python -m claimbook.new_chapter 08_covariance_shift

Its experiment (``book/skeleton``) is green from the start and is replaced piece by piece.
"""

import re
import sys
from pathlib import Path
from textwrap import indent

from claimbook.files import ROOT, write_atomically
from claimbook.pages import CHAPTERS, SPECIALIST, chapter_path, toc_chapters

NAME = re.compile(r"(\d\d[a-z]?)((?:_[a-z0-9]+)+)")
LISTED = re.compile(rf"^( *)- file: {CHAPTERS}/.*\n", re.MULTILINE)


def add(name: str, root: Path = ROOT) -> list[Path]:
    """Write the chapter ``name`` and return the files that were written.

    Raises ``ValueError`` for a name that is no chapter's, and for one that is taken.
    """
    match = NAME.fullmatch(name)
    if match is None or name.endswith(SPECIALIST):
        raise ValueError(f"a chapter's name reads 08_covariance_shift; got {name!r}")
    if name in toc_chapters(root) or chapter_path(name, root).exists():
        raise ValueError(f"there is a chapter {name} already")
    title = match[2].replace("_", " ").strip()
    words = {
        "@NAME@": name,
        "@PREFIX@": f"ch{match[1].lstrip('0')}",
        "@LABEL@": f"ch-{title.replace(' ', '-')}",
        "@TITLE@": title.capitalize(),
        "@title@": title,
    }

    def fill(template: str) -> str:
        text = (root / "book" / "skeleton" / template).read_text(encoding="utf8")
        return re.sub(r"@\w+@", lambda mark: words[mark[0]], text)

    ledger, contents = root / "book" / "claims.yml", root / "_toc.yml"
    toc = contents.read_text(encoding="utf8")
    listed = list(LISTED.finditer(toc))
    end = listed[-1].end()
    lines = f"- file: {CHAPTERS}/{name}\n  sections:\n    - file: {CHAPTERS}/{name}{SPECIALIST}\n"
    texts = {
        chapter_path(name, root): fill("first.md"),
        chapter_path(name + SPECIALIST, root): fill("second.md"),
        ledger: ledger.read_text(encoding="utf8") + fill("rows.yml"),
        contents: toc[:end] + indent(lines, listed[0][1]) + toc[end:],
    }
    for path, text in texts.items():
        write_atomically(path, text)
    return list(texts)


if __name__ == "__main__":
    try:
        print("written:", *add(" ".join(sys.argv[1:])), sep="\n  ")
    except ValueError as error:
        sys.exit(f"make new-chapter NAME=08_covariance_shift: {error}")
